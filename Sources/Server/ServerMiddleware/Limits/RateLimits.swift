public import CoreMetrics
import ErrorContract
public import Hummingbird
import Logging
import Observability
public import RateLimiting

/// The limits of a server: decides about requests, tells the answer's fields, counts for the metrics, logs refusals.
///
/// Routes and ``RateLimitMiddleware`` claim units of policies by name; where they are counted is the store's business.
public final class RateLimits: Sendable {
    fileprivate let store: any RateLimitStore
    private let identity: ClientIdentity
    fileprivate let metrics: RateLimitMetrics
    private let log: RefusalLog
    private let hint = ProxyHint()

    /// Creates the limits of a store.
    /// - Parameters:
    ///   - store: Where they are counted.
    ///   - identity: How it is told who a request comes from.
    ///   - metrics: Where the counters of `RateLimitMetrics` go; the process's own system if `nil`.
    public init(store: any RateLimitStore, identity: ClientIdentity = ClientIdentity(), metrics: (any MetricsFactory)? = nil) {
        self.store = store
        self.identity = identity
        self.metrics = RateLimitMetrics(factory: metrics ?? MetricsSystem.factory)
        log = RefusalLog(clock: ContinuousClock())
    }

    /// Creates limits that are counted in memory.
    /// - Precondition: There is at least one rule, and no two policies have one name.
    public convenience init(
        _ rules: [RateLimitRule],
        identity: ClientIdentity = ClientIdentity(),
        metrics: (any MetricsFactory)? = nil
    ) {
        self.init(store: JointRateLimiter(rules, clock: ContinuousClock()), identity: identity, metrics: metrics)
    }

    /// Who a request comes from, as a key for claims.
    public func client(of request: Request, in context: some LimitedRequestContext) -> ClientAddress {
        let peer = context.remoteAddress.flatMap(IPAddress.init)
        hint.give(if: identity.trustedProxies.isEmpty && request.headers[.xForwardedFor] != nil, context.logger)
        return identity.client(peer: peer, headers: request.headers)
    }

    /// Decides about a request: under all claims, those of the middleware before and these, or under none.
    ///
    /// Whatever the answer will be, ``RateLimitFieldsMiddleware`` adds to it how the visible policies stand.
    /// - Parameters:
    ///   - claims: What the request asks besides what the middleware claimed for it. Each names a policy of its own.
    ///   - context: The request's context.
    ///   - shares: Admits a client of a network that has used little of a limit that all clients share, and the client.
    ///   - error: Returns the error of a refusal, given the policy that refuses and the wait.
    /// - Returns: The admission, for whoever keeps it together with what the request does.
    /// - Throws: ``ContractError`` with the code `RATE_LIMIT_EXCEEDED` and the longest wait; then no policy counts the request.
    ///   With the code `SERVER_SERVICE_UNAVAILABLE` if the store could not decide.
    @discardableResult
    public func admit(
        _ claims: [RateLimitClaim] = [],
        in context: some LimitedRequestContext,
        sharing shares: (table: FairShares, client: ClientAddress)? = nil,
        refusing error: (RateLimitPolicy, Duration) -> ContractError = { ContractError.limited(by: $0, wait: $1) }
    ) async throws -> RateLimitAdmission {
        var claims = claims + context.limits.takePending(of: self)
        let answer: RateLimitResult
        do {
            if let shares {
                (answer, claims) = try await shares.table.decide(claims, of: shares.client, by: store)
            } else {
                answer = try await store.admit(claims)
            }
        } catch {
            metrics.storeFailed(claims)
            context.logger.error("Limits can't be counted", metadata: .failure(error))
            throw ContractError(.serverServiceUnavailable, retryAfter: .seconds(1))
        }
        context.limits.note(answer.limits)
        metrics.decided(claims, answer)
        if let refusal = answer.shadowRefusal { log.note(refusal, isShadow: true, context.logger) }
        guard let refusal = answer.refusal else {
            return RateLimitAdmission(limits: self, claims: claims, charge: answer.charge, request: context.limits)
        }
        log.note(refusal, isShadow: false, context.logger)
        // What no wait helps may at least wait for a window.
        let wait = refusal.retryAfter ?? refusal.policy.window
        throw error(refusal.policy, wait)
    }

    /// The memory that the limits take; `nil` if the store has no bound of its own.
    public var usage: RateLimitUsage? { store.usage }

    /// Puts another policy, mode or visibility in place under the policy's name, without a fresh burst.
    public func change(to rule: RateLimitRule) async throws {
        try await store.change(to: rule)
    }

    /// How the limits of claims stand; none if the store can't tell.
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
    /// The error of a request that a limit refuses, with the usual text.
    public static func limited(by policy: RateLimitPolicy, wait: Duration) -> ContractError {
        limited(wait: wait)
    }

    /// The error of a request that is refused until the time has passed, with the usual text.
    static func limited(wait: Duration) -> ContractError {
        ContractError(.rateLimitExceeded, message: ContractText.limited(wait: wait), retryAfter: wait)
    }
}

/// An admitted request.
public struct RateLimitAdmission: Sendable {
    fileprivate let limits: RateLimits
    fileprivate let claims: [RateLimitClaim]
    fileprivate let charge: RateLimitCharge?
    fileprivate let request: RequestLimits

    /// Does the work of the request. A store in the database of the limits commits what the work writes and the usage of the request's keys in one
    /// transaction.
    public func committing<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await CommittedUsage.$current.withValue({ limits.store.consumedQuota(of: claims) }, operation: work)
    }

    /// Refunds what the admission charged to some policies, because what they count did not happen. The response's fields report the
    /// limits after the refund.
    ///
    /// Only claims that are `RateLimitClaim.isRefundable` are refunded, each once; a second call does nothing. If the store fails,
    /// the units stay counted.
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
