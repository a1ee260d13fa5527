import AccountContract
public import PostgresDriver
public import ValkeyDriver
public import ValkeyStores

/// The database of accounts, sessions, tokens, emails, events and idempotency keys.
public enum AccountDatabase: Sendable {
    /// SQLite: a file in the data folder, for servers on one machine. No database server is needed.
    case sqlite
    /// PostgreSQL, for any number of servers. `DATABASE_URL`.
    case postgres(PostgresSettings)

    /// Reads `DATABASE_URL`. The value `sqlite` is the same as no value.
    ///
    /// The timeouts are shorter than the usual timeouts of clients. If the database is slow, clients therefore receive an error response
    /// before they time out.
    /// - Parameter isProduction: Whether the server's certificate must be verified.
    init(_ settings: inout SettingReader, isProduction: Bool) {
        self = .sqlite
        guard let url = settings.text("DATABASE_URL", isSecret: true), url.lowercased() != "sqlite" else { return }
        do {
            var postgres = try PostgresSettings(url: url, requiresVerifiedTLS: isProduction)
            // Clients time out after ten seconds by default, so the response must come earlier.
            (postgres.acquireTimeout, postgres.queryTimeout) = (.seconds(3), .seconds(5))
            (postgres.statementTimeout, postgres.lockTimeout) = (.seconds(4), .seconds(3))
            self = .postgres(postgres)
        } catch {
            settings.refuse("DATABASE_URL", "can't be used: \(error)")
        }
        if settings.text("HOLDFAST_SECRET", isSecret: true) == nil {
            settings.refuse("HOLDFAST_SECRET", "is required with DATABASE_URL: all servers on a database need the same secret")
        }
    }
}

/// The servers that share the usage of rate limits.
public enum RateLimitScope: Hashable, Sendable {
    /// All servers of a deployment share the usage. This needs Valkey. Without Valkey, a deployment can have only one server, and a second
    /// server fails to start.
    case deployment
    /// Each server counts separately. So for each limit, N servers together admit up to N times the quota.
    case server
}

/// The Valkey server through which several servers share the usage of rate limits.
///
/// With Valkey, each decision takes a round trip, for which the server waits at most 9 ms. Without Valkey, the server decides in memory.
public struct SharedLimitSettings: Sendable {
    /// The address of Valkey or Redis.
    public var address: ValkeyAddress
    /// The behavior of limits while Valkey is slow or unavailable. By default, each server counts by itself and admits half of each quota.
    public var fallback = ValkeyFallback.local(share: 0.5)
    /// The behavior of the limits for which it differs from ``fallback``, by the names of the limits, such as `login-failures`.
    public var fallbacks: [String: ValkeyFallback] = [:]
    /// The longest time that a decision waits for Valkey.
    package var deadline: Duration = .milliseconds(9)

    /// Creates settings with the defaults.
    /// - Parameter address: The address of Valkey or Redis.
    public init(address: ValkeyAddress) {
        self.address = address
    }

    /// Reads `VALKEY_URL` and `VALKEY_FALLBACK`. The result is `nil` if `VALKEY_URL` is not set.
    init?(_ settings: inout SettingReader) {
        let fallbacks = settings.list("VALKEY_FALLBACK")
        guard let url = settings.text("VALKEY_URL", isSecret: true) else {
            if fallbacks != nil { settings.refuse("VALKEY_FALLBACK", "needs VALKEY_URL, the address of Valkey or Redis") }
            return nil
        }
        do throws(ValkeyAddress.Failure) {
            self.init(address: try ValkeyAddress(url: url))
        } catch {
            settings.refuse("VALKEY_URL", "\(error)")
            return nil
        }
        for item in fallbacks ?? [] {
            let parts = item.lowercased().split(separator: "=", maxSplits: 1).map(String.init)
            guard let fallback = parts.last.flatMap(Self.fallback), parts.count == 1 || AccountLimit(rawValue: parts[0]) != nil
            else {
                settings.refuse(
                    "VALKEY_FALLBACK",
                    "must be local/PERCENT, open or closed, for all limits or as NAME=… for one (is “\(item)”)"
                )
                continue
            }
            if parts.count == 1 { self.fallback = fallback } else { self.fallbacks[parts[0]] = fallback }
        }
        if settings.text("HOLDFAST_SECRET", isSecret: true) == nil {
            settings.refuse("HOLDFAST_SECRET", "is required with VALKEY_URL: all servers that share limits need the same secret")
        }
    }

    /// Parses `open`, `closed`, `local` or `local/PERCENT`.
    /// - Parameter text: A value of `VALKEY_FALLBACK`, without the name of a limit.
    /// - Returns: The fallback; `nil` if the text is invalid.
    private static func fallback(_ text: String) -> ValkeyFallback? {
        switch text {
        case "open": return .open
        case "closed": return .closed
        case "local": return .local(share: 0.5)
        default:
            guard text.hasPrefix("local/"), let percent = Int(text.dropFirst(6)), (1...100).contains(percent) else { return nil }
            return .local(share: Double(percent) / 100)
        }
    }
}
