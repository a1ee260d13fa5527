import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import OfflineQueue
import OfflineQueueUI
import ResilientHTTP
import Testing
import Timekeeping

/// A queue in a temporary folder with its screen. Delays pass on a clock that the test moves.
@MainActor
final class ScreenBench {
    let clock = ManualClock()
    let connectivity = Connectivity()
    let transport: ScriptedTransport
    let session: Session
    let queue: OfflineQueue
    let model: PendingRequestsModel
    private let folder: URL

    /// - Parameters:
    ///   - steps: The responses of the server.
    ///   - account: The account that is signed in.
    ///   - limit: The largest number of rows in a list.
    init(
        _ steps: [ScriptedTransport.Step] = [],
        account: String? = "A",
        language: Language = .english,
        limit: Int = 100,
        folder: URL? = nil,
        change: (inout OfflineQueue.Options) -> Void = { _ in }
    ) async throws {
        self.folder = folder ?? URL.temporaryDirectory.appending(path: "q\(UInt32.random(in: 0 ... .max))")
        let environment = ClientEnvironment(clock: MonotonicClock(clock), chance: { 1 }, connectivity: connectivity)
        transport = ScriptedTransport(steps)
        session = Session(
            store: MemoryCredentialStore(account.map(Self.credentials)),
            environment: environment,
            refresh: { _ in throw APIError(.unauthorized) }
        )
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org/v1")),
            transport: transport,
            session: session,
            middleware: [RetryMiddleware(.never)],
            environment: environment
        )
        var options = OfflineQueue.Options()
        options.journal.isMaintained = false
        // The role of the sender must not end on a busy machine: it is renewed on the clock of the test.
        options.lease = .seconds(3_600)
        change(&options)
        queue = try await OfflineQueue.open(self.folder, client: client, options: options)
        model = PendingRequestsModel(queue: queue, language: language, limit: limit) { $0.context ?? "Change" }
    }

    isolated deinit { try? FileManager.default.removeItem(at: folder) }

    nonisolated static func credentials(_ account: String) -> Credentials {
        Credentials(accessToken: "token \(account)", refreshToken: nil, userID: account)
    }

    func signIn(_ account: String?) async throws { try await session.setCredentials(account.map(Self.credentials)) }

    /// Stores a change, and shows it.
    @discardableResult
    func enqueue(_ name: String, lane: String = "default", lifetime: Duration? = nil) async throws -> QueuedRequestID {
        let id = try await queue.enqueue(
            .post,
            "/notes",
            ["title": name],
            options: .queued(lane: lane, lifetime: lifetime),
            context: name
        )
        await model.load()
        return id
    }

    /// Sends what can be sent, and shows what is left.
    func drain() async {
        await queue.drain()
        await model.load()
    }

    /// Runs the model while a closure runs.
    func whileVisible(_ body: () async throws -> Void) async rethrows {
        let run = Task { await model.run() }
        defer { run.cancel() }
        try await body()
        run.cancel()
        await run.value
    }

    /// Waits for a condition, for as long as a busy machine may need.
    func becomesTrue(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<60_000 {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return false
    }
}

extension ScriptedTransport.Step {
    static let offline = Self.failure(TransportError(.noInternet, message: "", wasSent: false))
    static let lost = Self.failure(TransportError(.connectionLost, message: "", wasSent: true))

    static func refusal(_ code: ErrorCode, status: Int) -> Self {
        .response(
            status: status,
            headers: [.contentType: "application/json", .errorCode: code.rawValue],
            body: #"{"error":{"code":"\#(code.rawValue)","message":"x"}}"#
        )
    }
}
