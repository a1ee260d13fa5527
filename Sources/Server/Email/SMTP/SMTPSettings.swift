/// How a mail server is reached.
public struct SMTPSettings: Hashable, Sendable {
    /// How a connection is encrypted.
    public enum Security: String, Hashable, Sendable {
        /// Not at all.
        case none
        /// From STARTTLS on (RFC 3207), and no mail without it.
        case startTLS = "STARTTLS"
        /// From the first byte (RFC 8314).
        case tls = "TLS"

        /// The port that is usual for it.
        public var usualPort: Int {
            switch self {
            case .none: 25
            case .startTLS: 587
            case .tls: 465
            }
        }
    }

    /// A name and a password for AUTH (RFC 4954). No description, dump or log shows the password.
    public struct Login: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
        /// The name of the login.
        public var user: String
        /// Its password.
        public var password: String

        /// Creates credentials.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        public var description: String { "Login(hidden)" }
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }

    /// A name or an address of the server.
    public var host: String
    /// Where the mail server listens.
    public var port: Int
    /// Whether and when TLS begins.
    public var security: Security
    /// The login; `nil` for none.
    public var credentials: Login?
    /// The time in which a connection must be made, name looked up and TLS agreed on.
    public var connectTimeout: Duration
    /// The time in which a mail must be handed over, all in all.
    public var timeout: Duration
    /// The most connections at once.
    public var connectionLimit = 4
    /// A file of the certificates (PEM) that the server's must come from; the system's if `nil`.
    public var authorities: String?
    /// Time without mail after which connections are closed.
    public var idleTime: Duration = .seconds(15)

    /// Creates settings.
    /// - Parameters:
    ///   - host: The name or the address of the mail server.
    ///   - port: The usual one if not given: 465 for TLS, 587 for STARTTLS, 25 for neither.
    ///   - security: How the connection is encrypted.
    ///   - credentials: The login; `nil` for a server that needs none.
    ///   - timeout: For a mail in all; at most 10 s of it for the connection.
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
