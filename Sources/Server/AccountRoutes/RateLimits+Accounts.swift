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
    /// - Parameters:
    ///   - email: The address; uppercase and lowercase letters count as equal.
    ///   - shares: Admits clients of networks that have used little of `reset-global`, even if its quota is used up. With `nil`, this limit
    ///     refuses all clients in the same way.
    /// - Returns: The admission, whose charge the caller commits with the email.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay.
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

    /// Counts a request for an email to an address, together with the limits that the operation's route claims.
    ///
    /// The limits are counted before the address is looked up, so they don't reveal whether the address has an account.
    /// - Parameters:
    ///   - email: The address; uppercase and lowercase letters count as equal.
    ///   - limit: The limit of the address: `registerEmail` or `verifyEmail`. Use ``admitReset(of:_:in:sharing:)`` for reset requests.
    ///   - shares: Admits clients of networks that have used little of `reset-global`, even if its quota is used up. With `nil`, this limit
    ///     refuses all clients in the same way.
    /// - Returns: The admission, whose charge the caller commits with the email.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay.
    func admitMail(
        to email: EmailAddress,
        by limit: AccountLimit,
        _ request: Request,
        in context: some LimitedRequestContext,
        sharing shares: FairShares?
    ) async throws -> RateLimitAdmission {
        let client = client(of: request, in: context)
        let claim = RateLimitClaim(limit, key: email.normalized, networks: client.networks)
        return try await admit([claim], in: context, sharing: shares.map { (table: $0, client: client) })
    }

    /// Counts a change of an account that its user makes without the password, together with the limits that the operation's route claims.
    /// - Parameter account: The account of the access token.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay.
    func admitChange(of account: Account.ID, _ request: Request, in context: some LimitedRequestContext) async throws {
        try await admit([.accountChange], of: account, request, in: context)
    }

    /// Counts a check of the password of an account that a session or a link identifies, together with the limits that the operation's
    /// route claims. The check doesn't count for the limits of sign-ins. Otherwise, a client with a stolen link could prevent the user from
    /// signing in.
    /// - Parameters:
    ///   - account: The account. For a link, look up its account first.
    ///   - limit: A further limit of the account, such as `changeEmail`.
    ///   - recipient: The address to which the request causes an email. The email counts for `verifyEmail`, so that many accounts together
    ///     can't send many emails to one address.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay.
    func admitPassword(
        of account: Account.ID,
        and limit: AccountLimit? = nil,
        emailing recipient: EmailAddress? = nil,
        _ request: Request,
        in context: some LimitedRequestContext
    ) async throws {
        let networks = client(of: request, in: context).networks
        let mail = recipient.map { RateLimitClaim(.verifyEmail, key: $0.normalized, networks: networks) }
        let limits = [AccountLimit.accountPassword] + (limit.map { [$0] } ?? [])
        try await admit(limits, of: account, request, in: context, and: mail.map { [$0] } ?? [])
    }

    /// Counts a request by limits whose key is the id of an account.
    private func admit(
        _ limits: [AccountLimit],
        of account: Account.ID,
        _ request: Request,
        in context: some LimitedRequestContext,
        and others: [RateLimitClaim] = []
    ) async throws {
        let networks = client(of: request, in: context).networks
        let claims = limits.map { RateLimitClaim($0, key: account.description, networks: networks) }
        try await admit(claims + others, in: context)
    }

    /// Reserves an attempt to sign in. Call ``RateLimitAdmission/settle(_:)`` when its outcome is known.
    ///
    /// The attempt counts for two limits: the attempts of the client on the address, and the failures. If the request has a valid device
    /// token, failures count for the device; otherwise, they count for the address. So if an attacker exhausts the failures of an address,
    /// its user can still sign in on known devices.
    /// - Parameters:
    ///   - email: The address.
    ///   - device: The device of the request's device token, if the token is valid.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay. If the limit of failures refuses the attempt, the error
    ///   advises the user to reset the password.
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
    /// Refunds the part of an attempt to sign in that is not charged.
    ///
    /// If the password was not checked, the charges of the address and of failures are refunded. If the password was right, only the
    /// failure is refunded. The limits of the client stay charged in any case. Call this method exactly once for each admission; without
    /// the call, the whole attempt stays charged.
    /// - Parameter check: Whether the password was checked, and the result.
    func settle(_ check: Authentication.PasswordCheck) async {
        switch check {
        case .notMade: await refund(.loginAccount, .loginFailures, .loginDevice)
        case .right: await refund(.loginFailures, .loginDevice)
        case .wrong: break
        }
    }

    /// Refunds the charges of limits.
    private func refund(_ limits: AccountLimit...) async {
        for limit in limits { await refund(limit.rawValue) }
    }
}

extension RateLimitClaim {
    /// Creates a claim of a limit.
    fileprivate init(_ limit: AccountLimit, key: any PartitionKey, networks: ClientNetworks?, isRefundable: Bool = false) {
        self.init(limit.rawValue, key: key, networks: networks, isRefundable: isRefundable)
    }
}
