/// The address, encryption and login of an SMTP server.
///
/// With `Security.none`, the delivery sends emails and their links unencrypted. Use this value only for an SMTP server on the same machine.
///
/// ```swift
/// let settings = SMTPSettings(host: "smtp.example.com", credentials: .init(user: "notes", password: password))
/// ```
public struct SMTPSettings: Hashable, Sendable {
    /// The encryption of a connection.
    public enum Security: String, Hashable, Sendable {
        /// No encryption.
        case none
        /// STARTTLS (RFC 3207). If the SMTP server doesn't support STARTTLS, the delivery fails. The connection never falls back to plain
        /// text.
        case startTLS = "STARTTLS"
        /// TLS from the first byte (RFC 8314).
        case tls = "TLS"

        /// The port that servers use by convention with this encryption.
        public var usualPort: Int {
            switch self {
            case .none: 25
            case .startTLS: 587
            case .tls: 465
            }
        }
    }

    /// A name and a password for AUTH (RFC 4954). Descriptions, dumps and logs don't contain the password.
    public struct Login: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
        /// The name of the login.
        public var user: String
        /// The password of the login.
        public var password: String

        /// Creates credentials.
        /// - Parameters:
        ///   - user: The name of the login.
        ///   - password: The password.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        public var description: String { "Login(hidden)" }
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }

    /// The name or the IP address of the server. With TLS or STARTTLS, the server's certificate must be valid for this name or address.
    public var host: String
    /// The port of the server.
    public var port: Int
    /// The encryption of connections.
    public var security: Security
    /// The login, which is sent with AUTH PLAIN or AUTH LOGIN; `nil` if the server needs none.
    public var credentials: Login?
    /// The longest time for establishing a connection, including the name lookup and TLS. The default is 10 seconds, or the `timeout` of
    /// the initializer if that time is shorter.
    public var connectTimeout: Duration
    /// The longest time for the delivery of one email, including the connection, rounded up to whole milliseconds. A time of more than a
    /// day counts as a day.
    public var timeout: Duration
    /// The largest number of concurrent connections, at least 1. Each connection needs a thread.
    public var connectionLimit = 4
    /// The path of a PEM file with the certificate authorities to trust; `nil` trusts the authorities of the system.
    public var authorities: String?
    /// The time without emails after which a thread closes its connection and ends.
    public var idleTime: Duration = .seconds(15)

    /// Creates settings. The other properties have default values, which the caller can change afterwards.
    /// - Parameters:
    ///   - host: The name or the address of the SMTP server.
    ///   - port: The port; `nil` uses 465 for TLS, 587 for STARTTLS, and 25 without encryption.
    ///   - security: The encryption of connections.
    ///   - credentials: The login; `nil` if the server needs none.
    ///   - timeout: The longest time for one email. Connecting may take at most 10 s of this time.
    public init(
        host: String,
        port: Int? = nil,
        security: Security = .startTLS,
        credentials: Login? = nil,
        timeout: Duration = .seconds(30)
    ) {
        self.host = host
        self.port = port ?? security.usualPort
        self.security = security
        self.credentials = credentials
        self.timeout = timeout
        connectTimeout = min(timeout, .seconds(10))
    }
}
