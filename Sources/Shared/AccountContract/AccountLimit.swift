/// A limit of the account API. The raw value is the name in responses, settings, metrics and the documentation.
public enum AccountLimit: String, CaseIterable, Hashable, Sendable {
    /// Reset requests for one address, counted alike whether or not there is an account.
    case resetEmail = "reset-email"
    /// Reset requests of one client.
    case resetIP = "reset-ip"
    /// Reset requests of all clients together.
    case resetGlobal = "reset-global"
    /// Checked passwords of one address that one client sent, right or wrong. A client can't lock out the address for others.
    case loginAccount = "login-account"
    /// Wrong passwords of one address from all clients together, counted alike whether or not there is an account.
    case loginFailures = "login-failures"
    /// Wrong passwords of one device that has proved by its device token that it signed in to the account before. Such an attempt is
    /// not charged to `login-failures`.
    case loginDevice = "login-device"
    /// Sign-ins of one client.
    case loginIP = "login-ip"
    /// Session refreshes of one client.
    case refreshIP = "refresh-ip"
    /// Registrations of one client.
    case registerIP = "register-ip"
    /// Links that one client validates, confirms or uses to lock an account.
    case tokenIP = "token-ip"

    /// Under which key a limit counts requests.
    package enum Key: Hashable, Sendable {
        /// One key for each client.
        case client
        /// One key for all requests.
        case everyone
        /// A key that the handler knows from the body, such as the address of an account.
        case body
    }

    /// Under which key the limit counts requests.
    package var key: Key {
        switch self {
        case .resetIP, .loginIP, .refreshIP, .registerIP, .tokenIP: .client
        case .resetGlobal: .everyone
        case .resetEmail, .loginAccount, .loginFailures, .loginDevice: .body
        }
    }

    /// Whether responses report the limit. They don't report the requests of other clients, nor whether a device token is valid.
    package var isVisible: Bool {
        switch self {
        case .resetGlobal, .loginFailures, .loginDevice: false
        default: true
        }
    }
}
