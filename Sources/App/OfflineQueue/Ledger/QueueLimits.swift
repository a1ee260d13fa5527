/// How much a queue stores for one account.
public struct QueueLimits: Hashable, Sendable {
    /// The number of requests, dead letters included.
    public var count = 10_000
    /// The bytes of all requests on disk.
    public var bytes = 64 * 1024 * 1024
    /// The bytes of one body.
    public var body = 1024 * 1024
    /// How long after its creation a request is still sent for the first time. Then it becomes a dead letter.
    public var lifetime: Duration = .seconds(7 * 24 * 3_600)
    /// How long after the first attempt a request whose outcome is unknown is sent again. It must be shorter than the time for which the
    /// server stores idempotency keys, which is 24 h by default.
    public var keyLifetime: Duration = .seconds(23 * 3_600)
    /// How many failures of the server (500, 502, 504) make a request a dead letter.
    public var failures = 50

    /// Creates the default limits.
    public init() {}
}
