import AccountServer
import Foundation
import HTTPTypes
import HoldfastURLSession
import PostgresDriver
import PostgresStores
import ResilientHTTP
import Synchronization

/// A cluster in a temporary folder: PostgreSQL, Redis and three servers on free ports of the loopback interface.
final class DemoCluster: Sendable {
    /// `quota` is the number of reset links that one client can validate on all servers together. While Redis is unavailable, each server
    /// admits `share` percent of this quota.
    static let quota = 60, share = 33

    /// The temporary folder with all data and logs. Only its owner can list it.
    let folder: URL
    /// The addresses of the servers.
    let servers: [URL]
    /// The emails of all servers.
    let mailbox: DemoMailbox
    /// The ports of the three servers, of PostgreSQL and of Redis, in this order.
    private let ports: [Int]
    /// The password of the database, which only this demo knows.
    private let password = UUID().uuidString
    /// The secret that the three servers share.
    private let secret = UUID().uuidString + UUID().uuidString
    /// The running processes.
    private let parts = Mutex<[Part: DemoProcess]>([:])
    private let transport = URLSessionTransport()

    /// A process of the cluster that the demo can kill or suspend.
    enum Part: Hashable, CustomStringConvertible {
        case postgres, redis, server(Int)

        var description: String {
            switch self {
            case .postgres: "PostgreSQL"
            case .redis: "Redis"
            case .server(let number): "server \(number)"
            }
        }
    }

