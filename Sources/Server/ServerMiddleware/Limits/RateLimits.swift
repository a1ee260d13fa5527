public import CoreMetrics
import ErrorContract
public import Hummingbird
import Logging
import Observability
public import RateLimiting

/// The rate limits of a server. The limits decide about requests, provide the response fields, count metrics and log refusals.
///
/// ```swift
/// let limits = RateLimits([RateLimitRule(.requests(20, per: .seconds(60), name: "search-ip"))])
/// ```
///
/// Routes and ``RateLimitMiddleware`` identify policies by name. A request uses one or more units of each of its policies, and the store
/// counts these units. The default store is in memory. `SQLiteRateLimitStore` keeps the counts over a restart, and `ValkeyRateLimitStore`
/// also shares the counts between servers. Create one value per server. Several tasks can use the value at the same time.
///
/// The metrics are the counters `rate_limit_decisions`, `rate_limit_near`, `rate_limit_refunds` and `rate_limit_store_errors`, with a label
/// for the policy. For each policy, the limits log at most one refusal per second.
public final class RateLimits: Sendable {
    fileprivate let store: any RateLimitStore
    /// The same store if it decides without a suspension; otherwise `nil`.
    private let localStore: (any LocalRateLimitStore)?
    private let identity: ClientIdentity
    fileprivate let metrics: RateLimitMetrics
    private let log: RefusalLog
    private let hint = ProxyHint()

    /// Creates rate limits that count the used units in a store.
    /// - Parameters:
    ///   - store: The store that counts the requests.
    ///   - identity: The rule that determines the client of a request.
    ///   - metrics: The factory of the counters of `RateLimitMetrics`; `nil` uses the process's default.
    public init(store: any RateLimitStore, identity: ClientIdentity = ClientIdentity(), metrics: (any MetricsFactory)? = nil) {
        self.store = store
        localStore = store as? any LocalRateLimitStore
        self.identity = identity
        self.metrics = RateLimitMetrics(factory: metrics ?? MetricsSystem.factory)
        log = RefusalLog(clock: ContinuousClock())
    }

    /// Creates rate limits that count the used units in memory.
    /// - Precondition: There is at least one rule, and the names of the policies are unique.
    public convenience init(
        _ rules: [RateLimitRule],
        identity: ClientIdentity = ClientIdentity(),
        metrics: (any MetricsFactory)? = nil
    ) {
        self.init(store: JointRateLimiter(rules, clock: ContinuousClock()), identity: identity, metrics: metrics)
    }

    /// Returns the client of a request, as a key for claims. If the request seems to come through a proxy that isn't configured as trusted,
    /// the method logs a hint. It logs the hint only once.
    /// - Parameters:
    ///   - request: The request, whose forwarding fields can contain the address of the client.
    ///   - context: The context, which has the address of the connection's peer.
    /// - Complexity: O(number of trusted proxies) if the peer isn't a trusted proxy.
    public func client(of request: Request, in context: some LimitedRequestContext) -> ClientAddress {
        let peer = context.remoteAddress.flatMap(IPAddress.init)
        if identity.trustedProxies.isEmpty, request.headers.contains(.xForwardedFor) { hint.give(context.logger) }
        return identity.client(peer: peer, headers: request.headers)
    }

    /// Admits or refuses a request. The store decides about the given claims and the claims of ``RateLimitMiddleware`` together: it counts
    /// either all claims or none. A claim consists of a policy, a key and a number of units.
    ///
    /// ``RateLimitFieldsMiddleware`` adds the state of the visible policies to the response, whether the request is admitted or refused.
    /// - Parameters:
    ///   - claims: The claims in addition to the claims of the middleware. Each claim names a different policy.
    ///   - context: The request's context.
    ///   - shares: The fair shares of a limit that all clients share, and the client of the request; `nil` applies no fair shares.
    ///   - error: Returns the error of a refusal. Its arguments are the policy that refuses, and the delay.
    /// - Returns: The admission. With it, you can refund the units, or store the work of the request and its used units in one transaction.
    /// - Throws: The error that `error` returns if a limit refuses the request. No policy then counts the request. By default, this error
    ///   is a ``ContractError`` with the code `RATE_LIMIT_EXCEEDED` and the longest delay. If the store fails, the method throws a
    ///   ``ContractError`` with the code `SERVER_SERVICE_UNAVAILABLE`.
    @discardableResult
    public func admit(
        _ claims: [RateLimitClaim] = [],
        in context: some LimitedRequestContext,
        sharing shares: (table: FairShares, client: ClientAddress)? = nil,
        refusing error: (RateLimitPolicy, Duration) -> ContractError = { ContractError.limited(by: $0, wait: $1) }
    ) async throws -> RateLimitAdmission {
        if shares == nil, let admission = try admitLocally(claims, in: context, refusing: error) { return admission }
        var claims = context.limits.takePending(of: self, after: claims)
        let result: RateLimitResult
        do {
            if let shares {
                (result, claims) = try await shares.table.decide(claims, of: shares.client, by: store)
            } else {
                result = try await store.admit(claims)
            }
        } catch {
            // The task is canceled at the request's deadline, which the client can choose, or if the client is gone. The metrics of
            // the responses count such requests.
            if !(error is CancellationError) {
                metrics.storeFailed(claims)
                context.logger.error("Rate limit store failed", metadata: .failure(error))
            }
            throw ContractError(.serverServiceUnavailable, retryAfter: .seconds(1))
        }
        return try finish(claims, result, in: context, refusing: error)
    }

