public import CoreMetrics
import ErrorContract
public import Hummingbird
import Logging
import Observability
public import RateLimiting

/// The rate limits of a server. Decides about requests, provides the response fields, counts metrics and logs refusals.
///
/// ```swift
/// let limits = RateLimits([RateLimitRule(.requests(20, per: .seconds(60), name: "search-ip"))])
/// ```
///
/// Routes and ``RateLimitMiddleware`` claim units of policies by name. The store counts them: in memory, or with `SQLiteRateLimitStore` and
/// `ValkeyRateLimitStore` also over restarts and several servers. Create one value per server: it can be used by several tasks at the same
/// time.
///
/// The counters are `rate_limit_decisions`, `rate_limit_near`, `rate_limit_refunds` and `rate_limit_store_errors`, by policy. At most one
/// refusal per policy and second is logged.
public final class RateLimits: Sendable {
    fileprivate let store: any RateLimitStore
    private let identity: ClientIdentity
    fileprivate let metrics: RateLimitMetrics
    private let log: RefusalLog
    private let hint = ProxyHint()

    /// Creates the limits of a store.
    /// - Parameters:
    ///   - store: The store that counts the requests.
    ///   - identity: The rule that finds the client of a request.
    ///   - metrics: The factory of the counters of `RateLimitMetrics`; the process's default if `nil`.
    public init(store: any RateLimitStore, identity: ClientIdentity = ClientIdentity(), metrics: (any MetricsFactory)? = nil) {
        self.store = store
        self.identity = identity
        self.metrics = RateLimitMetrics(factory: metrics ?? MetricsSystem.factory)
        log = RefusalLog(clock: ContinuousClock())
    }

    /// Creates limits that are counted in memory.
    /// - Precondition: There is at least one rule, and the names of the policies are unique.
    public convenience init(
        _ rules: [RateLimitRule],
        identity: ClientIdentity = ClientIdentity(),
        metrics: (any MetricsFactory)? = nil
    ) {
        self.init(store: JointRateLimiter(rules, clock: ContinuousClock()), identity: identity, metrics: metrics)
    }

    /// Returns the client of a request, as a key for claims. Logs a hint once if a proxy seems to be missing in the trusted ones.
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context, which has the address of the connection's peer.
    /// - Complexity: O(number of trusted proxies) for a peer that isn't trusted.
    public func client(of request: Request, in context: some LimitedRequestContext) -> ClientAddress {
        let peer = context.remoteAddress.flatMap(IPAddress.init)
        hint.give(if: identity.trustedProxies.isEmpty && request.headers[.xForwardedFor] != nil, context.logger)
        return identity.client(peer: peer, headers: request.headers)
    }

    /// Decides about a request: the claims of the middleware and the given ones count together, or none of them does.
    ///
    /// ``RateLimitFieldsMiddleware`` adds the state of the visible policies to the response in both cases.
    /// - Parameters:
    ///   - claims: The claims in addition to those of the middleware. Each names a different policy.
    ///   - context: The request's context.
    ///   - shares: The fair shares of a limit that all clients share, and the client of the request; `nil` applies no fair shares.
    ///   - error: Returns the error of a refusal, given the policy that refuses and the delay.
    /// - Returns: The admission. Use it to refund the charge, or to commit it together with the work of the request.
    /// - Throws: The error that `error` returns; by default ``ContractError`` with the code `RATE_LIMIT_EXCEEDED` and the longest delay.
    ///   Then no policy counts the request. If the store could not decide, ``ContractError`` with the code `SERVER_SERVICE_UNAVAILABLE`.
    @discardableResult
    public func admit(
        _ claims: [RateLimitClaim] = [],
        in context: some LimitedRequestContext,
        sharing shares: (table: FairShares, client: ClientAddress)? = nil,
        refusing error: (RateLimitPolicy, Duration) -> ContractError = { ContractError.limited(by: $0, wait: $1) }
    ) async throws -> RateLimitAdmission {
        var claims = claims + context.limits.takePending(of: self)
        let result: RateLimitResult
        do {
            if let shares {
                (result, claims) = try await shares.table.decide(claims, of: shares.client, by: store)
            } else {
                result = try await store.admit(claims)
            }
        } catch {
            metrics.storeFailed(claims)
            context.logger.error("Rate limit store failed", metadata: .failure(error))
            throw ContractError(.serverServiceUnavailable, retryAfter: .seconds(1))
        }
        context.limits.note(result.limits)
        metrics.decided(claims, result)
        if let refusal = result.shadowRefusal { log.note(refusal, isShadow: true, context.logger) }
        guard let refusal = result.refusal else {
            return RateLimitAdmission(limits: self, claims: claims, charge: result.charge, request: context.limits)
        }
        log.note(refusal, isShadow: false, context.logger)
        // If the cost exceeds the quota, no delay helps: the response names the full window.
        let wait = refusal.retryAfter ?? refusal.policy.window
        throw error(refusal.policy, wait)
    }

