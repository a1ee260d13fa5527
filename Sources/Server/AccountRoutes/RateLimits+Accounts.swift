import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Hummingbird
import RateLimiting
import ServerMiddleware
import StrictJSON

extension RouteEnvironment {
    /// Counts a reset request against the limit of its address. The same call counts the request against the limits of the route whose keys
    /// don't depend on the body, such as the limit per client.
    /// - Parameter email: The address; uppercase and lowercase letters count as equal.
    /// - Returns: The admission. With it, the caller commits the usage of the limits together with the email.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay.
    func admitReset(
        of email: EmailAddress,
        _ request: Request,
        in context: some LimitedRequestContext
    ) async throws -> RateLimitAdmission {
        let client = limits.client(of: request, in: context)
        let claim = RateLimitClaim(AccountLimit.resetEmail, key: email.normalized, networks: client.networks)
        let sharing = shares.map { (table: $0, client: client) }
        return try await limits.admit([claim], in: context, sharing: sharing) { _, wait in
            ContractError(.rateLimitExceeded, message: ContractText.resetLimited(wait: wait), retryAfter: wait)
        }
    }

    /// Counts a request for an email against the limit of the recipient's address. The same call counts the request against the limits of
    /// the route whose keys don't depend on the body, such as the limit per client.
    ///
    /// The method counts the request before the server searches for the account, so the limits don't reveal whether the address has an
    /// account.
    /// - Parameters:
    ///   - email: The address; uppercase and lowercase letters count as equal.
    ///   - limit: The limit that counts by address: `registerEmail` or `verifyEmail`. Use ``admitReset(of:_:in:)`` for reset requests.
    ///   - owner: The account whose user requests an email to the account's own address with an access token. `limit` then counts the
    ///     request by this account and not by the address. Clients without a session therefore can't use up the owner's quota.
    /// - Returns: The admission. With it, the caller commits the usage of the limits together with the email.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay.
    func admitMail(
        to email: EmailAddress,
        by limit: AccountLimit,
        of owner: Account.ID? = nil,
        _ request: Request,
        in context: some LimitedRequestContext
    ) async throws -> RateLimitAdmission {
        let client = limits.client(of: request, in: context)
        let claim = RateLimitClaim(limit, key: owner?.description ?? email.normalized, networks: client.networks)
        return try await limits.admit([claim], in: context, sharing: shares.map { (table: $0, client: client) })
    }
}

extension RateLimits {
    /// Counts the use of an emailed link against the limit of its token, and against the limits of the route whose keys don't depend on the
    /// body. The method doesn't search for the link in the store, so the limits don't reveal whether a link exists.
    /// - Parameter token: The token of the link; `nil` if the request has no token, or a malformed one.
    /// - Returns: The admission. Use the link with ``RateLimitAdmission/usingLink(_:)``.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay.
    func admitLink(
        _ token: ResetToken?,
        _ request: Request,
        in context: some LimitedRequestContext
    ) async throws -> RateLimitAdmission {
        let networks = client(of: request, in: context).networks
        let claim = token.map { token in
            let digest = TokenDigest(of: token.rawValue).bytes.base64EncodedString()
            return RateLimitClaim(.linkAttempts, key: digest, networks: networks, isRefundable: true)
        }
        return try await admit(claim.map { [$0] } ?? [], in: context)
    }

    /// Counts a change that needs no password against the limit of the caller's session, and against the limits of the route whose keys
    /// don't depend on the body.
    /// - Parameter caller: The account and the session of the access token.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay.
    func admitChange(by caller: SignedIn, _ request: Request, in context: some LimitedRequestContext) async throws {
        try await admit([claim(.accountChange, by: caller, request, in: context)], in: context)
    }

