import Synchronization

/// Ends all retries of a client while too many of its requests fail, so that retries can't multiply the load of a server in trouble.
///
/// Follows gRPC's retry throttling (proposal A6): 10 tokens, one less for a retryable failure that reached a server, 2.5 less for a time-out,
/// and a tenth more for a success; no retry at half of the tokens or less. Refusals that closed a gate cost nothing: the gate bounds
/// how many requests follow them.
public final class RetryBudget: Sendable {
    /// The tokens, in thousandths.
    private let tokens: Mutex<Int>
    private let capacity: Int
    private let refund: Int

    /// Creates a full budget.
    /// - Parameters:
    ///   - capacity: The most tokens that there are.
    ///   - refund: What a success gives back.
    /// - Precondition: `capacity` is positive, `refund` not negative.
    public init(capacity: Int = 10, refund: Double = 0.1) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        precondition(refund >= 0 && refund <= Double(capacity), "refund must be between 0 and the capacity (is \(refund))")
        self.capacity = capacity * 1_000
        self.refund = Int((refund * 1_000).rounded())
        tokens = Mutex(capacity * 1_000)
    }

    /// The tokens that are left.
    public var remaining: Double { Double(tokens.withLock { $0 }) / 1_000 }

    /// Notes a success.
    func noteSuccess() {
        tokens.withLock { $0 = min(capacity, $0 + refund) }
    }

    /// Notes a retryable failure that reached a server.
    /// - Returns: Whether the budget allows a retry.
    func noteFailure(isTimeout: Bool = false) -> Bool {
        tokens.withLock { tokens in
            tokens = max(0, tokens - (isTimeout ? 2_500 : 1_000))
            return tokens > capacity / 2
        }
    }
}
