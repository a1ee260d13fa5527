import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Hummingbird
import RateLimiting
import ServerMiddleware
import StrictJSON

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
        return try await admit([claim], in: context, sharing: sharing) { _, wait in
            ContractError(.rateLimitExceeded, message: ContractText.resetLimited(wait: wait), retryAfter: wait)
        }
    }

    /// Reserves an attempt to sign in. ``RateLimitAdmission/settle(_:)`` must follow when its outcome is known.
    /// - Parameter device: The device that the request's device token proves, if it has a valid one.
    func admitSignIn(
        with email: EmailAddress,
        device: UUID?,
        _ request: Request,
        in context: some LimitedRequestContext
    ) async throws -> RateLimitAdmission {
        let client = client(of: request, in: context)
        func claim(_ limit: AccountLimit, _ key: any PartitionKey) -> RateLimitClaim {
            RateLimitClaim(limit.rawValue, key: key, networks: client.networks, isRefundable: true)
        }
        let attempts = claim(.loginAccount, JointKey(email.normalized, client))
        let failures = device.map { claim(.loginDevice, $0.uuidString) } ?? claim(.loginFailures, email.normalized)
        return try await admit([attempts, failures], in: context) { policy, wait in
            guard policy.name == failures.policy else { return ContractError.limited(by: policy, wait: wait) }
            return ContractError(
                .rateLimitExceeded,
                message: ContractText.signInLimited(wait: wait),
                details: ["reset_password": true],
                retryAfter: wait
            )
        }
    }
}

extension RateLimitAdmission {
    /// Refunds what an attempt to sign in is not charged: everything that counts for the account if the password was not checked, the
    /// failure if it was right. The limits of the client stay charged.
    func settle(_ check: SignIn.PasswordCheck) async {
        let (failures, device) = (AccountLimit.loginFailures.rawValue, AccountLimit.loginDevice.rawValue)
        switch check {
        case .notMade: await refund(AccountLimit.loginAccount.rawValue, failures, device)
        case .right: await refund(failures, device)
        case .wrong: break
        }
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
