import ErrorContract
public import HTTPTypes
public import Logging
public import RateLimiting
import Synchronization
import Timekeeping

/// Limits the rate of an app's calls. A throttler applies the app's own quotas and the limits that the server reports. It counts calls
/// exactly, per user and endpoint. The counts can survive a restart.
///
/// Add a ``ThrottleMiddleware`` with this throttler to the client. Use the methods of the throttler directly to show the usage in the app,
/// and to limit calls that the app sends without the client. A decision takes O(log n), where n is the number of calls that still count.
///
/// ```swift
/// let throttler = Throttler(policy: policy, store: ThrottleFile(folder: folder))
/// let middleware = ClientPipeline.standard(throttle: ThrottleMiddleware(throttler))
/// ```
public final class Throttler: Sendable {
    /// The limits, the source of randomness, and which users have unsaved changes. A mutex guards this state.
    struct State: Sendable {
        var table: ThrottleTable
        var generator: any RandomNumberGenerator & Sendable
        var saved: [String?: SavedUser] = [:]
    }

    /// A call that the throttler admitted. The caller must pass it to ``finish(_:with:)`` when the call ends.
    struct Call: Sendable {
        var key: ThrottleKey
        var admitted: AdmittedCall
    }

    /// The quotas by endpoint.
    public let policy: ThrottlePolicy
    let state: Mutex<State>
    let clock: MonotonicClock
    let logger: Logger
    let store: (any ThrottleStore)?
    let snapshotTime: @Sendable () -> SnapshotTime
    /// Ensures that only one load runs at a time. `saving` does the same for saves.
    let loading = ConcurrencyLimiter(1, maximumWaiters: .max)
    let saving = ConcurrencyLimiter(1, maximumWaiters: .max)
    private let routes: RouteTable
    private let streams = RefusalStreams()

