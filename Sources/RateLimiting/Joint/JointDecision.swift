/// What several limits say together about one request.
public enum JointDecision: Hashable, Sendable {
    /// Every limit admits the request, and every one counts it.
    /// - remaining: How many more units each would admit at this instant, in the order of the policies.
    case admitted(remaining: [Int])
    /// At least one limit refuses; none counts the request.
    /// - policy: The policy with the longest wait; the first of equals.
    /// - retryAfter: That wait: a nanosecond earlier the request is refused, at that instant every limit admits it.
    case refused(policy: RateLimitPolicy, retryAfter: Duration)
    /// The request costs more than this policy ever admits at once; none counts it.
    case impossible(policy: RateLimitPolicy)

    /// Whether the request may go on.
    public var isAdmitted: Bool {
        if case .admitted = self { true } else { false }
    }
}
