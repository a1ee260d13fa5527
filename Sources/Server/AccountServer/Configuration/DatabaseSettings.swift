public import PostgresDriver

/// Where a server keeps accounts, sessions, tokens, emails, events and idempotency keys.
public enum AccountDatabase: Sendable {
    /// In a file in the data folder, for one machine.
    case sqlite
    /// In PostgreSQL, for any number of servers.
    case postgres(PostgresSettings)

    init(_ settings: inout SettingReader, isProduction: Bool) {
        self = .sqlite
        let poolSize = settings.integer("DATABASE_POOL_SIZE", in: 1...64, default: 16)
        let isPooled = settings.choice("DATABASE_POOLER", ["none": false, "transaction": true], default: false)
        guard let url = settings.text("DATABASE_URL", isSecret: true), url != "sqlite" else { return }
        do {
            var postgres = try PostgresSettings(url: url, requiresVerifiedTLS: isProduction)
            if settings.text("DATABASE_POOL_SIZE") != nil { postgres.maximum = poolSize }
            if isPooled { postgres.preparesStatements = false }
            self = .postgres(postgres)
        } catch {
            settings.refuse("DATABASE_URL", "can't be used: \(error)")
        }
        if settings.text("HOLDFAST_SECRET", isSecret: true) == nil {
            settings.refuse("HOLDFAST_SECRET", "is required with DATABASE_URL: all servers on a database need the same secret")
        }
    }
}

/// Who shares the usage of rate limits.
public enum RateLimitScope: Hashable, Sendable {
    /// All servers of a deployment. Without Valkey that is one server, and a second one does not start.
    case deployment
    /// Each server on its own: N servers admit up to N times each limit.
    case server
}
