import Foundation

/// The address of a Valkey or Redis server, with the user and the password of a client. The value's `description` contains no part of the
/// address, the user or the password.
///
/// ```swift
/// let address = try ValkeyAddress(url: "valkey://localhost:6379")
/// ```
public struct ValkeyAddress: Hashable, Sendable {
    /// The host name or IP address.
    public let host: String
    /// The port, 1 to 65,535; 6379 by default.
    public let port: Int
    /// The number of the database; 0 by default. A cluster only has the database 0.
    public let database: Int
    /// The user of the access control list; `nil` for the default user.
    let user: String?
    /// The password. The property is internal, so that a caller can't print the password by accident.
    let password: String?

    /// The reason why a text is not an address. The description doesn't contain the text, because the text can contain a password.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The reason, written as a requirement, such as "must contain a host".
        public let description: String
    }

    /// Parses a URL such as `valkey://user:password@host:6379/0`. `redis://` has the same meaning.
    /// - Parameter url: The URL. Reserved characters in the user and the password must be percent-encoded.
    /// - Throws: ``Failure``, also for `rediss://` and `valkeys://`, because the client doesn't support TLS.
    public init(url: String) throws(Failure) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased() else {
            throw Failure(description: "must be a URL such as valkey://localhost:6379/0")
        }
        switch scheme {
        case "valkey", "redis":
            break
        case "valkeys", "rediss":
            throw Failure(
                description:
                    "TLS (\(scheme)://) is not supported; run a TLS proxy such as stunnel or HAProxy on this machine and "
                    + "use valkey:// with its address"
            )
        default:
            throw Failure(description: "must begin with valkey:// or redis://")
        }
        guard let host = parts.host, !host.isEmpty else { throw Failure(description: "must contain a host") }
        guard parts.query == nil, parts.fragment == nil else {
            throw Failure(description: "must not contain parameters or a fragment")
        }
        guard let database = Self.database(of: parts.path) else {
            throw Failure(description: "must end with the number of a database, such as /0")
        }
        let port = parts.port ?? 6379
        guard (1...65_535).contains(port) else { throw Failure(description: "must contain a port from 1 to 65535") }
        // Foundation doesn't remove the brackets of an IPv6 address.
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        (self.port, self.database) = (port, database)
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        password = parts.password.flatMap { $0.isEmpty ? nil : $0 }
        guard user == nil || password != nil else { throw Failure(description: "must contain a password if it contains a user") }
    }

    /// Returns the number in a path; `nil` if the path is not a number.
    private static func database(of path: String) -> Int? {
        let number = path.hasPrefix("/") ? path.dropFirst() : path[...]
        if number.isEmpty { return 0 }
        guard number.utf8.count <= 6, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(number)
    }
}

extension ValkeyAddress: CustomStringConvertible, CustomReflectable {
    /// A text without any part of the address.
    public var description: String { "ValkeyAddress" }
    /// A mirror without any part of the address.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
