/// What a limiter says about one request.
public enum RateLimitDecision: Hashable, Sendable {
    /// The request may go on.
    /// - remaining: How many more would be admitted at this instant.
    case admitted(remaining: Int)
    /// The request may not go on.
    /// - retryAfter: The exact time until one would be admitted: a nanosecond earlier is refused, that instant is not.
    case refused(retryAfter: Duration)

    /// Whether the request may go on.
    public var isAdmitted: Bool {
        if case .admitted = self { true } else { false }
    }
}
