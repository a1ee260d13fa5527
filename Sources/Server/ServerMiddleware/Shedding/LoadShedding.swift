public import CoreMetrics
import ErrorContract
public import Hummingbird
import Observability
import Scheduling
import Synchronization
import Timekeeping

/// Limits how many requests a server processes at the same time. Above the limit, a few requests wait, and the server refuses all others
/// with 503. The server can then process the admitted requests in time.
///
/// ```swift
/// let shedding = LoadShedding(limit: 256)
/// router.group().add(middleware: LoadSheddingMiddleware(shedding)).get("/notes", use: list)
/// ```
///
/// Choose the limit by the resource that the requests share. For example, use the number of requests that the database or the processors
/// handle at full throughput. A larger limit only makes all requests slower.
///
/// The `Retry-After` of a refusal is the time until the server will have capacity for the client, from 1 to 60 s. To compute it, the server
/// gives the client a position in a virtual line, and divides the position by the measured number of served requests per second. A client
/// that returns after its `Retry-After` has precedence over a client that retries earlier.
///
/// Requests of ``RequestPriority/deferrable`` use at most half of the limit, so the server refuses them first.
///
/// The counter `requests_shed` counts refusals, by `reason`. The reason is `full` if too many requests were already waiting, and `late` if
/// a request waited too long.
///
/// Several tasks can use the value at the same time. ``Connections`` limits the number of connections, and ``RateLimits`` limits the
/// requests of a client.
public final class LoadShedding: Sendable {
    /// The reason for a refusal.
    enum Reason: String, CaseIterable { case full, late }

    /// The error for a request that gets no place.
    private struct Refusal: Error {
        var reason: Reason
        var delay: Duration
    }

    /// The outcome of a waiting request.
    private typealias Turn = FirstOutcome<Void>

    private let state: Mutex<InFlightLimit<Turn>>
    /// The longest time that a request waits.
    private let longestWait: Duration
    /// The delay of a response with 503.
    private let refusalDelay: Duration
    private let deadlines: Deadlines
    private let clock: MonotonicClock
    private let chance: @Sendable () -> Double
    private let shed: [Reason: Counter]
    /// The number of responses with 503 that are being delayed.
    private let delayed = Atomic(0)
    /// The largest number of refusals that are delayed at the same time. Further refusals are sent immediately.
    static let mostDelayed = 1_000

    /// Creates the limit.
    /// - Parameters:
    ///   - limit: The largest number of requests that are processed at the same time.
    ///   - waiting: The largest number of requests that may wait for a place.
    ///   - longestWait: The longest time that a request waits.
    ///   - refusalDelay: The delay of a response with 503, which slows down clients that repeat refused requests immediately. A delayed
    ///     response doesn't count toward `limit`. At most 1,000 responses are delayed at the same time.
    ///   - chance: Returns an evenly distributed number from 0 up to 1, which spreads the times at which refused clients return.
    ///   - clock: Measures the waits.
    ///   - metrics: The factory of the counter; `nil` uses the process's default.
    /// - Precondition: `limit` and `longestWait` are positive, `waiting` and `refusalDelay` are not negative.
    public init<C: Clock>(
        limit: Int,
        waiting: Int = 64,
        longestWait: Duration = .milliseconds(500),
        refusalDelay: Duration = .zero,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        clock: C = ContinuousClock(),
        metrics: (any MetricsFactory)? = nil
    ) where C.Duration == Duration {
        precondition(limit > 0, "limit must be positive (is \(limit))")
        precondition(waiting >= 0, "waiting must not be negative (is \(waiting))")
        precondition(longestWait > .zero, "longestWait must be positive (is \(longestWait))")
        precondition(refusalDelay >= .zero, "refusalDelay must not be negative (is \(refusalDelay))")
        state = Mutex(InFlightLimit(limit, waiting: waiting))
        (self.longestWait, self.refusalDelay, self.chance) = (longestWait, refusalDelay, chance)
        deadlines = Deadlines(clock: clock)
        self.clock = MonotonicClock(clock)
        shed = Counter.each("requests_shed", by: "reason", factory: metrics ?? MetricsSystem.factory)
    }

    /// The number of requests that are being processed, and the number of waiting requests.
    public var load: (running: Int, waiting: Int) { state.withLock { ($0.running, $0.waiting) } }