    /// The memory that the limits use; `nil` if the store has no limit for it.
    public var usage: RateLimitUsage? { store.usage }

    /// Replaces the policy, mode or visibility of the policy with the same name. Usage is kept, so clients don't get a new burst.
    /// - Parameter rule: The new rule. A rule with that name must exist.
    /// - Throws: The error of the store.
    public func change(to rule: RateLimitRule) async throws {
        try await store.change(to: rule)
    }

    /// Returns the state of the limits of claims; empty if the store fails.
    func peek(at claims: [RateLimitClaim]) async -> [RateLimitResult.Limit] {
        do {
            return try await store.check(claims).limits
        } catch {
            metrics.storeFailed(claims)
            return []
        }
    }
}

extension ContractError {
    /// Returns the error for a request that a limit refuses, with the standard text.
    /// - Parameters:
    ///   - policy: The policy that refuses the request. The standard text doesn't contain it.
    ///   - wait: The delay after which a retry can succeed.
    public static func limited(by policy: RateLimitPolicy, wait: Duration) -> ContractError {
        limited(wait: wait)
    }

    /// The error of a request that is refused until the time has passed, with the usual text.
    static func limited(wait: Duration) -> ContractError {
        ContractError(.rateLimitExceeded, message: ContractText.limited(wait: wait), retryAfter: wait)
    }
}

/// An admitted request.
///
/// Discard it if the request is charged in any case. Use ``committing(_:)`` if a crash must not separate the work from its usage, and
/// ``refund(_:)`` if the counted event did not happen.
public struct RateLimitAdmission: Sendable {
    fileprivate let limits: RateLimits
    fileprivate let claims: [RateLimitClaim]
    fileprivate let charge: RateLimitCharge?
    fileprivate let request: RequestLimits

    /// Runs the work of the request. A store in the same database as the limits commits the changes of the work and the usage of the
    /// request's keys in one transaction. With any other store, it only runs the work.
    /// - Parameter work: The work, which writes through such a store.
    /// - Throws: The errors of the work.
    public func committing<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await CommittedUsage.$current.withValue({ limits.store.consumedQuota(of: claims) }, operation: work)
    }

    /// Refunds the charge of the given policies because the counted event did not happen. The response reports the limits after the refund.
    ///
    /// Only claims that are `RateLimitClaim.isRefundable` are refunded, each once; a second call does nothing. If the store fails, the
    /// units stay counted.
    /// - Parameter policies: The names of the policies. Others stay charged.
    public func refund(_ policies: String...) async {
        guard let charge else { return }
        let refunded = charge.policies.intersection(policies)
        guard !refunded.isEmpty else { return }
        let claims = claims.filter { refunded.contains($0.policy) }
        do {
            try await limits.store.refund(charge, under: refunded)
        } catch {
            return limits.metrics.storeFailed(claims)
        }
        limits.metrics.refunded(claims)
        request.note(await limits.peek(at: claims))
    }
}
