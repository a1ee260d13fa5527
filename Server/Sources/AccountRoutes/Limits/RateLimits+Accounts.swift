import AccountContract
import ErrorContract
import Hummingbird
import RateLimiting
import ServerMiddleware

extension RateLimits {
    /// Counts a reset request for an address, besides what the group claims for its client and for all.
    /// - Parameter shares: Admits a client of a network that has used little of `reset-global`; `nil` if that limit refuses all alike.
    func admitReset(
        of email: EmailAddress,
        _ request: Request,
        in context: some LimitedRequestContext,
        sharing shares: FairShares?
    ) async throws -> RateLimitAdmission {
        let client = client(of: request, in: context)
        let claim = RateLimitClaim(AccountLimit.resetEmail.rawValue, key: email.normalized, networks: client.networks)
        let sharing = shares.map { (table: $0, client: client) }
        return try await admit([claim], in: context, sharing: sharing) { ContractText.resetLimited(wait: $0) }
    }

    /// Counts an attempt to sign in, whatever its outcome will be.
    func admitSignIn(
        with email: EmailAddress,
        _ request: Request,
        in context: some LimitedRequestContext
    ) async throws {
        let client = client(of: request, in: context)
        let key = JointKey(email.normalized, client)
        let claim = RateLimitClaim(AccountLimit.loginAccount.rawValue, key: key, networks: client.networks)
        try await admit([claim], in: context)
    }
}

extension RouterMethods where Context: LimitedRequestContext {
    /// A group whose requests count when their routes ask.
    func limited(by limits: RateLimits, _ sources: RateLimitSource<Context>...) -> RouterGroup<Context> {
        group().add(middleware: AuditOriginMiddleware(limits: limits))
            .add(middleware: RateLimitMiddleware(limits, sources, decides: .inRoute))
    }

    /// A group whose requests may be repeated with their keys. Keys belong to addresses, as limits without an account do.
    func idempotent(by keys: IdempotencyKeys?, _ limits: RateLimits, reader: RequestReader) -> RouterGroup<Context> {
        guard let keys else { return group() }
        return idempotent(by: keys, reader: reader) { limits.client(of: $0, in: $1) }
    }
}
