import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Hummingbird
import RateLimiting
import ServerMiddleware
import StrictJSON

extension RateLimits {
    /// Counts a reset request for an address, together with the limits that the operation's route claims.
    /// - Parameter shares: Admits a client of a network that has used little of `reset-global`; `nil` if that limit refuses all clients
    ///   alike.
    func admitReset(
        of email: EmailAddress,
        _ request: Request,
        in context: some LimitedRequestContext,
        sharing shares: FairShares?
    ) async throws -> RateLimitAdmission {
        let client = client(of: request, in: context)
        let claim = RateLimitClaim(AccountLimit.resetEmail, key: email.normalized, networks: client.networks)
        let sharing = shares.map { (table: $0, client: client) }
        return try await admit([claim], in: context, sharing: sharing) { _, wait in
            ContractError(.rateLimitExceeded, message: ContractText.resetLimited(wait: wait), retryAfter: wait)
        }
    }

    /// Reserves an attempt to sign in. Call ``RateLimitAdmission/settle(_:)`` when its outcome is known.
    /// - Parameter device: The device of the request's device token, if the token is valid.
    func admitSignIn(
        with email: EmailAddress,
        device: UUID?,
        _ request: Request,
        in context: some LimitedRequestContext
    ) async throws -> RateLimitAdmission {
        let client = client(of: request, in: context)
        func claim(_ limit: AccountLimit, _ key: any PartitionKey) -> RateLimitClaim {
            RateLimitClaim(limit, key: key, networks: client.networks, isRefundable: true)
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
    /// Refunds the part of an attempt to sign in that is not charged: everything that counts for the account if the password was not
    /// checked, or the failure if the password was right. The limits of the client stay charged.
    func settle(_ check: Authentication.PasswordCheck) async {
        switch check {
        case .notMade: await refund(.loginAccount, .loginFailures, .loginDevice)
        case .right: await refund(.loginFailures, .loginDevice)
        case .wrong: break
        }
    }

    private func refund(_ limits: AccountLimit...) async {
        for limit in limits { await refund(limit.rawValue) }
    }
}

extension RateLimitClaim {
    fileprivate init(_ limit: AccountLimit, key: any PartitionKey, networks: ClientNetworks?, isRefundable: Bool = false) {
        self.init(limit.rawValue, key: key, networks: networks, isRefundable: isRefundable)
    }
}
