import AccountContract
import AsyncHTTPClient
public import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import PasswordHashes
import Synchronization
import TestSupport

/// A separate `holdfast serve` with a new data folder, whose emails go to its mailbox folder, for the duration of an attack.
///
/// It trusts the loopback network as its proxy: a call sets its client address (``call(_:_:body:from:headers:timeout:)``).
public final class AttackedServer: Sendable {
    /// A server that did not start, or a command that failed.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The response to a call.
    public struct Response: Sendable {
        /// 0 if there was no response in time.
        public let status: Int
        /// The header fields; names are in lower case.
        public let fields: [String: String]
        /// The body.
        public let body: [UInt8]
    }

    /// The password of the accounts of ``people(_:)``.
    public static let password = "correct horse battery"

    /// The folder that holds the data.
    public let folder: URL
    private let binary: String
    private let settings: [String: String]
    private let client: HTTPClient
    /// Whether the server runs only on its ``ProcessorShare``.
    let hasOwnProcessors: Bool
    private let running = Mutex<(process: Process, url: URL)?>(nil)

    private init(binary: String, settings: [String: String], folder: URL, lanes: Int, hasOwnProcessors: Bool) {
        self.hasOwnProcessors = hasOwnProcessors
        self.binary = binary
        self.settings = settings
        self.folder = folder
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = lanes
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Runs a server for the duration of a closure.
    /// - Parameters:
    ///   - binary: The path of `holdfast`.
    ///   - settings: Its environment in addition to the common one: development, the mailbox folder, the loopback network as
    ///     trusted proxy.
    ///   - lanes: The number of connections that calls share.
    ///   - hasOwnProcessors: Whether it runs only on its ``ProcessorShare``.
    public static func serving<Result>(
        binary: String,
        settings: [String: String] = [:],
        lanes: Int = 64,
        hasOwnProcessors: Bool = false,
        _ body: (AttackedServer) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-attack-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = AttackedServer(
            binary: binary,
            settings: settings,
            folder: folder,
            lanes: lanes,
            hasOwnProcessors: hasOwnProcessors
        )
        let result: Swift.Result<Result, any Error>
        do {
            try await server.start()
            result = .success(try await body(server))
        } catch {
            result = .failure(error)
        }
        await server.stop(SIGKILL)
        try await server.client.shutdown()
        return try result.get()
    }

    /// The URL that the server listens at.
    public var url: URL {
        get throws {
            guard let url = running.withLock({ $0?.url }) else { throw Failure(description: "the server does not run") }
            return url
        }
    }

    /// Its process id.
    public var processID: pid_t? { running.withLock { $0?.process.processIdentifier } }

    /// Its resident memory in bytes; 0 where there is no `/proc`.
    public var residentMemory: Int {
        guard let processID, let text = try? String(contentsOfFile: "/proc/\(processID)/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Starts the server on a free port.
    public func start() async throws {
        let process = process(["serve", "--create", "--port", "0"])
        let output = Pipe.make()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try await onThread { [hasOwnProcessors] in
            if hasOwnProcessors { ProcessorShare.server.use() }
            try process.start()
        }
        guard let line = await output.fileHandleForReading.lines.first(where: { _ in true }), let url = URL(string: line) else {
            throw Failure(description: "the server did not start")
        }
        running.withLock { $0 = (process, url) }
    }

    /// Ends the server with a signal, and waits until it has ended.
    public func stop(_ signal: Int32 = SIGTERM) async {
        guard
            let process = running.withLock({ running in
                defer { running = nil }
                return running?.process
            })
        else { return }
        if process.isRunning { kill(process.processIdentifier, signal) }
        _ = try? await onThread { process.waitForEnd() }
    }

    /// Stops the server and starts it again.
    public func restart() async throws {
        await stop()
        try await start()
    }

    /// Runs another command on the same data, such as `users list`.
    /// - Returns: The command's output.
    @discardableResult
    public func run(_ arguments: [String]) async throws -> String {
        let process = process(arguments)
        let result = try await process.result()
        guard result.status == 0 else {
            let command = arguments.joined(separator: " ")
            throw Failure(description: "\(command) ended with \(result.status): \(result.output)\(result.errors)")
        }
        return result.output
    }

    /// Imports accounts with the password ``password``.
    /// - Returns: Their addresses.
    public func people(_ count: Int) async throws -> [String] {
        let stem = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let addresses = (0..<count).map { "\(stem)-\($0)@example.com" }
        let hash = try Argon2id().hash(Self.password)
        let lines = addresses.map { #"{"email":"\#($0)","first_name":"Ana","password_hash":"\#(hash)"}"# }
        let file = folder.appending(path: "\(stem).jsonl")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        try await run(["users", "import", file.path])
        return addresses
    }

    /// Makes a call.
    /// - Parameters:
    ///   - body: JSON; no body if `nil`.
    ///   - client: The client address of the call.
    ///   - fields: Additional header fields.
    ///   - timeout: The time after which the call ends with status 0.
    public func call(
        _ method: String = "POST",
        _ path: String,
        body: String? = nil,
        from client: String? = nil,
        fields: [String: String] = [:],
        timeout: Duration = .seconds(30)
    ) async throws -> Response {
        var request = HTTPClientRequest(url: try url.absoluteString + path)
        request.method = .init(rawValue: method)
        if let client { request.headers.add(name: "X-Forwarded-For", value: client) }
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        do {
            let response = try await self.client.execute(request, deadline: .now() + TimeAmount(timeout))
            let bytes = try await response.body.collect(upTo: 1 << 20)
            let fields = response.headers.map { ($0.name.lowercased(), $0.value) }
            return Response(
                status: Int(response.status.code),
                fields: Dictionary(fields) { "\($0), \($1)" },
                body: Array(buffer: bytes)
            )
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return Response(status: 0, fields: [:], body: [])
        }
    }

    /// Makes many calls, with a bounded number of concurrent ones.
    /// - Parameter call: Makes the call with a number and returns its status.
    public func tally(
        _ count: Int,
        atOnce lanes: Int = 32,
        _ call: @escaping @Sendable (Int) async throws -> Int
    ) async throws -> Tally {
        try await withThrowingTaskGroup(of: Int.self) { group in
            var tally = Tally()
            for number in 0..<count {
                if number >= lanes, let status = try await group.next() { tally.add(status) }
                group.addTask { try await call(number) }
            }
            for try await status in group { tally.add(status) }
            return tally
        }
    }

    /// Signs in.
    public func signIn(
        _ email: String,
        password: String = AttackedServer.password,
        from client: String? = nil,
        fields: [String: String] = [:]
    ) async throws -> Response {
        let body = #"{"email":"\#(email)","password":"\#(password)"}"#
        return try await call("POST", AccountPath.login, body: body, from: client, fields: fields)
    }

    /// Signs in, and retries after the returned delay while the server is busy.
    func patientSignIn(_ email: String, from client: String) async throws -> Response {
        var response = try await signIn(email, from: client)
        for _ in 0..<20 where response.status == 503 {
            let seconds = response.fields["retry-after"].flatMap { Int($0) } ?? 1
            try await Task.sleep(for: .seconds(max(1, min(60, seconds))))
            response = try await signIn(email, from: client)
        }
        return response
    }

    /// Returns the sign-ins per second for callers who send the next one as soon as one has succeeded.
    func signInsPerSecond(_ people: [String], seconds: Double) async throws -> Double {
        let begin = ContinuousClock.now
        let served = Guarded(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<12 {
                group.addTask {
                    while ContinuousClock.now - begin < .seconds(seconds) {
                        let person = people[Int.random(in: 0..<people.count)]
                        let status = try await self.signIn(person, from: ClientAddresses.network48(lane)).status
                        if status == 200 { served.withLock { $0 += 1 } }
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(served.current) / ((ContinuousClock.now - begin) / .seconds(1))
    }

    private func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: binary)
        process.arguments = arguments
        let usual = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "",
            "ENVIRONMENT": "development",
            "LOG_LEVEL": "critical",
            "TRUSTED_PROXIES": "127.0.0.0/8",
        ]
        process.environment = usual.merging(settings) { $1 }
        process.currentDirectoryURL = folder
        return process
    }
}

/// Client addresses for attacks.
public enum ClientAddresses {
    /// Returns an address in a separate /64 network, with a separate /48 for each 65,536 of them: the documentation network
    /// 2001:db8::/32.
    public static func network64(_ number: Int) -> String {
        "2001:db8:\(String(number >> 16 & 0xFFFF, radix: 16)):\(String(number & 0xFFFF, radix: 16))::1"
    }

    /// Returns an address in a separate /48 network.
    public static func network48(_ number: Int) -> String { "2001:db8:\(String(number & 0xFFFF, radix: 16))::1" }

    /// Returns an IPv4 address in a separate /24 network, of the block for measurements, 198.18.0.0/15, and then of 10.0.0.0/8.
    public static func network24(_ number: Int) -> String {
        number < 512 ? "198.\(18 + number / 256).\(number % 256).7" : "10.\((number - 512) / 256 % 256).\((number - 512) % 256).7"
    }
}
