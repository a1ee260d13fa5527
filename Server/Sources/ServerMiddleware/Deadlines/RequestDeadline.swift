import ErrorContract
import Hummingbird

/// The time that a route may take. A request that is not answered by then is answered with 504 `SERVER_TIMEOUT`.
///
/// The route's task is cancelled, but not waited for: one that does not listen must not keep the client waiting. What it does later
/// is its own affair; whether it took effect is unknown. A body that is streamed after the route has returned is not bounded.
public struct RequestDeadline: Sendable {
    private let limit: Duration
    private let add: @Sendable (Duration, @escaping @Sendable () -> Void) -> UInt64
    private let remove: @Sendable (UInt64) -> Void

    /// Creates a deadline.
    /// - Parameters:
    ///   - limit: The time from when the route is called until it returns.
    ///   - clock: Measures the time.
    /// - Precondition: `limit` is positive.
    public init<C: Clock>(_ limit: Duration, clock: C = ContinuousClock()) where C.Duration == Duration {
        precondition(limit > .zero, "limit must be positive (is \(limit))")
        let deadlines = Deadlines(clock: clock)
        self.limit = limit
        add = { deadlines.add(after: $0, $1) }
        remove = { deadlines.remove($0) }
    }

    /// The time that a request has.
    func limit(of request: Request) -> Duration { limit }

    /// Runs a route for a request.
    /// - Throws: ``ContractError`` with the code `SERVER_TIMEOUT` if the time is over; what the route throws is passed on.
    func run(
        for request: Request,
        _ route: @escaping @Sendable () async throws -> Response
    ) async throws -> Response {
        let outcome = FirstOutcome<Response>()
        let task = Task {
            let result = await Result(awaiting: route)
            if outcome.claim() { outcome.tell(result) }
        }
        let id = add(limit(of: request)) {
            // Cancelled before it is told: a route that reads the body must have been stopped when the engine goes on with it.
            guard outcome.claim() else { return }
            task.cancel()
            outcome.tell(.failure(Self.expired))
        }
        defer { remove(id) }
        return try await withTaskCancellationHandler {
            try await outcome.value()
        } onCancel: {
            task.cancel()
        }
    }

    /// The connection ends with the answer: the route may hold on to what has come on it.
    private static var expired: ContractError { ContractError(.serverTimeout, headers: [.connection: "close"]) }
}

extension Result where Failure == any Error {
    fileprivate init(awaiting body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
