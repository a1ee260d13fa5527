/// The decision of a limiter about one request.
public enum RateLimitDecision: Hashable, Sendable {
    /// The request is admitted.
    /// - remaining: The number of further units that would be admitted now.
    case admitted(remaining: Int)
    /// The request is refused.
    /// - retryAfter: The exact time until the request would be admitted. A nanosecond earlier, the request would still be refused.
    case refused(retryAfter: Duration)
    /// The cost of the request exceeds the burst of the policy, so the request is never admitted. This can happen only if the caller passes
    /// its own cost, because the policy's default cost never exceeds the burst.
    case impossible

    /// Whether the request is admitted.
    public var isAdmitted: Bool {
        if case .admitted = self { true } else { false }
    }
}
