/// Where limits are counted: in this process, or in a server that several processes share.
///
/// One call decides about a request under all the policies that it claims, all or nothing, whatever else is decided at the same
/// time. ``JointRateLimiter`` is the one that counts in memory. A store over a network keeps its own time bound: whoever calls it
/// waits for it, and a request waits with him.
public protocol RateLimitStore: Sendable {
    /// Decides about one request.
    /// - Throws: What kept the store from deciding; then no policy counts the request.
    func admit(_ claims: [RateLimitClaim]) async throws -> RateLimitAnswer
    /// Says what ``admit(_:)`` would say now, and counts nothing.
    func check(_ claims: [RateLimitClaim]) async throws -> RateLimitAnswer
    /// Refunds what an admission of this store charged to refundable claims. Each policy's part is refunded once.
    /// - Parameters:
    ///   - charge: What the request consumed.
    ///   - policies: The names of the policies to refund; all that can be if `nil`.
    func refund(_ charge: RateLimitCharge, under policies: Set<String>?) async throws
    /// Puts another policy, mode or visibility in place under the policy's name, without a fresh burst.
    func change(to rule: RateLimitRule) async throws
    /// What the keys of claims owe at this moment, to be kept in one transaction with what the request does. Waits for nothing.
    /// `nil`, as by default, if the store isn't kept in that place.
    func debts(of claims: [RateLimitClaim]) -> RateLimitDebts?
    /// The memory that the keys take. `nil`, as by default, if the store counts elsewhere.
    var usage: RateLimitUsage? { get }
}

extension RateLimitStore {
    public func debts(of claims: [RateLimitClaim]) -> RateLimitDebts? { nil }
    public var usage: RateLimitUsage? { nil }
}

extension JointRateLimiter: RateLimitStore {}
