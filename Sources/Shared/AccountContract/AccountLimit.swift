/// A limit of the account API. The raw value is the name in responses, settings, metrics and the documentation.
///
/// Several limits can count the same request. For example, one limit counts a sign-in by its email address, and another limit counts it by
/// its client. A client is an IPv4 address or an IPv6 network.
public enum AccountLimit: String, CaseIterable, Hashable, Sendable {
    /// Requests for a reset link to one email address, even if no account has the address.
    case resetEmail = "reset-email"
    /// Requests for a reset link from one client.
    case resetIP = "reset-ip"
    /// Requests for a reset link from all clients together. The limit bounds the number of emails that an attack can cause.
    case resetGlobal = "reset-global"
    /// Password checks for one email address from one client, with correct or wrong passwords. The limit counts each client separately, so
    /// a client can't block the sign-ins of other clients to this address.
    case loginAccount = "login-account"
    /// Wrong passwords for one email address from all clients together, even if no account has the address.
    case loginFailures = "login-failures"
    /// Wrong passwords from one device with a device token. The token proves that the device has signed in to the account before. A wrong
    /// password with a device token counts for this limit and not for `login-failures`.
    case loginDevice = "login-device"
    /// Sign-ins from one client.
    case loginIP = "login-ip"
    /// Session refreshes from one client.
    case refreshIP = "refresh-ip"
    /// Registrations from one client.
    case registerIP = "register-ip"
    /// Links that one client validates, confirms or uses to lock an account.
    case tokenIP = "token-ip"
    /// Blind registrations for one email address, even if the address has an account. With blind registration, the response doesn't reveal
    /// whether the address has an account, and a link in an email creates the account.
    case registerEmail = "register-email"
    /// Requests for a link to one email address: a link that verifies the address, or a link that makes this address the new address of an
    /// account. The limit also counts requests for an address without an account. If a signed-in user requests a link for the account's own
    /// address, the limit counts the request by account. Other clients therefore can't use up the quota of this user.
    case verifyEmail = "verify-email"
    /// Requests of signed-in users from one client, and requests for verification links from one client.
    case accountIP = "account-ip"
    /// Successful and failed uses of one emailed link that changes an account. The limit bounds the number of passwords that a user of the
    /// link can guess. These uses don't count for the limits on sign-ins.
    case linkAttempts = "link-attempts"
    /// Requests of one session that change the account without a password, and requests for the list of sessions. An attacker with a stolen
    /// access token therefore can't use up the quota of the user's other sessions.
    case accountChange = "account-change"
    /// Password checks by one session of an account. They don't count for the limits on sign-ins, or for the limits of other sessions.
    case accountPassword = "account-password"
    /// Requests to change the email address of one account, with the right password. The limit bounds the number of emails that the server
    /// sends because of one account.
    case changeEmail = "change-email"
    /// Exports of the data of one account, with the right password.
    case export

    /// The key under which a limit counts requests.
    package enum Key: Hashable, Sendable {
        /// One key for each client.
        case client
        /// One key for all requests.
        case everyone
        /// A key from the content of the request, such as the email address in the body, or the session of the access token.
        case body
    }

    /// The key under which the limit counts requests.
    package var key: Key {
        switch self {
        case .resetIP, .loginIP, .refreshIP, .registerIP, .tokenIP, .accountIP: .client
        case .resetGlobal: .everyone
        case .resetEmail, .loginAccount, .loginFailures, .loginDevice, .registerEmail, .verifyEmail, .linkAttempts,
            .accountChange, .accountPassword, .changeEmail, .export:
            .body
        }
    }

    /// Whether the server's responses report the limit. The server hides a limit that would reveal the requests of other clients, or
    /// whether a device token is valid.
    package var isVisible: Bool {
        switch self {
        case .resetGlobal, .loginFailures, .loginDevice: false
        default: true
        }
    }
}