    /// Whether ``admitLocally(_:in:refusing:)`` decides about requests.
    var isLocal: Bool { localStore != nil }

    /// Admits or refuses a request like ``admit(_:in:sharing:refusing:)``, but without a suspension. If the store counts outside this
    /// process, the method counts nothing and returns `nil`.
    func admitLocally(
        _ claims: [RateLimitClaim],
        in context: some LimitedRequestContext,
        refusing error: (RateLimitPolicy, Duration) -> ContractError = { ContractError.limited(by: $0, wait: $1) }
    ) throws -> RateLimitAdmission? {
        guard let localStore else { return nil }
        let claims = context.limits.takePending(of: self, after: claims)
        return try finish(claims, localStore.admit(claims), in: context, refusing: error)
    }

    /// Records a decision in the request, the metrics and the log.
    /// - Returns: The admission.
    /// - Throws: The error that `error` returns if a limit refuses the request.
    private func finish(
        _ claims: [RateLimitClaim],
        _ result: RateLimitResult,
        in context: some LimitedRequestContext,
        refusing error: (RateLimitPolicy, Duration) -> ContractError
    ) throws -> RateLimitAdmission {
        let limits = context.limits
        limits.note(result.limits)
        metrics.decided(claims, result)
        if let refusal = result.shadowRefusal { log.note(refusal, isShadow: true, context.logger) }
        guard let refusal = result.refusal else {
            return RateLimitAdmission(limits: self, claims: claims, charge: result.charge, request: limits)
        }
        log.note(refusal, isShadow: false, context.logger)
        // If the cost exceeds the quota, a retry never succeeds. The response then contains the full window as its delay.
        let wait = refusal.retryAfter ?? refusal.policy.window
        throw error(refusal.policy, wait)
    }

    /// Returns the claims of a request on policies that count all requests together, or the requests of each client.
    func claims(
        on sources: [CommonRateLimitSource],
        of request: Request,
        in context: some LimitedRequestContext
    ) -> [RateLimitClaim] {
        sources.map { source in
            guard source.isPerClient else { return RateLimitClaim(source.policy, cost: source.cost) }
            let client = client(of: request, in: context)
            return RateLimitClaim(source.policy, key: client, cost: source.cost, networks: client.networks)
        }
    }

    /// The memory that the counts use; `nil` if the store counts outside this process.
    public var usage: RateLimitUsage? { store.usage }

    /// Replaces the policy, mode or visibility of the rule with the same policy name. Earlier requests stay counted, so clients don't get a
    /// new burst.
    /// - Parameter rule: The new rule. A rule with that name must exist.
    /// - Throws: The error of the store.
    public func change(to rule: RateLimitRule) async throws {
        try await store.change(to: rule)
    }

    /// Returns the current state of the limits that the claims name. If the store fails, returns an empty array.
    func peek(at claims: [RateLimitClaim]) async -> [RateLimitResult.Limit] {
        do {
            return try await store.check(claims).limits
        } catch {
            if !(error is CancellationError) { metrics.storeFailed(claims) }
            return []
        }
    }
}

extension ContractError {
    /// Returns the error, with the standard text, for a request that a limit refuses.
    /// - Parameters:
    ///   - policy: The policy that refuses the request. The standard text doesn't contain it.
    ///   - wait: The delay after which a retry can succeed.
    public static func limited(by policy: RateLimitPolicy, wait: Duration) -> ContractError {
        limited(wait: wait)
    }

    /// Returns the error, with the standard text, for a request that is refused until a delay has passed.
    static func limited(wait: Duration) -> ContractError {
        ContractError(.rateLimitExceeded, message: ContractText.limited(wait: wait), retryAfter: wait)
    }
}

/// The result of an admitted request.
///
/// Sometimes, a request uses units for an event that then does not happen, for example for an email that is not sent. In this case, return
/// the units with ``refund(_:)``. To store the work of the request and its used units in one transaction, use ``committing(_:)``. After a
/// crash, the database then contains both the work and the used units, or neither. If you need neither method, discard the value.
public struct RateLimitAdmission: Sendable {
    fileprivate let limits: RateLimits
    fileprivate let claims: [RateLimitClaim]
    fileprivate let charge: RateLimitCharge?
    fileprivate let request: RequestLimits

    /// Runs the work of the request. If the limits are in the same database, one transaction contains the changes of the work and the units
    /// that the request used. With any other store, the method only runs the work.
    /// - Parameter work: The work. The work must write through a store in the database of the limits.
    /// - Throws: The errors of the work.
    public func committing<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await CommittedUsage.$current.withValue({ limits.store.consumedQuota(of: claims) }, operation: work)
    }

    /// Refunds the units of the given policies. Call this method if the request used the units for an event that did not happen, such as
    /// an email that was not sent. The response reports the limits after the refund.
    ///
    /// The method refunds only claims that are `RateLimitClaim.isRefundable`. It refunds each claim only once, so a second call does
    /// nothing. If the store fails, the units stay counted.
    /// - Parameter policies: The names of the policies. The units of other policies stay counted.
    public func refund(_ policies: String...) async {
        guard let charge else { return }
        let refunded = charge.policies.intersection(policies)
        guard !refunded.isEmpty else { return }
        let claims = claims.filter { refunded.contains($0.policy) }
        do {
            try await limits.store.refund(charge, under: refunded)
        } catch {
            if !(error is CancellationError) { limits.metrics.storeFailed(claims) }
            return
        }
        limits.metrics.refunded(claims)
        request.note(await limits.peek(at: claims))
    }
}