    /// Counts a request that contains the current password against a limit of the caller's session, and against the limits of the route
    /// whose keys don't depend on the body.
    ///
    /// An attacker with a stolen access token therefore can't prevent the owner from signing in, or from changing the account in another
    /// session.
    /// - Parameters:
    ///   - caller: The account and the session of the access token.
    ///   - limit: A limit of the account, such as `changeEmail`.
    ///   - recipient: The address of the email that the request causes. The request also counts against the limit `verifyEmail` of this
    ///     address, so that many accounts together can't send many emails to one address.
    /// - Returns: The admission. Call ``RateLimitAdmission/settlePassword(_:)`` when the result of the password check is known.
    /// - Throws: ``ContractError`` with `RATE_LIMIT_EXCEEDED` and the exact delay.
    func admitPassword(
        by caller: SignedIn,
        and limit: AccountLimit? = nil,
        emailing recipient: EmailAddress? = nil,
        _ request: Request,
        in context: some LimitedRequestContext
    ) async throws -> RateLimitAdmission {
        let networks = client(of: request, in: context).networks
        var claims = [claim(.accountPassword, by: caller, request, in: context, isRefundable: true)]
        if let limit {
            let account = caller.account.id.description
            claims.append(RateLimitClaim(limit, key: account, networks: networks, isRefundable: true))
        }
        if let recipient {
            claims.append(RateLimitClaim(.verifyEmail, key: recipient.normalized, networks: networks, isRefundable: true))
        }
        return try await admit(claims, in: context)
    }

    /// Returns the claim of a limit that counts each session separately. A claim consists of a limit and the key under which the limit
    /// counts the request.
    private func claim(
        _ limit: AccountLimit,
        by caller: SignedIn,
        _ request: Request,
        in context: some LimitedRequestContext,
        isRefundable: Bool = false
    ) -> RateLimitClaim {
        let key = JointKey(caller.account.id.description, caller.session.description)
        let networks = client(of: request, in: context).networks
        return RateLimitClaim(limit, key: key, networks: networks, isRefundable: isRefundable)
    }

    /// Counts an attempt to sign in. Call ``RateLimitAdmission/settle(_:)`` when the outcome of the attempt is known.
    ///
    /// The attempt counts against two limits. The first one limits the attempts of one client on one address. The second one limits failed
    /// attempts. The second limit counts by device if the request has a valid device token, and otherwise by address. If an attacker uses
    /// up the failed attempts of an address, its user can therefore still sign in on known devices.
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
    /// Refunds some of the limits that have counted an attempt to sign in, depending on the result of the password check.
    ///
    /// If the password was not checked, the method refunds `login-account` and the limit of failed attempts. If the password was right, it
    /// refunds only the limit of failed attempts. It never refunds `login-ip`. Call this method exactly once for each admission. Without
    /// the call, the limits keep counting the attempt as failed.
    /// - Parameter check: Whether the password was checked, and the result.
    func settle(_ check: Authentication.PasswordCheck) async {
        switch check {
        case .notMade: await refund(.loginAccount, .loginFailures, .loginDevice)
        case .right: await refund(.loginFailures, .loginDevice)
        case .wrong: break
        }
    }

    /// Refunds some of the limits that have counted a request with the current password, depending on the result of the password check.
    ///
    /// If the password was not checked, the method refunds all of these limits except the limit of the client. If the password was wrong,
    /// it refunds the limits of changes and exports, so that a stolen access token without the password doesn't use up their quotas. The
    /// method refunds nothing after a right password, because the server may send the email even if the request fails later. Call this
    /// method exactly once for each admission.
    /// - Parameter check: Whether the password was checked, and the result.
    func settlePassword(_ check: Authentication.PasswordCheck) async {
        switch check {
        case .notMade: await refund(.accountPassword, .changeEmail, .verifyEmail, .export)
        case .wrong: await refund(.changeEmail, .verifyEmail, .export)
        case .right: break
        }
    }

    /// Uses an emailed link. If the server is too busy, or if the request is canceled before the link is used, the method refunds the limit
    /// of the link.
    ///
    /// A wrong password always counts: after a check of the password has begun, a cancellation doesn't prevent the error for a wrong
    /// password.
    /// - Parameter use: A closure that uses the link, and throws errors of `AccountCore`.
    /// - Throws: The errors of the closure.
    func usingLink<Value>(_ use: () async throws -> Value) async throws -> Value {
        do {
            return try await use()
        } catch let error where error is CancellationError || ContractError(domain: error).code == .serverServiceUnavailable {
            await refund(.linkAttempts)
            throw error
        }
    }

    /// Refunds the usage that the given limits have counted for this request.
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