    /// Creates the folder and chooses free ports. No process is started.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-demo-\(UUID().uuidString.prefix(8))")
        // If the demo runs as root, PostgreSQL runs as another user, who must be able to enter the folder.
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o711]
        )
        mailbox = try DemoMailbox(folder: folder.appending(path: "mailbox"))
        ports = try LoopbackPorts.free(5)
        servers = ports.prefix(3).compactMap { URL(string: "http://127.0.0.1:\($0)") }
    }

    /// The address of the database with its password.
    private var databaseURL: String { "postgres://holdfast:\(password)@127.0.0.1:\(ports[3])/postgres?sslmode=disable" }

    // MARK: - Starting and stopping

    /// Creates the database and starts all parts.
    func start() async throws {
        Terminal.say("Creating a database in \(folder.path)")
        try await createDatabase()
        try await start(.postgres)
        try await start(.redis)
        for number in 1...servers.count { try await start(.server(number)) }
    }

    /// Creates an empty PostgreSQL database. The password is in a file only while `initdb` runs.
    private func createDatabase() async throws {
        let data = folder.appending(path: "postgres")
        let passwordFile = folder.appending(path: "password")
        try FileManager.default.createDirectory(
            at: data,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        let isWritten = FileManager.default.createFile(
            atPath: passwordFile.path,
            contents: Data(password.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        try expect(isWritten, "\(passwordFile.path) can't be written")
        if getuid() == 0 {
            guard let user = getpwnam("postgres")?.pointee else { throw DemoTools.Missing(tool: "postgres") }
            for path in [data.path, passwordFile.path] { chown(path, user.pw_uid, user.pw_gid) }
        }
        let initdb = try await DemoProcess.start(
            [
                try DemoTools.path(of: "initdb"), "-D", data.path, "--username=holdfast", "--pwfile=\(passwordFile.path)",
                "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync",
            ],
            isDatabase: true,
            in: folder,
            log: log(of: .postgres)
        )
        guard try await initdb.ended() == 0 else { throw broken(.postgres, "the database could not be created") }
        try FileManager.default.removeItem(at: passwordFile)
    }

    /// Starts a part, and returns when it is ready.
    /// - Returns: The time until the part was ready.
    @discardableResult
    func start(_ part: Part) async throws -> Duration {
        let start = ContinuousClock.now
        switch part {
        case .postgres:
            let command = [
                try DemoTools.path(of: "postgres"), "-D", folder.appending(path: "postgres").path, "-p", "\(ports[3])",
                "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "synchronous_commit=on",
            ]
            try await run(part, command, isDatabase: true)
        case .redis:
            let command = [
                try DemoTools.path(of: "redis-server"), "--bind", "127.0.0.1", "--port", "\(ports[4])", "--save", "",
                "--appendonly", "no", "--maxmemory-policy", "noeviction", "--dir", folder.path,
            ]
            try await run(part, command)
        case .server(let number): try await startServer(number)
        }
        try await wait(120, "\(part) was not ready") { try await self.isReady(part) }
        return ContinuousClock.now - start
    }

    /// Starts a server with its data folder. All servers use one mailbox, so that the demo can count the emails.
    private func startServer(_ number: Int) async throws {
        let data = folder.appending(path: "server-\(number)")
        if !FileManager.default.fileExists(atPath: data.path) {
            try FileManager.default.createDirectory(
                at: data,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
            // All servers store their emails in one mailbox.
            try FileManager.default.createSymbolicLink(
                at: data.appending(path: "mailbox"),
                withDestinationURL: folder.appending(path: "mailbox")
            )
        }
        guard let executable = Bundle.main.executablePath else {
            throw DemoStory.Unexpected(description: "the path of holdfast is not known")
        }
        var environment = [
            "ENVIRONMENT": "development", "DATABASE_URL": databaseURL, "VALKEY_URL": "redis://127.0.0.1:\(ports[4])",
            "VALKEY_FALLBACK": "local/\(Self.share)", "HOLDFAST_SECRET": secret, "LOG_LEVEL": "warning",
            "PASSWORD_RESET_BASE_URL": servers[0].absoluteString, "LIMIT_TOKEN_IP": "\(Self.quota)/3600",
            // An attempt during a failure counts even if its client gets no confirmation, and then the client repeats the request.
            "LIMIT_RESET_EMAIL": "20/3600",
        ]
        // All clients of the demo have the same address, so the limits by address are turned off.
        for limit in ["REGISTER_IP", "LOGIN_IP", "REFRESH_IP", "RESET_IP", "RESET_GLOBAL"] {
            environment["LIMIT_\(limit)"] = "off"
        }
        let command = [executable, "serve", "--port", "\(ports[number - 1])", "--data", data.path]
        try await run(.server(number), command, environment: environment, in: data)
    }

    /// Starts the process of a part, and stores it.
    private func run(
        _ part: Part,
        _ command: [String],
        isDatabase: Bool = false,
        environment: [String: String] = [:],
        in place: URL? = nil
    ) async throws {
        let process = try await DemoProcess.start(
            command,
            isDatabase: isDatabase,
            environment: environment,
            in: place ?? folder,
            log: log(of: part)
        )
        parts.withLock { $0[part] = process }
    }

    /// Ends a part with a signal, and returns when it has ended.
    func stop(_ part: Part, _ signal: Int32) async {
        guard let process = parts.withLock({ $0.removeValue(forKey: part) }) else { return }
        await process.end(signal)
    }

    /// Suspends a part with its child processes. The connections of the part stay open, but the part doesn't respond.
    func suspend(_ part: Part) {
        guard let process = parts.withLock({ $0[part] }) else { return }
        process.signal(SIGSTOP)
        for child in process.children { kill(child, SIGSTOP) }
    }

    /// Resumes a suspended part.
    func resume(_ part: Part) {
        guard let process = parts.withLock({ $0[part] }) else { return }
        for child in process.children { kill(child, SIGCONT) }
        process.signal(SIGCONT)
    }

    /// Ends all parts and removes the folder.
    func stop() async {
        for number in 1...servers.count { await stop(.server(number), SIGKILL) }
        await stop(.redis, SIGKILL)
        resume(.postgres)
        await stop(.postgres, SIGQUIT)
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: - Checking

    /// Returns whether a part is ready: PostgreSQL responds to a query, the output of the running process of Redis reports that it accepts
    /// connections, or a server responds with 200 at `/health/ready`.
    func isReady(_ part: Part) async throws -> Bool {
        guard let process = parts.withLock({ $0[part] }), process.isRunning else { throw broken(part, "\(part) ended") }
        switch part {
        case .postgres:
            let settings = try PostgresSettings(url: databaseURL, requiresVerifiedTLS: false)
            return (try? await PostgresDeployment.withDatabase(settings) { try await $0.ping() }) != nil
        case .redis: return try process.output.contains("Ready to accept connections")
        case .server(let number): return await get("/health/ready", number)?.status == 200
        }
    }

    /// Returns the numbers of the servers that are ready.
    func readyServers() async -> Set<Int> {
        await withTaskGroup(of: Int?.self) { checks in
            for number in 1...servers.count {
                checks.addTask { await self.get("/health/ready", number)?.status == 200 ? number : nil }
            }
            return await checks.reduce(into: []) { if let number = $1 { $0.insert(number) } }
        }
    }

    /// Returns whether all servers have a connection to Redis.
    func areLimitsShared() async -> Bool {
        for number in 1...servers.count {
            let text = await get("/metrics", number)?.text ?? ""
            guard text.contains("\nholdfast_valkey_connected 1\n") else { return false }
        }
        return true
    }

    /// Returns the response of one server; `nil` if it doesn't respond within four seconds.
    private func get(_ path: String, _ number: Int) async -> (status: Int, text: String)? {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(ports[number - 1])", path: path)
        guard let (response, body) = try? await transport.send(request, body: nil, timeout: .seconds(4)),
            let bytes = try? await body.collect(upTo: 1_024 * 1_024).bytes
        else { return nil }
        return (response.status.code, String(decoding: bytes, as: UTF8.self))
    }

    // MARK: - Failing

    /// Returns the file with the output of a part.
    private func log(of part: Part) -> URL {
        switch part {
        case .postgres: folder.appending(path: "postgres.log")
        case .redis: folder.appending(path: "redis.log")
        case .server(let number): folder.appending(path: "server-\(number).log")
        }
    }

    /// Returns an error whose description is a text and the last ten lines of a part's log.
    private func broken(_ part: Part, _ text: String) -> DemoStory.Unexpected {
        let lines = (try? String(contentsOf: log(of: part), encoding: .utf8))?.split(separator: "\n").suffix(10) ?? []
        return .init(description: ([text + "; the end of its log:"] + lines).joined(separator: "\n"))
    }
}

/// Waits until a condition is true.
/// - Returns: The duration of the wait.
/// - Throws: ``DemoStory/Unexpected`` if the condition is still false after the given seconds.
@discardableResult
func wait(_ seconds: Int, _ failure: String, until condition: () async throws -> Bool) async throws -> Duration {
    let start = ContinuousClock.now
    while try await !condition() {
        try expect(ContinuousClock.now - start < .seconds(seconds), "\(failure) within \(seconds) s")
        try await Task.sleep(for: .milliseconds(20))
    }
    return ContinuousClock.now - start
}
