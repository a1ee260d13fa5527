/// A gate that blocks a route until a test opens it.
final class Gate: Sendable {
    private let arrivals = AsyncStream<Void>.makeStream()
    private let opening = AsyncStream<Void>.makeStream()

    /// Blocks the route. Ignores its cancellation.
    func pass() async {
        arrivals.continuation.yield()
        await Task { [opening] in for await _ in opening.stream { break } }.value
    }

    /// Waits until a route has arrived.
    func waitForArrival() async {
        for await _ in arrivals.stream { break }
    }

    /// Releases all waiting routes, and all later ones.
    func open() { opening.continuation.finish() }
}
