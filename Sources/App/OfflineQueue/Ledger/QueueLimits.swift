/// The limits of the requests of one account.
///
/// If a new request would exceed ``count``, ``bytes`` or ``body``, the queue refuses it with an error. The queue never removes an older
/// request for a new one. If a stored request exceeds ``lifetime``, ``keyLifetime`` or ``failures``, the request becomes a dead letter as
/// soon as the queue would send it next.
public struct QueueLimits: Hashable, Sendable {
    /// The maximum number of requests, including dead letters.
    public var count = 10_000
    /// The maximum number of bytes of all requests on disk, including dead letters; 64 MiB by default.
    public var bytes = 64 * 1024 * 1024
    /// The maximum number of bytes of one body; 1 MiB by default.
    public var body = 1024 * 1024
    /// The time within which a request may be sent, measured from its creation; 7 days by default. Afterwards, the request becomes a dead
    /// letter with the reason ``DeadLetter/Reason/expired``. If the server may have performed the request, ``keyLifetime`` applies instead.
    ///
    /// The `lifetime` of a `QueueingPolicy` replaces this value.
    public var lifetime: Duration = .seconds(7 * 24 * 3_600)
    /// The time within which the queue repeats a request with an unknown outcome; 23 hours by default. The time is measured from the first
    /// attempt with an unknown outcome. The value must be shorter than the time for which the server stores idempotency keys (24 hours by
    /// default). A server that no longer has the key would perform the request again.
    public var keyLifetime: Duration = .seconds(23 * 3_600)
    /// The maximum number of server failures for one request. At this number, the request becomes a dead letter. Without this limit, one
    /// request could block its lane forever. A response with a status from 500 on counts as a failure, except 503 and 511. A 403 without a
    /// code of the API also counts. A page of a proxy doesn't count. A redirect counts if it leads to an address of the server itself and
    /// has a status other than 303.
    public var failures = 50

    /// Creates the default limits.
    public init() {}
}
