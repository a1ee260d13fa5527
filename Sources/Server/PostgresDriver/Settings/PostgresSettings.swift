import Timekeeping

/// The servers of a ``PostgresClient``, and its limits.
///
/// ```swift
/// var settings = try PostgresSettings(url: "postgres://app:secret@db1,db2/holdfast?sslmode=verify-full&pool_max=16")
/// settings.queryTimeout = .seconds(5)
/// ```
///
/// The password is neither in `description` nor in a dump.
///
/// By default, the server ends a statement after 8 s (`statementTimeout`), before the client stops waiting after 10 s (`queryTimeout`). So
/// the server's error usually arrives, and the client knows the outcome. If you change these timeouts, keep `statementTimeout` shorter than
/// `queryTimeout`.
public struct PostgresSettings: Sendable {
    /// A server: its name or address, or the folder of its Unix socket.
    public struct Host: Hashable, Sendable {
        /// The name, the address, or the absolute path of the folder of a Unix socket.
        public var name: String
        /// The port, 1 to 65,535. For a Unix socket, the port is a part of the socket's name.
        public var port: Int

        /// Creates a host.
        public init(name: String, port: Int = 5432) {
            (self.name, self.port) = (name, port)
        }

        var isUnixSocket: Bool { name.hasPrefix("/") }
        /// Whether the server is on the same machine.
        var isLocal: Bool { isUnixSocket || name == "localhost" || name == "::1" || name.hasPrefix("127.") }
    }

    /// The encryption of connections, with the values of libpq's `sslmode`. Only `verifyFull` protects against a server that impersonates
    /// the database.
    public enum TLSMode: String, Hashable, Sendable {
        /// Modes without verification. `disable` never encrypts. `allow` encrypts only if the server requires it. `prefer` encrypts if the
        /// server offers it. `require` always encrypts.
        case disable, allow, prefer, require
        /// Always encrypts, and verifies that a trusted authority has issued the server's certificate. The certificate may have any name.
        case verifyCA = "verify-ca"
        /// Always encrypts, and verifies that a trusted authority has issued the server's certificate for the name of the host.
        case verifyFull = "verify-full"
    }

    /// The servers, in the order in which the client tries them. If a server did not respond within `connectTimeout`, the client tries it
    /// last, and only for a second, until the server responds again.
    public var hosts: [Host]
    /// The user; `nil` uses the user of the process.
    public var user: String?
    /// The password. The property is internal, so that no caller can print it by accident.
    var password: String?
    /// The database; `nil` uses the database with the user's name.
    public var database: String?
    /// The encryption of connections. If a URL has no `sslmode`, it is `prefer`.
    public var tlsMode: TLSMode
    /// The file with the certificates of trusted authorities, in PEM. For the two modes with verification, the default is the system's
    /// file.
    public var rootCertificates: String?
    /// Whether the client uses only servers that accept writes. If a URL has more than one host, the default is `true`.
    public var requiresPrimary: Bool
    /// The name under which `pg_stat_activity` on the server shows the connections.
    public var applicationName = "holdfast"
    /// The smallest number of open connections, at most ``maximum``. The client opens them before a statement needs them.
    public var minimum = 0
    /// The largest number of connections, 1 to 64. The sum of this number over all clients must stay below the server's `max_connections`.
    public var maximum = 16
    /// The longest time for a connection to one address, including TLS and authentication; 5 seconds by default.
    public var connectTimeout = Duration.seconds(5)
    /// The longest time for one round trip; 10 seconds by default. The client also begins a repetition of a transaction only within this
    /// time after the start of the call.
    public var queryTimeout = Duration.seconds(10)
    /// The longest time to wait for a free connection; 5 seconds by default.
    public var acquireTimeout = Duration.seconds(5)
    /// The time after which the server ends a statement, with the SQLSTATE 57014.
    public var statementTimeout = Duration.seconds(8)
    /// The time after which the server ends a connection whose transaction is idle, with the SQLSTATE 25P03.
    public var idleInTransactionTimeout = Duration.seconds(10)
    /// The time after which the server ends a wait for a lock, with the SQLSTATE 55P03.
    public var lockTimeout = Duration.seconds(5)
    /// The time after which an idle connection is closed.
    public var idleLimit = Duration.seconds(300)
    /// The time after which a connection is replaced. Up to a tenth of the time is subtracted at random.
    public var lifetime = Duration.seconds(1_800)
    /// Whether statements are prepared once per connection. Set it to `false` for PgBouncer in transaction mode, because PgBouncer shares
    /// connections to the server between clients.
    public var preparesStatements = true

    /// Whether the settings have a password.
    public var hasPassword: Bool { password != nil }
}

extension PostgresSettings: CustomStringConvertible, CustomReflectable {
    public var description: String { "PostgresSettings(\(hosts.count) hosts, at most \(maximum) connections)" }

    public var customMirror: Mirror {
        Mirror(self, children: ["hosts": hosts.count, "maximum": maximum, "tlsMode": tlsMode], displayStyle: .struct)
    }
}

extension PostgresSettings {
    /// Returns the parameters with which libpq connects to one address of a host.
    /// - Parameter address: The address that the host's name was resolved to; `nil` for a Unix socket.
    func parameters(_ host: Host, address: String?) -> [(name: String, value: String)] {
        var parameters = [
            ("host", host.name), ("port", "\(host.port)"), ("application_name", applicationName), ("client_encoding", "UTF8"),
            ("sslmode", tlsMode.rawValue), ("gssencmode", "disable"), ("keepalives_idle", "5"), ("keepalives_interval", "2"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "5000"),
            ("target_session_attrs", requiresPrimary ? "read-write" : "any"),
        ]
        if let address { parameters.append(("hostaddr", address)) }
        if let user { parameters.append(("user", user)) }
        if let password { parameters.append(("password", password)) }
        if let database { parameters.append(("dbname", database)) }
        if let rootCertificates { parameters.append(("sslrootcert", rootCertificates)) }
        // A pooler refuses connections that set options.
        if preparesStatements {
            parameters.append(("options", timeouts.map { "-c \($0.name)=\($0.milliseconds)" }.joined(separator: " ")))
        }
        return parameters.map { (name: $0.0, value: $0.1) }
    }

    /// The timeouts that the server applies, with the names of the server's settings.
    var timeouts: [(name: String, milliseconds: Int64)] {
        [
            ("statement_timeout", statementTimeout.wholeMilliseconds),
            ("idle_in_transaction_session_timeout", idleInTransactionTimeout.wholeMilliseconds),
            ("lock_timeout", lockTimeout.wholeMilliseconds),
        ]
    }
}
