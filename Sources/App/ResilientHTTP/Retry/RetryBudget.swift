import Synchronization

/// Ends all retries of a client while too many of its requests fail, so that retries can't multiply the load of a server in trouble.
///
/// Follows gRPC's retry throttling (proposal A6): 10 tokens, one less for a retryable failure that reached a server, 2.5 less for a time-out,
/// and a tenth more for a success; no retry at half of the tokens or less. Refusals that closed a gate cost nothing: the gate bounds
/// how many requests follow them.
public final class RetryBudget: Sendable {
    /// The tokens, in thousandths.
    private let tokens: Atomic<Int>
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
        tokens = Atomic(capacity * 1_000)
    }

    /// The tokens that are left.
    public var remaining: Double { Double(tokens.load(ordering: .relaxed)) / 1_000 }

    /// Notes a success.
    func noteSuccess() {
        // Most of the time the budget is full, and then nothing is written.
        guard tokens.load(ordering: .relaxed) < capacity else { return }
        update { min(capacity, $0 + refund) }
    }

    /// Notes a retryable failure that reached a server.
    /// - Returns: Whether the budget allows a retry.
    func noteFailure(isTimeout: Bool = false) -> Bool {
        update { max(0, $0 - (isTimeout ? 2_500 : 1_000)) } > capacity / 2
    }

    /// - Returns: The new number of tokens.
    @discardableResult
    private func update(_ change: (Int) -> Int) -> Int {
        var known = tokens.load(ordering: .relaxed)
        while true {
            let new = change(known)
            let (isExchanged, found) = tokens.compareExchange(expected: known, desired: new, ordering: .relaxed)
            if isExchanged { return new }
            known = found
        }
    }
}
