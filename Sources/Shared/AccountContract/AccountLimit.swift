/// A limit of the account API. The raw value is the name in responses, settings, metrics and the documentation.
///
/// Several limits may count one request. For example, a sign-in is counted by a limit of its address and a limit of its client.
public enum AccountLimit: String, CaseIterable, Hashable, Sendable {
    /// Reset requests for one address. They also count if the account doesn't exist.
    case resetEmail = "reset-email"
    /// Reset requests from one client.
    case resetIP = "reset-ip"
    /// Reset requests from all clients together. It bounds the number of emails that an attack can cause.
    case resetGlobal = "reset-global"
    /// Password checks for one address from one client, with correct or wrong passwords. The limit counts each client separately, so a
    /// client can't lock the address for other clients.
    case loginAccount = "login-account"
    /// Wrong passwords for one address from all clients together. They also count if the account doesn't exist.
    case loginFailures = "login-failures"
    /// Wrong passwords from one device with a device token. The token proves that the device has signed in to the account before. Such an
    /// attempt doesn't count for `login-failures`.
    case loginDevice = "login-device"
    /// Sign-ins from one client.
    case loginIP = "login-ip"
    /// Session refreshes from one client.
    case refreshIP = "refresh-ip"
    /// Registrations from one client.
    case registerIP = "register-ip"
    /// Links that one client validates, confirms or uses to lock an account.
    case tokenIP = "token-ip"
    /// Blind registrations for one address. They also count if the address has an account.
    case registerEmail = "register-email"
    /// Requests for a link to one address: a link that verifies the address, or a link that makes it the address of an account. These
    /// requests also count if the account doesn't exist. If a signed-in user requests a link for the address of the account, the limit
    /// counts the request by account. Other clients therefore can't use up the quota of this user.
    case verifyEmail = "verify-email"
    /// Requests of signed-in users from one client, and requests for verification links from one client.
    case accountIP = "account-ip"
    /// Uses of one emailed link that changes an account, successful or not. The limit bounds the number of passwords that the holder of a
    /// link can guess. These uses don't count for the limits of sign-ins.
    case linkAttempts = "link-attempts"
    /// Changes by one session of an account that need no password, and requests for the list of sessions. The user of a stolen access token
    /// can't use up the quota of the user's other sessions.
    case accountChange = "account-change"
    /// Password checks by one session of an account. They don't count for the limits of sign-ins or of other sessions.
    case accountPassword = "account-password"
    /// Requests for a change of the address of one account, with the right password. The limit bounds the number of emails that the server
    /// sends because of one account.
    case changeEmail = "change-email"
    /// Exports of one account, with the right password.
    case export

    /// The key under which a limit counts requests.
    package enum Key: Hashable, Sendable {
        /// One key for each client.
        case client
        /// One key for all requests.
        case everyone
        /// A key from the body of the request, such as the address of an account.
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

    /// Whether responses report the limit. A limit is not reported if it would reveal the requests of other clients, or whether a device
    /// token is valid.
    package var isVisible: Bool {
        switch self {
        case .resetGlobal, .loginFailures, .loginDevice: false
        default: true
        }
    }
}
