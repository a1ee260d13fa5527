/// A gate that holds a route until a test opens it.
final class Gate: Sendable {
    private let arrivals = AsyncStream<Void>.makeStream()
    private let opening = AsyncStream<Void>.makeStream()

    /// Called by the route; does not listen to its cancellation.
    func pass() async {
        arrivals.continuation.yield()
        await Task { [opening] in for await _ in opening.stream { break } }.value
    }

    /// Waits for a route to come.
    func waitForArrival() async {
        for await _ in arrivals.stream { break }
    }

    /// Lets whoever waits pass, and all who come.
    func open() { opening.continuation.finish() }
}
