package import Foundation
import Synchronization
import TestSupport

/// A PostgreSQL server for tests: in a temporary folder, on a free port of the loopback. It ends with the process that started
/// it.
///
/// The user is `app`, who needs no password.
package final class PostgresServer: Sendable {
    /// The port that the server listens on.
    package let port: Int
    /// The folder with its data, log and socket.
    package let folder: URL
    private let process = Mutex<Int32?>(nil)
    private static let count = Mutex(0)

    private init(folder: URL, port: Int) {
        (self.folder, self.port) = (folder, port)
    }

    // MARK: - Starting

    /// The server that all tests of this process share. Each test creates its own database. The server is never stopped.
    package static func shared() async throws -> PostgresServer { try await sharedServer.value }

    private static let sharedServer = Task { try await start() }

    /// The template folder that each server copies, because `initdb` takes seconds.
    private static let template = Task {
        let folder = try PostgresProcesses.folder.get().appending(path: "t")
        try await PostgresProcesses.run(
            "initdb",
            ["-D", folder.path, "-U", "app", "-A", "trust", "-N", "--locale=C", "--encoding=UTF8"]
        )
        return folder
    }

    /// Starts a server.
    /// - Parameter settings: Lines for `postgresql.conf`.
    package static func start(_ settings: [String] = []) async throws -> PostgresServer {
        let server = try await make(from: template.value)
        try server.configure(settings)
        try await server.start()
        return server
    }

    private static func make(from template: URL?) async throws -> PostgresServer {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let folder = try PostgresProcesses.folder.get().appending(path: "s\(number)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try PostgresProcesses.give(folder)
        let server = PostgresServer(folder: folder, port: try freePort())
        if let template { try await PostgresProcesses.run("/bin/cp", ["-Rp", template.path, server.data.path]) }
        return server
    }

    private var data: URL { folder.appending(path: "d") }

    /// Adds lines to the configuration, which the next start reads.
    package func configure(_ settings: [String]) throws {
        let lines =
            [
                "port = \(port)", "listen_addresses = '127.0.0.1'", "unix_socket_directories = '\(folder.path)'",
                "shared_buffers = 32MB", "max_connections = 400", "wal_level = replica", "max_wal_senders = 4",
                "hot_standby = on",
            ] + settings
        let handle = try FileHandle(forWritingTo: data.appending(path: "postgresql.conf"))
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(("\n" + lines.joined(separator: "\n") + "\n").utf8))
    }

    /// Starts the server again after ``stop(_:)``. Returns when it accepts connections.
    package func start() async throws {
        // A killed server leaves this file behind.
        try? FileManager.default.removeItem(at: status)
        try PostgresProcesses.serve(
            [PostgresProcesses.program("postgres"), "-D", data.path],
            log: folder.appending(path: "log")
        )
        try await waitUntil("PostgreSQL starts: \(folder.path)/log") { self.isReady }
        let id = statusLines.first.flatMap { Int32($0) }
        process.withLock { $0 = id }
    }

    private var status: URL { data.appending(path: "postmaster.pid") }
    private var statusLines: [String] {
        ((try? String(contentsOf: status, encoding: .utf8)) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
    private var isReady: Bool { statusLines.count > 7 && ["ready", "standby"].contains(statusLines[7]) }

    // MARK: - Using

    /// The URL of a database.
    package func url(_ database: String = "postgres", port: Int? = nil, _ parameters: String = "") -> String {
        "postgres://app@127.0.0.1:\(port ?? self.port)/\(database)" + (parameters.isEmpty ? "" : "?\(parameters)")
    }

    /// Creates a database.
    /// - Parameter other: The name of a database to copy, to which no client is connected. If `nil`, the new database is empty.
    /// - Returns: Its name.
    package func createDatabaseName(copying other: String? = nil) async throws -> String {
        let name = "d" + UUID().uuidString.replacing("-", with: "").lowercased()
        try await sql("CREATE DATABASE \(name)" + (other.map { " TEMPLATE \($0)" } ?? ""))
        return name
    }

    /// Creates an empty database.
    /// - Returns: Its URL.
    package func createDatabase() async throws -> String { url(try await createDatabaseName()) }

    /// Executes SQL with `psql`.
    /// - Returns: The rows as text, one per line, columns separated by `|`.
    @discardableResult
    package func sql(_ text: String, database: String = "postgres") async throws -> String {
        try await PostgresProcesses.run(
            "psql",
            ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", "\(port)", "-U", "app", "-d", database]
                + ["-c", text]
        )
    }

    // MARK: - Failing

    /// Ends the server and waits until it is gone: `SIGTERM` waits for clients, `SIGINT` ends their connections, `SIGQUIT` also skips the
    /// checkpoint, `SIGKILL` is a crash of the whole machine.
    package func stop(_ signal: Int32 = SIGINT) async throws {
        guard let id = process.withLock({ $0 }) else { return }
        var children: [Int32] = []
        if signal == SIGKILL {
            // A stopped server starts no further children.
            kill(id, SIGSTOP)
            children = try await PostgresProcesses.children(of: id)
        }
        kill(id, signal)
        for child in children { kill(child, signal) }
        // The next start fails while a child still uses the shared memory. On a busy machine, a killed child takes a while to end.
        try await waitUntil("PostgreSQL stops") {
            kill(id, 0) != 0 && !children.contains { PostgresProcesses.isRunning($0) }
        }
        process.withLock { $0 = nil }
    }

    /// Stops the server in order and starts it again on the same port.
    package func restart() async throws {
        try await stop()
        try await start()
    }

    /// Stops the server and all its children with `SIGSTOP`: connections stay open, the system accepts new ones, and no process
    /// responds.
    package func lock() async throws {
        guard let id = process.withLock({ $0 }) else { return }
        kill(id, SIGSTOP)
        for child in try await PostgresProcesses.children(of: id) { kill(child, SIGSTOP) }
    }

    /// Continues a server that ``lock()`` has stopped.
    package func thaw() async throws {
        guard let id = process.withLock({ $0 }) else { return }
        for child in try await PostgresProcesses.children(of: id) { kill(child, SIGCONT) }
        kill(id, SIGCONT)
    }

    // MARK: - Standby

    /// Starts a synchronous standby of this server: a commit returns when it is on the disks of both.
    package func addStandby() async throws -> PostgresServer {
        let standby = try await Self.make(from: nil)
        try await PostgresProcesses.run(
            "pg_basebackup",
            ["-D", standby.data.path, "-R", "-X", "stream", "-c", "fast", "-C", "-S", "s1"]
                + ["-d", "host=127.0.0.1 port=\(port) user=app application_name=s1"]
        )
        try standby.configure(["primary_conninfo = 'host=127.0.0.1 port=\(port) user=app application_name=s1'"])
        // PostgreSQL reads the file of pg_basebackup last; the standby's own file has another name.
        let generated = standby.data.appending(path: "postgresql.auto.conf")
        let kept = try String(contentsOf: generated, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("primary_conninfo") }
        try Data((kept.joined(separator: "\n") + "\n").utf8).write(to: generated)
        try await standby.start()
        // Set only now, because the copy would make the promoted server wait for another standby.
        try await sql("ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (s1)'")
        try await sql("SELECT pg_reload_conf()")
        try await waitUntil("the standby is synchronous") {
            try await self.sql("SELECT sync_state FROM pg_stat_replication") == "sync"
        }
        return standby
    }

    /// Makes a standby the primary.
    package func promote() async throws {
        try await sql("SELECT pg_promote(true, 10)")
    }
}
