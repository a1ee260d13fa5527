import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Testing

/// Runs the examples of `docs/app/throttler.md`.
@Suite struct AppThrottlerPageTests {
    private struct Lesson: Codable, Sendable {
        var name: String
    }

    private struct Session: Sendable {
        let name = "session-1"
    }

    @Test("Counts calls per user, also over a restart")
    func example() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = ScriptedTransport(Array(repeating: .response(status: 200, body: #"{"name":"Tehillim"}"#), count: 2))
        let url = try #require(URL(string: "https://api.example.org"))
        #expect(try await Self.show(url, transport, folder, Session()) == ["1 of 20, 19 left, next in 0.0 seconds"])
        #expect(
            try await Self.show(url, transport, folder, Session()) == ["2 of 20, 18 left, next in 0.0 seconds"],
            "over a restart"
        )
    }

    private static func show(
        _ url: URL,
        _ transport: ScriptedTransport,
        _ folder: URL,
        _ session: Session
    ) async throws -> [String] {
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }
        // snippet: throttler
        var policy = ThrottlePolicy.appsInTheField
        policy.limit(
            "/api/lessons/{id}",
            to: .requests(20, per: .seconds(60), name: "minute"),
            .requests(100, per: .seconds(3_600), name: "hour")
        )
        let throttler = Throttler(policy: policy, store: ThrottleFile(folder: folder))
        let api = APIClient(
            baseURL: url,
            transport: transport,
            middleware: [ThrottleMiddleware(throttler, waitingUpTo: .seconds(5)) { session.name }]
        )
        let lesson: Lesson = try await api.get("/api/lessons/17")

        let status = throttler.status(of: Endpoint(.get, "/api/lessons/{id}"), user: session.name)
        print("\(status.count) of \(status.limit), \(status.remaining) left, next in \(status.nextAdmission)")
        // snippet end
        #expect(lesson.name == "Tehillim")
        return lines
    }
}

extension Throttler {
    /// The page creates its throttler without a clock. Here it gets a clock that does not advance, so that the page's numbers
    /// don't depend on
    /// the duration of the test.
    fileprivate convenience init(policy: ThrottlePolicy, store: any ThrottleStore) {
        let instant = SnapshotTime(wallNanoseconds: 1_762_252_200_000_000_000, bootNanoseconds: 0, bootID: "boot")
        self.init(policy: policy, store: store, clock: ManualClock(), snapshotTime: { instant })
    }
}