    /// Runs an operation when there is a place for it. A place is one of the `limit` operations that can run at the same time.
    /// - Parameters:
    ///   - priority: The priority of the request.
    ///   - client: The identity of the client for its position in the virtual line. Clients with the same identity share their positions.
    ///   - isServed: Returns whether a result is the requested response and not a refusal.
    ///   - operation: The operation. It has the place until it returns or throws.
    /// - Returns: The result of the operation.
    /// - Throws: ``ContractError`` with the code `SERVER_SERVICE_UNAVAILABLE` if there is no place; `CancellationError` if the task is
    ///   canceled while it waits; errors of the operation are rethrown.
    /// - Complexity: O(1) if there is a place, otherwise O(number of waiting requests).
    func run<Result>(
        _ priority: RequestPriority = .essential,
        from client: @escaping @Sendable () -> String? = { nil },
        isServed: (Result) -> Bool = { _ in true },
        _ operation: () async throws -> Result
    ) async throws -> Result {
        do {
            try await enter(priority, from: client)
        } catch let refusal as Refusal {
            shed[refusal.reason]?.increment()
            try await delayRefusal()
            throw ContractError(.serverServiceUnavailable, retryAfter: refusal.delay)
        }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await operation())
        } catch {
            result = .failure(error)
        }
        let isRefused =
            switch result {
            case .success(let value): !isServed(value)
            case .failure(let error): (error as? ContractError)?.code == .serverServiceUnavailable
            }
        leave(priority, isServed: !isRefused)
        if isRefused { try await delayRefusal() }
        return try result.get()
    }

    /// Takes a place, or waits for one. If the request can't wait, or waits too long, the method throws a refusal.
    private func enter(_ priority: RequestPriority, from client: @escaping @Sendable () -> String?) async throws {
        try Task.checkCancellation()
        let admission = state.withLock { $0.enter(priority, from: client, at: clock.now, chance: chance) { Turn() } }
        switch admission {
        case .start: return
        case .refused(let delay): throw Refusal(reason: .full, delay: delay)
        case .waiting(let id, let turn): try await wait(for: turn, id, priority, client)
        }
    }

    /// Waits for a place. A free place, the deadline and the cancellation compete to claim the outcome. Exactly one of them succeeds, so no
    /// place is lost.
    private func wait(
        for turn: FirstOutcome<Void>,
        _ id: UInt64,
        _ priority: RequestPriority,
        _ client: @escaping @Sendable () -> String?
    ) async throws {
        let deadline = deadlines.add(after: longestWait) { [self] in
            guard turn.claim() else { return }
            let delay = state.withLock { state in
                state.leave(id, of: priority)
                return state.refuse(priority, from: client(), at: clock.now, chance: chance())
            }
            turn.complete(.failure(Refusal(reason: .late, delay: delay)))
        }
        defer { deadlines.remove(deadline) }
        try await withTaskCancellationHandler {
            try await turn.value()
        } onCancel: {
            guard turn.claim() else { return }
            state.withLock { $0.leave(id, of: priority) }
            turn.complete(.failure(CancellationError()))
        }
    }

    /// Gives up the place of a request, and passes it to the first request that still waits.
    private func leave(_ priority: RequestPriority, isServed: Bool) {
        let next = state.withLock { $0.finish(priority, isServed: isServed, at: clock.now) { $0.claim() } }
        next?.complete(.success(()))
    }

    /// Waits for the delay of a response with 503. If too many responses are already delayed, returns immediately.
    private func delayRefusal() async throws {
        guard refusalDelay > .zero else { return }
        let count = delayed.wrappingAdd(1, ordering: .relaxed).newValue
        defer { delayed.wrappingSubtract(1, ordering: .relaxed) }
        if count <= Self.mostDelayed { try await deadlines.pause(for: refusalDelay) }
    }
}

/// Refuses requests when a server is overloaded; see ``LoadShedding``.
///
/// ```swift
/// router.get("/health/live") { _, _ in "live" }  // Not in the group, so never refused.
/// let guarded = router.group().add(middleware: LoadSheddingMiddleware(LoadShedding(limit: 256)))
/// ```
/// Add the middleware to a group, inside the deadline of the routes. The deadline then includes the wait. A route that continues after its
/// deadline still counts as a running request. The middleware reads a body before the request counts toward the limit, so slow clients
/// don't use up the limit while they send bodies.
public struct LoadSheddingMiddleware<Context: RequestContext>: RouterMiddleware {
    private let shedding: LoadShedding
    private let reader: RequestReader
    private let priority: @Sendable (Request, Context) -> RequestPriority
    private let client: @Sendable (Request, Context) -> String?

    /// Creates the middleware.
    /// - Parameters:
    ///   - shedding: The limit. Several groups may share it.
    ///   - reader: The reader of request bodies, which limits their size and time. Use the same reader as the routes.
    ///   - priority: Returns the priority of a request. By default, all requests are essential.
    ///   - client: Returns the identity of the client of a request, for example its network. A client that repeats refused requests
    ///     immediately then delays only itself. By default, all clients have the same identity.
    public init(
        _ shedding: LoadShedding,
        reader: RequestReader = RequestReader(),
        priority: @escaping @Sendable (Request, Context) -> RequestPriority = { _, _ in .essential },
        client: @escaping @Sendable (Request, Context) -> String? = { _, _ in nil }
    ) {
        (self.shedding, self.reader, self.priority, self.client) = (shedding, reader, priority, client)
    }

    /// Reads the body of the request, takes a place and passes the request on.
    /// - Throws: ``ContractError`` with the code `SERVER_SERVICE_UNAVAILABLE` if there is no place; errors of the reader and of the route.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let (priority, client) = (priority(request, context), client)
        return try await reader.gathering(request) { whole in
            try await shedding.run(
                priority,
                from: { client(request, context) },
                isServed: { $0.status != .serviceUnavailable },
                { try await next(whole, context) }
            )
        }
    }
}
