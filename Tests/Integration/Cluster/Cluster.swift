import DataServerTesting
import Foundation
import MailServerTesting
import Synchronization
import TestSupport

/// Several `holdfast serve` on one PostgreSQL and one Valkey, each with its own folder and port, which send their emails to one mail
/// server.
///
/// `HOLDFAST_BINARY` names another binary, such as a release.
final class Cluster: Sendable {
    let mails: MailServer
    private let members: [Member]

    /// One of the servers.
    private final class Member: Sendable {
        let port: Int
        let folder: URL
        let process = Mutex<ServerProcess?>(nil)

        init(port: Int, folder: URL) {
            (self.port, self.folder) = (port, folder)
        }

        var log: URL { folder.appending(path: "log") }
    }

    private let environment: [String: String]

    private init(_ count: Int, environment: [String: String], mails: MailServer, folder: URL) throws {
        (self.environment, self.mails) = (environment, mails)
        members = try (0..<count).map { number in
            let folder = folder.appending(path: "server-\(number)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return Member(port: try freePort(), folder: folder)
        }
    }

    /// Runs servers for the duration of a closure.
    /// - Parameters:
    ///   - count: The number of servers.
    ///   - database: The URL of the database.
    static func run(_ count: Int = 3, database: String, _ body: (Cluster) async throws -> Void) async throws {
        // Shadow mode counts requests and refuses none.
        let limits = ["VALKEY_URL": try await ValkeyServer.shared().url, "RATE_LIMIT_MODE": "shadow"]
        try await run(count, database: database, settings: limits, body)
    }

    /// Runs a server without Valkey for the duration of a closure.
    static func runAlone(database: String, _ body: (Cluster) async throws -> Void) async throws {
        try await run(1, database: database, settings: ["RATE_LIMIT_MODE": "off"], body)
    }

    private static func run(
        _ count: Int,
        database: String,
        settings: [String: String],
        _ body: (Cluster) async throws -> Void
    ) async throws {
        try await MailServer.run { mails in
            try await withFolder { folder in
                let usual = [
                    "ENVIRONMENT": "development", "DATABASE_URL": database,
                    "HOLDFAST_SECRET": UUID().uuidString,
                    "LIMIT_RESET_EMAIL": "off", "PASSWORD_RESET_MAX_ATTEMPTS_PER_HOUR": "10000",
                    "MAX_CONNECTIONS_PER_CLIENT": "2000",
                    "EMAIL_HOST": "localhost", "EMAIL_PORT": "\(mails.port)", "EMAIL_FROM": "Crowns <crowns@example.com>",
                ]
                let environment = TestStores.smallLimits.merging(usual) { $1 }.merging(settings) { $1 }
                let cluster = try Cluster(count, environment: environment, mails: mails, folder: folder)
                defer { for member in cluster.members { member.process.withLock { $0 }?.stop() } }
                // The first server creates the tables.
                for number in 0..<count { try await cluster.start(number) }
                try await body(cluster)
                for number in 0..<count where cluster.hasCrashed(number) {
                    throw TestFailure("server \(number) has ended by itself: \(cluster.endOfLog(number))")
                }
            }
        }
    }

    // MARK: - Servers

    var count: Int { members.count }

    /// The URLs of the servers, running or not.
    var urls: [URL] { members.indices.compactMap { URL(string: "http://127.0.0.1:\(members[$0].port)") } }

    /// Starts a server on its port. Returns when it is live.
    func start(_ number: Int) async throws {
        let member = members[number]
        let binary = try ProcessInfo.processInfo.environment["HOLDFAST_BINARY"] ?? Binary.path(of: "holdfast")
        let arguments = ["serve", "--port", "\(member.port)", "--data", member.folder.appending(path: "data").path]
        let process = try ServerProcess.start(binary, arguments, environment: environment, log: member.log)
        member.process.withLock { $0 = process }
        try await waitUntil("server \(number) starts: \(endOfLog(number))") {
            guard process.isRunning else { throw TestFailure("server \(number) has ended: \(endOfLog(number))") }
            return await status("/health/live", of: number) == 200
        }
    }

    /// Kills a server.
    /// - Returns: Its process id.
    @discardableResult
    func kill(_ number: Int) throws -> Int32 {
        let process = members[number].process.withLock { process in
            defer { process = nil }
            return process
        }
        guard let process else { throw TestFailure("server \(number) does not run") }
        process.stop()
        return process.id
    }

    /// Runs a command with the settings of the servers.
    func command(_ arguments: [String]) async throws -> ProcessResult {
        try await Binary.run(arguments, environment: environment, in: members[0].folder)
    }

    /// Returns whether each server reports that it is ready.
    func readiness() async -> [Bool] {
        await withTaskGroup(of: (Int, Bool).self) { group in
            for number in members.indices { group.addTask { (number, await self.status("/health/ready", of: number) == 200) } }
            return await group.reduce(into: Array(repeating: false, count: count)) { $0[$1.0] = $1.1 }
        }
    }

    /// Waits until all servers are ready, or until none is.
    func wait(untilReady isReady: Bool) async throws {
        try await waitUntil("readiness is \(isReady)") {
            await readiness().allSatisfy { $0 == isReady }
        }
    }

    /// The number of emails that servers have released because they considered another server stopped. Each of them may have been sent
    /// twice. If the machine has paused for ten seconds, servers also consider running servers stopped.
    var releasedEmails: Int {
        members.reduce(0) { sum, member in
            let log = (try? String(contentsOf: member.log, encoding: .utf8)) ?? ""
            let lines = log.matches(of: /Emails of a stopped server released.* mail\.count=(\d+)/)
            return lines.reduce(sum) { $0 + (Int($1.1) ?? 0) }
        }
    }

    private func status(_ path: String, of number: Int) async -> Int? {
        try? await RawHTTP.send("GET", path, to: urls[number]).status
    }

    private func hasCrashed(_ number: Int) -> Bool {
        members[number].process.withLock { $0 }.map { !$0.isRunning } ?? false
    }

    private func endOfLog(_ number: Int) -> String {
        String(((try? String(contentsOf: members[number].log, encoding: .utf8)) ?? "").suffix(2_000))
    }
}

/// Returns the number of rounds of a fault test: a few, or `HOLDFAST_ROUNDS`.
func rounds(_ few: Int) -> Int {
    ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? few
}