    /// Creates a throttler.
    /// - Parameters:
    ///   - policy: The quotas by endpoint.
    ///   - routes: Further routes of the app. For a request to one of these routes, the endpoint contains the template of the route.
    ///   - basePath: The path of the client's base URL, such as `/v2`. Templates are relative to this path.
    ///   - capacity: The maximum number of endpoints with separate quotas, for all users together. All further endpoints share one quota.
    ///   - store: The store in which the counts survive a restart; `nil` for none.
    ///   - logger: Logs every decision at debug level. The metadata contains the endpoint, the count and the limit. For a refused call, it
    ///     also contains the reason and the delay.
    ///   - clock: A monotonic clock.
    ///   - randomness: The source of the jitter.
    ///   - snapshotTime: Returns two times: the time on the wall clock, and the time since the device started. Both continue after a
    ///     restart of the process.
    /// - Precondition: `capacity` is positive.
    public init(
        policy: ThrottlePolicy = .appsInTheField,
        routes: [RouteTemplate] = [],
        basePath: String = "",
        capacity: Int = 1_000,
        store: (any ThrottleStore)? = nil,
        logger: Logger = Logger(label: "holdfast.throttler"),
        clock: some Clock<Duration> = ContinuousClock(),
        randomness: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        snapshotTime: @escaping @Sendable () -> SnapshotTime = SnapshotTime.now
    ) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        self.policy = policy
        self.routes = RouteTable(policy.routes + routes, basePath: basePath)
        self.store = store
        self.logger = logger
        self.snapshotTime = snapshotTime
        self.clock = MonotonicClock(clock)
        state = Mutex(State(table: ThrottleTable(policy: policy, capacity: capacity), generator: randomness))
    }

    /// The nanoseconds since the throttler was created.
    var nanoseconds: Int64 { clock.now.wholeNanoseconds }

    /// Returns the endpoint under which the throttler counts a request. If the path matches a route that the policy or the initializer
    /// names, the endpoint contains the template of this route. In any other path, the throttler replaces the segments that are probably
    /// ids with `{id}`.
    /// - Parameter request: A request whose path includes the base path.
    public func endpoint(of request: HTTPRequest) -> Endpoint { routes.endpoint(of: request) }

    /// Admits or refuses a call that the app doesn't send through `APIClient`. The throttler counts an admitted call at once, even if the
    /// app then doesn't make the call. The method never waits for a quota.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the call.
    ///   - user: The user whose quotas the call uses; `nil` for none.
    /// - Returns: Whether the call may be made. If not, the result contains the reason and the delay.
    /// - Throws: `CancellationError` if the task is canceled before the decision.
    public func decide(_ endpoint: Endpoint, user: String? = nil) async throws -> ThrottleDecision {
        switch try await enter(ThrottleKey(user: user, endpoint: endpoint), waitingUpTo: .zero) {
        case .admitted(let call):
            let remaining = status(at: call.key).remaining
            finish(call, with: .abandoned)
            try await save(user)
            return .allowed(remaining: remaining)
        case .refused(let refusal): return .held(refusal.hold)
        case .inLine: return .held(Hold(.line, wait: .zero))
        }
    }

    /// Returns the usage of an endpoint's quotas. The method reads only memory. The result includes the calls of an earlier run of the app
    /// only after ``load(user:)`` or the first call of the user has loaded them from the store.
    /// - Parameters:
    ///   - endpoint: The endpoint. If no call was made to it yet, its quotas are unused.
    ///   - user: The user; `nil` for calls without a user.
    public func status(of endpoint: Endpoint, user: String? = nil) -> ThrottleStatus {
        status(at: ThrottleKey(user: user, endpoint: endpoint))
    }

    /// Returns the usage of all endpoints that a user recently called, sorted by the description of the endpoint. O(endpoints).
    /// - Parameter user: The user; `nil` for calls without a user.
    public func statuses(user: String? = nil) -> [ThrottleStatus] {
        state.withLock { state in
            let now = nanoseconds
            return state.table.keys.filter { $0.user == user }.map { key in
                let slot = state.table.slot(of: key)
                return ThrottleStatus(key.endpoint, slot.limit.status(at: now), waiting: slot.line.count)
            }
        }.sorted { $0.endpoint.description < $1.endpoint.description }
    }

    /// Returns a stream of all future refusals, for all users and endpoints. Each call of this method returns a new stream. If the consumer
    /// of a stream is slow, the stream drops the oldest refusals. The stream ends when the throttler is released.
    ///
    /// - Parameter size: The number of refusals that the stream buffers for a slow consumer; at least 1.
    public func refusals(buffering size: Int = 100) -> AsyncStream<ThrottleRefusal> {
        streams.listen(buffering: max(1, size))
    }

    private func status(at key: ThrottleKey) -> ThrottleStatus {
        state.withLock { state in
            let slot = state.table.slot(of: key)
            return ThrottleStatus(key.endpoint, slot.limit.status(at: nanoseconds), waiting: slot.line.count)
        }
    }

    /// Logs that the throttler admitted a call.
    func announce(_ key: ThrottleKey) {
        guard logger.logLevel <= .debug else { return }
        let status = status(at: key)
        logger.debug(
            "Call allowed",
            metadata: ["endpoint": "\(key.endpoint)", "count": "\(status.count)", "limit": "\(status.limit)"]
        )
    }

    /// Logs that the throttler refused a call, and sends the refusal to the streams.
    func announce(_ refusal: ThrottleRefusal) {
        logger.debug(
            "Call throttled",
            metadata: [
                "endpoint": "\(refusal.endpoint)", "count": "\(refusal.count)", "limit": "\(refusal.limit)",
                "reason": "\(refusal.hold.reason.rawValue)", "wait": "\(refusal.hold.wait)",
            ]
        )
        streams.send(refusal)
    }
}

/// Passes refusals to all streams. If the reader of a stream is slow, the stream drops the oldest refusals.
final class RefusalStreams: Sendable {
    private typealias Listener = AsyncStream<ThrottleRefusal>.Continuation
    private let listeners = Mutex<(next: UInt64, all: [UInt64: Listener])>((0, [:]))

    deinit {
        for listener in listeners.withLock({ $0.all.values }) { listener.finish() }
    }

    var count: Int { listeners.withLock { $0.all.count } }

    /// Creates a stream of all future refusals. When the reader of the stream ends, this object removes the stream.
    func listen(buffering size: Int) -> AsyncStream<ThrottleRefusal> {
        let (stream, listener) = AsyncStream<ThrottleRefusal>.makeStream(bufferingPolicy: .bufferingNewest(size))
        let id = listeners.withLock { listeners in
            listeners.next += 1
            listeners.all[listeners.next] = listener
            return listeners.next
        }
        listener.onTermination = { [weak self] _ in self?.listeners.withLock { $0.all[id] = nil } }
        return stream
    }

    /// Passes a refusal to all streams.
    func send(_ refusal: ThrottleRefusal) {
        for listener in listeners.withLock({ Array($0.all.values) }) { listener.yield(refusal) }
    }
}
