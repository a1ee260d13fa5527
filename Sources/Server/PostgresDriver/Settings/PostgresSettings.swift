import Timekeeping

/// The servers of a ``PostgresClient``, and its limits.
///
/// ```swift
/// var settings = try PostgresSettings(url: "postgres://app:secret@db1,db2/holdfast?sslmode=verify-full&pool_max=16")
/// settings.queryTimeout = .seconds(5)
/// ```
///
/// Neither `description` nor a dump contains the password.
public struct PostgresSettings: Sendable {
    /// A server: its name or address, or the folder of its Unix socket.
    public struct Host: Hashable, Sendable {
        /// The name, the address, or the absolute path of the folder of a Unix socket.
        public var name: String
        /// The port.
        public var port: Int

        /// Creates a host.
        public init(name: String, port: Int = 5432) {
            (self.name, self.port) = (name, port)
        }

        var isUnixSocket: Bool { name.hasPrefix("/") }
        /// Whether the server is on the same machine.
        var isLocal: Bool { isUnixSocket || name == "localhost" || name == "::1" || name.hasPrefix("127.") }
    }

    /// The encryption of connections, as libpq's `sslmode`.
    public enum TLSMode: String, Hashable, Sendable {
        case disable, allow, prefer, require
        case verifyCA = "verify-ca"
        case verifyFull = "verify-full"
    }

    /// The servers, in the order in which they are tried. A server that did not respond within `connectTimeout` is tried last, and only for
    /// a second, until it responds.
    public var hosts: [Host]
    /// The user; `nil` is that of the process.
    public var user: String?
    var password: String?
    /// The database; by default, that with the user's name.
    public var database: String?
    /// The encryption of connections.
    public var tlsMode: TLSMode
    /// The file with the certificates of trusted authorities.
    public var rootCertificates: String?
    /// Whether only servers that accept writes are used. The default if there is more than one host.
    public var requiresPrimary: Bool
    /// The name of the connections on the server.
    public var applicationName = "holdfast"
    /// The smallest number of open connections.
    public var minimum = 0
    /// The largest number of connections.
    public var maximum = 16
    /// The longest time for a connection to one address.
    public var connectTimeout = Duration.seconds(5)
    /// The longest time for one round trip, and for the repetitions of a transaction.
    public var queryTimeout = Duration.seconds(10)
    /// The longest time to wait for a free connection.
    public var acquireTimeout = Duration.seconds(5)
    /// The time after which the server ends a statement with 57014.
    public var statementTimeout = Duration.seconds(8)
    /// The time after which the server ends a connection whose transaction is idle with 25P03.
    public var idleInTransactionTimeout = Duration.seconds(10)
    /// The time after which the server ends a wait for a lock with 55P03.
    public var lockTimeout = Duration.seconds(5)
    /// The time after which an idle connection is closed.
    public var idleLimit = Duration.seconds(300)
    /// The time after which a connection is replaced; up to a tenth of it is subtracted at random.
    public var lifetime = Duration.seconds(1_800)
    /// Whether statements are prepared once per connection. Set it to `false` for PgBouncer in transaction mode, which shares the
    /// connections to the server.
    public var preparesStatements = true

    /// Whether the URL has a user's password.
    public var hasPassword: Bool { password != nil }
}

extension PostgresSettings: CustomStringConvertible, CustomReflectable {
    public var description: String { "PostgresSettings(\(hosts.count) hosts, at most \(maximum) connections)" }

    public var customMirror: Mirror {
        Mirror(self, children: ["hosts": hosts.count, "maximum": maximum, "tlsMode": tlsMode], displayStyle: .struct)
    }
}

extension PostgresSettings {
    /// Returns the parameters of libpq for one address of a host.
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

    /// The settings of a session.
    var timeouts: [(name: String, milliseconds: Int64)] {
        [
            ("statement_timeout", statementTimeout.wholeMilliseconds),
            ("idle_in_transaction_session_timeout", idleInTransactionTimeout.wholeMilliseconds),
            ("lock_timeout", lockTimeout.wholeMilliseconds),
        ]
    }
}
