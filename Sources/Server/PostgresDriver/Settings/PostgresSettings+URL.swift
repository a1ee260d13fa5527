import Foundation
public import Observability

/// The error for an invalid PostgreSQL URL. The error contains no part of the URL except the name of a parameter, so it can be logged.
public struct PostgresURLError: LogSafeError, Hashable, Sendable {
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension PostgresSettings {
    /// Reads a URL: `postgres://user:password@host1:5432,host2:5433/database?parameter=value`.
    ///
    /// | parameter | value |
    /// |---|---|
    /// | `sslmode`, `sslrootcert`, `application_name` | as in libpq |
    /// | `target_session_attrs` | `any` or `read-write` |
    /// | `host` | the folder of a Unix socket, or a host |
    /// | `connect_timeout` | seconds per address |
    /// | `pool_min`, `pool_max` | the smallest and the largest number of connections; at most 64 |
    /// | `prepared_statements` | `true`, or `false` for PgBouncer in transaction mode |
    ///
    /// Reserved characters must be percent-encoded. For example, a Unix socket in `/tmp/x` is the host `%2Ftmp%2Fx`.
    /// - Parameters:
    ///   - url: The URL.
    ///   - requiresVerifiedTLS: Whether to verify the server's certificate if the URL has no `sslmode` and at least one host is on another
    ///     machine. If the URL has an `sslmode`, the client uses this mode.
    /// - Throws: ``PostgresURLError``.
    public init(url: String, requiresVerifiedTLS: Bool = false) throws {
        guard let scheme = ["postgres://", "postgresql://"].first(where: { url.hasPrefix($0) }) else {
            throw PostgresURLError("the URL must begin with postgres://")
        }
        let rest = url.dropFirst(scheme.count)
        let (beforeQuery, query) = rest.cut(at: rest.firstIndex(of: "?"))
        let (authority, database) = beforeQuery.cut(at: beforeQuery.firstIndex(of: "/"))
        let at = authority.lastIndex(of: "@")
        let login = at.map { authority[..<$0] }
        let places = at.map { authority[authority.index(after: $0)...] } ?? authority

        var hosts = try places.isEmpty ? [] : places.split(separator: ",", omittingEmptySubsequences: false).map(Self.host)
        var parameters = try Self.parameters(query ?? "")
        if let host = parameters.removeValue(forKey: "host") {
            guard hosts.isEmpty else { throw PostgresURLError("the URL has hosts and the parameter host") }
            hosts = [Host(name: host)]
        }
        guard !hosts.isEmpty else { throw PostgresURLError("the URL has no host") }

        self.hosts = hosts
        requiresPrimary = hosts.count > 1
        tlsMode = .prefer
        if let login {
            let (user, password) = login.cut(at: login.firstIndex(of: ":"))
            self.user = try Self.decoded(user, "user")
            self.password = try password.map { try Self.decoded($0, "password") }
        }
        if let database, !database.isEmpty { self.database = try Self.decoded(database, "database") }
        let hasMode = parameters["sslmode"] != nil
        for (name, value) in parameters { try set(name, value) }
        if requiresVerifiedTLS, !hasMode, !hosts.allSatisfy(\.isLocal) { tlsMode = .verifyFull }
        if tlsMode == .verifyFull || tlsMode == .verifyCA { rootCertificates = rootCertificates ?? Self.authorities }
        guard (1...64).contains(maximum), (0...maximum).contains(minimum) else {
            throw PostgresURLError("pool_max must be from 1 to 64, and pool_min at most pool_max")
        }
    }

    /// The system's file of certificate authorities on Debian, Red Hat or macOS. By default, libpq before version 16 doesn't use this file.
    private static var authorities: String? {
        ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
            .first { FileManager.default.fileExists(atPath: $0) }
    }

    /// Applies a parameter of a URL to the settings.
    private mutating func set(_ name: String, _ value: String) throws {
        switch name {
        case "sslmode":
            guard let mode = TLSMode(rawValue: value) else { throw PostgresURLError("the parameter sslmode has no such value") }
            tlsMode = mode
        case "sslrootcert": rootCertificates = value
        case "application_name": applicationName = value
        case "target_session_attrs":
            guard ["any", "read-write"].contains(value) else {
                throw PostgresURLError("the parameter target_session_attrs must be any or read-write")
            }
            requiresPrimary = value == "read-write"
        case "prepared_statements":
            guard let isOn = Bool(value) else {
                throw PostgresURLError("the parameter prepared_statements must be true or false")
            }
            preparesStatements = isOn
        case "connect_timeout": connectTimeout = .seconds(try Self.number(value, name, 1...3_600))
        case "pool_max": maximum = try Self.number(value, name, 1...64)
        case "pool_min": minimum = try Self.number(value, name, 0...64)
        default: throw PostgresURLError("the URL has the unknown parameter \(name)")
        }
    }

    /// Parses the value of a parameter as a number within a range.
    private static func number(_ text: String, _ name: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw PostgresURLError("the parameter \(name) must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Parses a host and an optional port. An IPv6 address must be in brackets.
    private static func host(_ text: Substring) throws -> Host {
        var (name, port) = text.cut(at: text.lastIndex(of: ":"))
        if text.hasPrefix("[") {
            let end = text.firstIndex(of: "]") ?? text.endIndex
            let after = text[end...].dropFirst()
            guard end < text.endIndex, after.isEmpty || after.hasPrefix(":") else {
                throw PostgresURLError("a host of the URL is invalid")
            }
            (name, port) = (text[..<end].dropFirst(), after.isEmpty ? nil : after.dropFirst())
        }
        let decoded = try decoded(name, "host")
        let number = port.map { Int($0) } ?? 5432
        guard !decoded.isEmpty, let number, (1...65_535).contains(number) else {
            throw PostgresURLError("a host of the URL is invalid")
        }
        return Host(name: decoded, port: number)
    }

    /// Parses the query of a URL into parameters. Each name must be unique.
    private static func parameters(_ query: Substring) throws -> [String: String] {
        var parameters: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let (name, value) = pair.cut(at: pair.firstIndex(of: "="))
            // If a password contains a `?` that is not percent-encoded, the rest of the password is read as a parameter. So errors contain
            // a name only if it consists of the characters that names of parameters have.
            guard name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x5F }), name.utf8.count <= 40, let value else {
                throw PostgresURLError("the URL has an invalid parameter")
            }
            guard parameters.updateValue(try decoded(value, String(name)), forKey: String(name)) == nil else {
                throw PostgresURLError("the URL has the parameter \(name) twice")
            }
        }
        return parameters
    }

    /// Decodes the percent-encoding of a part of a URL. The method refuses NUL, because NUL ends a text in libpq.
    private static func decoded(_ text: Substring, _ part: String) throws -> String {
        guard let decoded = text.removingPercentEncoding, !decoded.utf8.contains(0) else {
            throw PostgresURLError("the URL has an invalid percent-encoding (\(part))")
        }
        return decoded
    }
}

extension Substring {
    /// Returns the parts before and after the character at an index. If the index is `nil`, returns the whole text and `nil`.
    fileprivate func cut(at index: Index?) -> (Substring, Substring?) {
        index.map { (self[..<$0], self[self.index(after: $0)...]) } ?? (self, nil)
    }
}
