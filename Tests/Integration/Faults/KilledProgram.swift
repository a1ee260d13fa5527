import DataServerTesting
import Foundation
import Synchronization
import Testing

/// A program that a test kills with SIGKILL and starts again, while clients send requests.
///
/// The program must listen on a free port and print its address on a line that starts with `http://`.
final class KilledProgram: Sendable {
    /// The number of the next request, and whether clients stop after their current one.
    private final class Progress: Sendable {
        let isLast = Atomic(false)
        let next = Atomic(0)
    }

    private struct State {
        var process: ServerProcess?
        var url: URL?
    }

    private let name: String
    private let arguments: [String]
    private let environment: [String: String]
    private let folder: URL
    private let state = Mutex(State())

    init(_ name: String, _ arguments: [String], environment: [String: String] = [:], in folder: URL) {
        (self.name, self.arguments, self.environment, self.folder) = (name, arguments, environment, folder)
    }

    /// The address of the running process; `nil` while there is none.
    var url: URL? { state.withLock(\.url) }

    /// Starts the program and waits until it listens.
    func start() async throws {
        let path = try Binary.path(of: name)
        let log = folder.appending(path: "log-\(UUID().uuidString)")
        let process = try ServerProcess.start(path, arguments, environment: environment, log: log)
        state.withLock { $0.process = process }
        for _ in 0..<12_000 {
            // The last line may be incomplete, so that its port would be wrong.
            let lines = (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n", omittingEmptySubsequences: false)
            if let lines, let line = lines.dropLast().first(where: { $0.hasPrefix("http://") }) {
                state.withLock { $0.url = URL(string: String(line)) }
                return
            }
            try #require(process.isRunning, "\(name) ended: \(lines ?? [])")
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("\(name) does not listen after two minutes")
    }

    /// Kills the process, and waits until it has ended.
    func kill() {
        let process = state.withLock { state in
            defer { state = State() }
            return state.process
        }
        process?.stop()
    }

    /// Sends a request until its response is none of 409, 429 and 5xx.
    ///
    /// It waits 20 ms between attempts while no process listens, 100 ms after a response, and a second after a 409. A 409 without
    /// Retry-After fails the test, because it means that the response of the first attempt is lost.
    func send(_ path: String, _ body: String, headers: [String]) async throws -> RawHTTP.Answer {
        let headers = ["Content-Type: application/json"] + headers
        while true {
            if let url, let answer = try? await RawHTTP.send("POST", path, to: url, headers: headers, body: Array(body.utf8)) {
                guard answer.status == 409 || answer.status == 429 || answer.status >= 500 else { return answer }
                try #require(answer.status != 409 || answer["Retry-After"] != nil, "the response is lost: \(answer.text)")
                try await Task.sleep(for: answer.status == 409 ? .seconds(1) : .milliseconds(80))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The number of clients. A request whose process was killed waits for the end of its lease. With 40 clients, others send new requests
    /// meanwhile, so that each kill meets requests in progress.
    private static let clients = 40

    /// Sends requests from 40 clients while the program is killed at random moments, 1 to 400 ms after each start.
    /// - Parameters:
    ///   - kills: The number of kills. After the last one, the program runs until all requests have their responses.
    ///   - request: Sends the request with the given number.
    /// - Returns: The number of requests. Their numbers start at 0.
    func run(kills: Int, _ request: @escaping @Sendable (Int) async throws -> Void) async throws -> Int {
        try await start()
        defer { kill() }
        let progress = Progress()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.clients {
                group.addTask {
                    while !progress.isLast.load(ordering: .relaxed) {
                        try await request(progress.next.add(1, ordering: .relaxed).oldValue)
                    }
                }
            }
            for _ in 0..<kills {
                try await Task.sleep(for: .microseconds(.random(in: 1_000...400_000)))
                kill()
                try await start()
            }
            progress.isLast.store(true, ordering: .relaxed)
            try await group.waitForAll()
            return progress.next.load(ordering: .relaxed)
        }
    }
}
