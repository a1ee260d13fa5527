/// What a limiter says about one request.
public enum RateLimitDecision: Hashable, Sendable {
    /// The request may go on.
    /// - remaining: How many more units would be admitted at this instant.
    case admitted(remaining: Int)
    /// The request may not go on.
    /// - retryAfter: The exact time until one would be admitted: a nanosecond earlier is refused, that instant is not.
    case refused(retryAfter: Duration)
    /// The request costs more than is ever admitted at once: no wait helps. A request at the policy's own cost never gets it.
    case impossible

    /// Whether the request may go on.
    public var isAdmitted: Bool {
        if case .admitted = self { true } else { false }
    }
}
