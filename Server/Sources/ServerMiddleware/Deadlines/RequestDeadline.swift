import ErrorContract
import Hummingbird

/// The time that a route may take. A request that is not answered by then is answered with 504 `SERVER_TIMEOUT`.
///
/// The route's task is cancelled, but not waited for: one that does not listen must not keep the client waiting. What it does later
/// is its own affair; whether it took effect is unknown. A body that is streamed after the route has returned is not bounded.
public struct RequestDeadline: Sendable {
    private let limit: Duration
    private let deadlines: any DeadlineSource

    /// Creates a deadline.
    /// - Parameters:
    ///   - limit: The time from when the route is called until it returns.
    ///   - clock: Measures the time.
    /// - Precondition: `limit` is positive.
    public init<C: Clock>(_ limit: Duration, clock: C = ContinuousClock()) where C.Duration == Duration {
        precondition(limit > .zero, "limit must be positive (is \(limit))")
        self.limit = limit
        self.deadlines = Deadlines(clock: clock)
    }

    /// The time that a request has.
    func limit(of request: Request) -> Duration { limit }

    /// Runs a route for a request.
    /// - Throws: ``ContractError`` with the code `SERVER_TIMEOUT` if the time is over; what the route throws is passed on.
    func run(for request: Request, _ route: @escaping @Sendable () async throws -> Response) async throws -> Response {
        // The connection ends with the answer: the route may hold on to what has come on it.
        let expired = ContractError(.serverTimeout, headers: [.connection: "close"])
        return try await deadlines.run(within: limit(of: request), throwing: expired, route)
    }
}
