import AccountContract
public import AccountCore
public import Crypto
import ErrorContract
public import RateLimiting
import ServerMiddleware

/// The `reset-email` limit: so many reset requests per address, counted alike for known and unknown ones.
public struct ResetLimit: Sendable {
    private let decide: @Sendable (LimitKey) -> RateLimitDecision
    private let key: SymmetricKey

    /// Creates the limit.
    /// - Parameters:
    ///   - limiter: Counts by address.
    ///   - key: The key under which addresses are hashed.
    public init<C: Clock>(limiter: KeyedRateLimiter<LimitKey, C>, key: SymmetricKey) {
        self.decide = { limiter.admit($0) }
        self.key = key
    }

    /// Counts a request.
    /// - Throws: ``ServerMiddleware/ContractError`` with the code `RATE_LIMIT_EXCEEDED` and the exact wait if there were too many.
    func admit(_ email: EmailAddress) throws {
        if case .refused(let wait) = decide(LimitKey(email.normalized, key: key)) {
            throw ContractError(.rateLimitExceeded, message: ContractText.resetLimited(wait: wait), retryAfter: wait)
        }
    }
}
