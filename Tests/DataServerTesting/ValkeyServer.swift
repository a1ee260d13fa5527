import Foundation
import Synchronization
import TestSupport

/// A Redis server for a test, on the loopback, which stores nothing on disk.
package final class ValkeyServer: Sendable {
    package let port: Int
    private let folder: URL
    private let options: [String]
    private let process = Mutex<ServerProcess?>(nil)

    private init(port: Int, folder: URL, options: [String]) {
        (self.port, self.folder, self.options) = (port, folder, options)
    }

    /// Runs a server for the duration of a closure.
    /// - Parameter options: Further arguments, such as `--maxmemory 2mb`.
    package static func run<Result>(
        _ options: [String] = [],
        _ body: (ValkeyServer) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vk-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = ValkeyServer(port: try freePort(), folder: folder, options: options)
        defer { server.kill() }
        try await server.start()
        return try await body(server)
    }

    /// The server that the tests of this process share, each with its own keys. It ends with the process.
    package static func shared() async throws -> ValkeyServer { try await sharedServer.value }

    private static let sharedServer = Task {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vk-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let server = ValkeyServer(port: try freePort(), folder: folder, options: [])
        try await server.start()
        return server
    }

    /// The URL of the server.
    package var url: String { "valkey://127.0.0.1:\(port)" }

    /// The output of the server.
    package var log: String { (try? String(contentsOf: logFile, encoding: .utf8)) ?? "" }

    private var logFile: URL { folder.appending(path: "log") }

    /// Starts the server on the same port as before, and returns when it replies.
    package func start() async throws {
        let arguments = [
            "--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder.path, "--save", "", "--appendonly", "no",
            "--daemonize", "no",
        ]
        let started = try ServerProcess.start("redis-server", arguments + options, log: logFile)
        process.withLock { $0 = started }
        try await waitUntil("redis-server starts: \(logFile.path)") {
            guard started.isRunning else { throw TestFailure("redis-server did not start: \(log)") }
            guard isListening(port) else { return false }
            return try await hasStarted()
        }
    }

    /// Sends a signal, such as `SIGSTOP`.
    package func signal(_ signal: Int32) { process.withLock { $0 }?.signal(signal) }

    /// Kills the server and waits until it is gone.
    package func kill() { process.withLock { $0 }?.stop() }

    /// Runs `redis-cli` with arguments and returns what it prints.
    @discardableResult
    package func cli(_ arguments: String...) async throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["redis-cli", "-h", "127.0.0.1", "-p", "\(port)"] + arguments
        return try await process.result().output.trimmingCharacters(in: .newlines)
    }

    private func hasStarted() async throws -> Bool {
        let reply = try await cli("PING")
        return reply == "PONG" || reply.hasPrefix("NOAUTH")
    }
}
