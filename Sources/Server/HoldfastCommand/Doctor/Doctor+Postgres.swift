import AccountServer
import Foundation
import PostgresDriver
import PostgresStores
import ServerMiddleware

extension Doctor {
    /// Checks PostgreSQL: the connection, the tables, durability, connections, standbys, and the clocks of the servers.
    func examinePostgres(_ settings: PostgresSettings) async -> [Finding] {
        var settings = settings
        (settings.connectTimeout, settings.acquireTimeout, settings.queryTimeout) = (patience, patience, patience)
        do {
            let found = try await PostgresDeployment.withDatabase(settings) { try await PostgresInspection($0) }
            return [examineServer(found, settings), examineTables(found), examineDurability(found)]
                + [examineConnections(found, settings)] + examineStandbys(found) + examineMaintenance(found)
                + examineClocks(found)
        } catch {
            return [
                .wrong(
                    "database",
                    "\(StartFailure(error))",
                    "check DATABASE_URL, the server, its pg_hba.conf and the network"
                )
            ]
        }
    }

    /// Checks the role, the version and the encryption of the database server.
    private func examineServer(_ found: PostgresInspection, _ settings: PostgresSettings) -> Finding {
        let text = "PostgreSQL \(found.version), \(found.size / 1_048_576) MiB"
        if found.isStandby {
            let remedy = "use the primary in DATABASE_URL, or all hosts with target_session_attrs=read-write"
            return .wrong("database", "\(text): a standby, which accepts no writes", remedy)
        }
        if found.versionNumber < 130_000 { return .wrong("database", "\(text) is too old", "use version 13 or later") }
        if !found.isEncrypted, !settings.hosts.allSatisfy({ $0.name.hasPrefix("/") || RequestHost.isLoopback($0.name) }) {
            return .advice("database", "\(text), not encrypted", "add sslmode=verify-full and sslrootcert to DATABASE_URL")
        }
        return .good("database", "\(text)\(found.isEncrypted ? ", encrypted" : "")")
    }

    /// Checks whether the tables belong to this version and are complete.
    private func examineTables(_ found: PostgresInspection) -> Finding {
        guard !found.isIncompleteCopy else {
            return .wrong("tables", "contain only a part of the data from SQLite", "continue 'holdfast migrate copy'")
        }
        switch found.pendingSteps {
        case nil:
            return .wrong("tables", "belong to a newer version of holdfast", "run that version, or restore an earlier backup")
        case []?: return .good("tables", "are up to date")
        case let steps?:
            let remedy = "make a backup; 'holdfast migrate' or the next 'holdfast serve' migrates them"
            return .advice("tables", "are \(steps.count) steps behind this version", remedy)
        }
    }

    /// Checks the settings that are needed so that a crash or a failover loses no committed data.
    private func examineDurability(_ found: PostgresInspection) -> Finding {
        guard found.fsync == "on", found.fullPageWrites == "on" else {
            let text = "fsync is \(found.fsync), full_page_writes is \(found.fullPageWrites)"
            return .wrong("durability", text, "set both to on: a crash can destroy the database")
        }
        guard found.synchronousCommit != "off" else {
            return .wrong("durability", "synchronous_commit is off", "set it to on: a crash can lose acknowledged data")
        }
        let isWeak = ["local", "remote_write"].contains(found.synchronousCommit)
        guard found.synchronousStandbys.isEmpty || !isWeak else {
            let text = "synchronous_commit is \(found.synchronousCommit): a failover can lose acknowledged data"
            return .advice("durability", text, "set synchronous_commit=on")
        }
        return .good("durability", "every commit is on disk (synchronous_commit=\(found.synchronousCommit))")
    }

    /// Checks that the database admits the connections of all servers, plus one more server during an update.
    private func examineConnections(_ found: PostgresInspection, _ settings: PostgresSettings) -> Finding {
        let servers = max(1, found.servers.count)
        // During an update, the new server starts before the old one ends, so one more server needs connections.
        let needed = (servers + 1) * settings.maximum
        let text = "\(servers) servers and one more need \(needed) of \(found.connections) connections"
        guard needed > found.connections else { return .good("connections", text) }
        return .wrong("connections", text, "raise max_connections, lower pool_max in DATABASE_URL, or put PgBouncer between")
    }

    /// Checks the delay of each standby, and whether a required synchronous standby is connected.
    private func examineStandbys(_ found: PostgresInspection) -> [Finding] {
        var findings = found.standbys.map { standby -> Finding in
            let text = "\(standby.name) (\(standby.state)) is \(String(format: "%.1f", standby.secondsBehind)) s behind"
            return standby.secondsBehind < 10
                ? .good("standby", text) : .advice("standby", text, "check its disk and the network")
        }
        if !found.synchronousStandbys.isEmpty, !found.standbys.contains(where: { ["sync", "quorum"].contains($0.state) }) {
            let remedy = "all writes wait for one: start a standby, or clear synchronous_standby_names"
            findings.append(.wrong("standby", "no synchronous standby is connected", remedy))
        }
        return findings
    }

    /// Checks for old transactions and invalid indexes.
    private func examineMaintenance(_ found: PostgresInspection) -> [Finding] {
        var findings: [Finding] = []
        if found.oldestTransaction > 600 {
            let text = "a transaction has been open for \(Int(found.oldestTransaction / 60)) min"
            findings.append(.advice("maintenance", text, "end it (pg_stat_activity): until then, dead rows can't be removed"))
        }
        if let index = found.invalidIndexes.first {
            findings.append(.advice("maintenance", "the index \(index) is invalid", "REINDEX INDEX CONCURRENTLY \(index)"))
        }
        return findings
    }

    /// Returns the servers whose clocks differ from the clock of the database by more than 5 s.
    private func examineClocks(_ found: PostgresInspection) -> [Finding] {
        found.servers.filter { abs($0.clockAhead) > 5 }.map { server in
            let direction = server.clockAhead > 0 ? "ahead of" : "behind"
            let text = "of \(server.name) is \(Int(abs(server.clockAhead))) s \(direction) the database's"
            return .advice("clock", text, "synchronize it by NTP: logs and certificates depend on it")
        }
    }
}
