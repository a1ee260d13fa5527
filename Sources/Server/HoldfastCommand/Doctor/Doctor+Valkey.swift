import AccountServer
import Foundation
import Logging
import ValkeyDriver

extension Doctor {
    /// Checks Valkey or Redis: the connection, the version, eviction, memory, and persistence.
    func examineSharedLimits() async -> [Finding] {
        guard let shared = configuration.sharedLimits else {
            guard configuration.database.isRemote, configuration.limitScope == .server else { return [] }
            let text = "apply per server: N servers admit up to N times each limit"
            return [.advice("limits", text, "set VALKEY_URL on all servers")]
        }
        let logger = Logger(label: "holdfast.valkey") { _ in SwiftLogNoOpLogHandler() }
        let client = ValkeyClient(address: shared.address, logger: logger)
        let findings: [Finding]
        do throws(ValkeyError) {
            findings = examine(try await ValkeyInspection(client, within: min(patience, .seconds(3))))
        } catch {
            let remedy = "check VALKEY_URL, the server and the network; until then, VALKEY_FALLBACK applies"
            findings = [.wrong("valkey", "\(error)", remedy)]
        }
        await client.close()
        return findings
    }

    /// Returns the findings about a server that responds.
    private func examine(_ found: ValkeyInspection) -> [Finding] {
        [examineServer(found), examineEviction(found), examineMemory(found), examinePersistence(found)]
    }

    /// Checks the role and the round-trip time. If a round trip takes more than 5 ms, decisions about rate limits often exceed their time
    /// limit.
    private func examineServer(_ found: ValkeyInspection) -> Finding {
        let text = "\(found.name) \(found.version), replies in \(String(format: "%.1f", found.milliseconds)) ms"
        if found.isReplica {
            return .wrong("valkey", "\(text): a replica, which accepts no writes", "use the primary in VALKEY_URL")
        }
        if found.milliseconds > 5 {
            return .advice("valkey", text, "place it near the servers: a decision that takes 10 ms is made without it")
        }
        return .good("valkey", text)
    }

    /// Checks that Valkey doesn't evict the counts of rate limits when the memory of Valkey is full.
    private func examineEviction(_ found: ValkeyInspection) -> Finding {
        guard found.policy == "noeviction" else {
            let text = "maxmemory-policy is \(found.policy): Valkey may evict the usage of limits"
            return .wrong("eviction", text, "set maxmemory-policy to noeviction")
        }
        return .good("eviction", "maxmemory-policy is noeviction")
    }

    /// Checks the used memory: above 80 % of the maximum is a warning.
    private func examineMemory(_ found: ValkeyInspection) -> Finding {
        let text = "\(found.usedMemory / 1_048_576) MiB used"
        guard found.maximumMemory > 0 else { return .good("limit memory", "\(text); maxmemory is not set") }
        let full = "\(text) of \(found.maximumMemory / 1_048_576) MiB"
        guard found.usedMemory * 5 > found.maximumMemory * 4 else { return .good("limit memory", full) }
        return .advice("limit memory", full, "raise maxmemory: when it is reached, VALKEY_FALLBACK applies")
    }

    /// Reports whether the counts of rate limits survive a restart of Valkey.
    private func examinePersistence(_ found: ValkeyInspection) -> Finding {
        found.isPersistent
            ? .good("persistence", "limits survive a restart of \(found.name)")
            : .good("persistence", "is off: after a restart of \(found.name), servers enforce their own counts")
    }
}

/// The state of a Valkey or Redis server. Reading the state changes nothing.
private struct ValkeyInspection {
    /// `Valkey` or `Redis`.
    let name: String
    /// The version that the server reports.
    let version: String
    /// The duration of a round trip, in milliseconds.
    let milliseconds: Double
    /// Whether the server is a replica, which accepts no writes.
    let isReplica: Bool
    /// `maxmemory-policy`.
    let policy: String
    /// The used and the maximum memory, in bytes. A maximum of 0 means that there is no limit.
    let usedMemory, maximumMemory: Int
    /// Whether the server writes its data to disk.
    let isPersistent: Bool

    /// Reads the state of a server with three commands.
    /// - Throws: `ValkeyError` if the server doesn't reply within the time, or if its reply has another format.
    init(_ client: ValkeyClient, within time: Duration) async throws(ValkeyError) {
        try await client.waitUntilReady(within: time)
        let start = ContinuousClock.now
        _ = try await client.send(ValkeyCommand("PING"), within: time)
        milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        guard case .text(let bytes) = try await client.send(ValkeyCommand("INFO"), within: time) else { throw .protocolViolation }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        let facts = Dictionary(
            lines.compactMap { line in
                line.firstIndex(of: ":").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
            }
        ) { first, _ in first }
        name = facts["valkey_version"] == nil ? "Redis" : "Valkey"
        version = facts["valkey_version"] ?? facts["redis_version"] ?? "of an unknown version"
        isReplica = facts["role"] == "slave"
        policy = facts["maxmemory_policy"] ?? "unknown"
        usedMemory = facts["used_memory"].flatMap { Int($0) } ?? 0
        maximumMemory = facts["maxmemory"].flatMap { Int($0) } ?? 0
        // Hosting providers often disable the command CONFIG, so its failure is not an error.
        let reply = try? await client.send(ValkeyCommand("CONFIG", "GET", "save"), within: time)
        var schedule: [UInt8] = []
        if case .array(let pair)? = reply, case .text(let text)? = pair.last { schedule = text }
        isPersistent = !schedule.isEmpty || facts["aof_enabled"] == "1"
    }
}
