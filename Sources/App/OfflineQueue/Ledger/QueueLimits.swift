/// The limits of the requests of one account.
///
/// A request that would exceed ``count``, ``bytes`` or ``body`` is refused with an error; the queue never removes an older request for a
/// new one. A request that exceeds ``lifetime``, ``keyLifetime`` or ``failures`` becomes a dead letter when it would be sent next.
public struct QueueLimits: Hashable, Sendable {
    /// The largest number of requests, including dead letters.
    public var count = 10_000
    /// The largest number of bytes of all requests on disk, including dead letters; 64 MiB by default.
    public var bytes = 64 * 1024 * 1024
    /// The largest number of bytes of one body; 1 MiB by default.
    public var body = 1024 * 1024
    /// The time after its creation within which a request is sent; 7 days by default. Then it becomes a dead letter with the reason
    /// ``DeadLetter/Reason/expired``. A request that the server may have performed does not expire; ``keyLifetime`` applies to it instead.
    ///
    /// The `lifetime` of a `QueueingPolicy` replaces this one.
    public var lifetime: Duration = .seconds(7 * 24 * 3_600)
    /// The time within which a request whose outcome is unknown is sent again, measured from the first attempt with an unknown outcome; 23
    /// hours by default. It must be shorter than the time for which the server stores idempotency keys, which is 24 hours by default: a
    /// server that no longer knows the key would perform the request again.
    public var keyLifetime: Duration = .seconds(23 * 3_600)
    /// The number of failures of the server after which a request becomes a dead letter, so that one request can't block its lane forever.
    /// A failure is a response of the server, and not a page of a proxy, with a status from 500 on, except 503 and 511, or with 403 and no
    /// code of the API.
    public var failures = 50

    /// Creates the default limits.
    public init() {}
}
