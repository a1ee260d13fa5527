/// A hold that the client itself placed on further calls, as an error reports it.
///
/// A call that was refused locally carries the hold that refused it. A response that made the client hold further calls, such as a 503,
/// carries the hold that it caused.
public struct LocalHold: Hashable, Sendable {
    /// The part of the client that holds calls.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        /// The gate, after a 503 or a 429.
        case gate
        /// The circuit breaker, after failures and time-outs.
        case breaker
        /// The app's own limits.
        case throttle
    }

    /// The part of the client that holds calls.
    public var source: Source
    /// The time until the next call is let through.
    public var wait: Duration
    /// Whether the request that failed was a probe, sent to find out whether the server has recovered.
    public var isProbe: Bool

    /// Creates a hold.
    public init(_ source: Source, wait: Duration, isProbe: Bool = false) {
        self.source = source
        self.wait = wait
        self.isProbe = isProbe
    }
}
