import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Synchronization
import Testing

@Suite struct ThrottleFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "throttle-\(UUID().uuidString)/inner")
    private let endpoint = Endpoint(.get, "/api/activities")
    /// The system's clocks, which continue while processes start and end.
    private let system = ManualClock()

    /// Creates a process with its own monotonic clock and the same files.
    private func process(
        _ store: (any ThrottleStore)? = nil,
        log: CapturedLog = CapturedLog(),
        wall: Int64 = 0,
        boot: String = "a"
    ) -> Throttler {
        let system = system
        return Throttler(
            store: store ?? ThrottleFile(folder: folder),
            logger: log.logger,
            clock: system,
            randomness: SplitMix64(seed: 1)
        ) {
            let now = Int64(system.now.offset / .nanoseconds(1))
            return SnapshotTime(wallNanoseconds: now + wall, bootNanoseconds: now, bootID: boot)
        }
    }

    private var files: [URL] {
        (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    }

    private func cleanUp() { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }

    @Test(
        "A kill at any moment admits no extra call: the next process knows those sent",
        arguments: [0, -1_000_000, 1_000_000] as [Int64]
    )
    func kill(wallStep: Int64) async throws {
        defer { cleanUp() }
        var allowed = 0
        for life in 0..<30 {
            let process = process(wall: Int64(life) * wallStep * 1_000_000_000)
            allowed += try await process.decide(endpoint).isAllowed ? 1 : 0
            system.advance(by: .seconds(1))
        }
        #expect(allowed == 10)
        system.advance(by: .seconds(30))
        #expect(try await process().decide(endpoint).isAllowed, "and forgives what is a minute old")
    }

    @Test("After another boot, a wall clock that went backward admits no extra call")
    func boots() async throws {
        defer { cleanUp() }
        for _ in 0..<10 { _ = try await process(boot: "a").decide(endpoint) }
        let later = process(wall: -3_600_000_000_000, boot: "b")
        #expect(try await later.decide(endpoint).wait == .seconds(60))
    }

    @Test("Saves a call before sending it, and the server's delay before returning it")
    func writeAhead() async throws {
        defer { cleanUp() }
        let request = HTTPRequest(method: .get, scheme: "https", authority: "h", path: "/api/activities")
        let middleware = ThrottleMiddleware(process())
        _ = try await middleware.intercept(request, body: nil, context: CallContext(timeout: .seconds(9))) { [self] _, _ in
            let other = process()
            let decision = try await other.decide(endpoint)
            #expect(decision == .allowed(remaining: 8), "another process would know")
            return (HTTPResponse(status: .tooManyRequests, headerFields: [.retryAfter: "90"]), ResponseBody())
        }
        #expect(try await process().decide(endpoint).wait == .seconds(90))
    }

    @Test("The delay that a server requests survives the end of the process", arguments: [429, 503])
    func refusal(status: Int) async throws {
        defer { cleanUp() }
        let transport = ScriptedTransport([.response(status: status, headers: [.retryAfter: "90"])])
        let client = try makeClient(transport, middleware: [ThrottleMiddleware(process())])
        #expect(await failure { let _: Int = try await client.get("/api/activities") }?.status == status)
        #expect(try await process().decide(endpoint).wait == .seconds(90))
    }

    @Test("Each user has a private file whose name does not identify the user")
    func privacy() async throws {
        defer { cleanUp() }
        let process = process()
        for user in ["ana@example.com", "../../eva", nil] { _ = try await process.decide(endpoint, user: user) }
        #expect(files.count == 3)
        for file in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let text = try String(contentsOf: file, encoding: .utf8)
            for secret in ["ana", "eva", "example"] {
                #expect(!text.contains(secret) && !file.lastPathComponent.contains(secret))
            }
            #expect(text.contains("activities"))
        }
        #expect(try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int == 0o700)
        let next = self.process()
        #expect(try await next.decide(endpoint, user: "ana@example.com") == .allowed(remaining: 8))
        #expect(try await next.decide(endpoint, user: "someone") == .allowed(remaining: 9))
    }

    @Test(
        "An unreadable file counts as the shortest quota, is logged and replaced",
        arguments: ["", "{", "null", "[]", "{\"version\":1}", "{\"version\":2,\"entries\":[]}", "\u{0}\u{1}", "{\"entries\":7}"]
    )
    func corrupt(text: String) async throws {
        defer { cleanUp() }
        _ = try await process().decide(endpoint)
        let file = try #require(files.first)
        try Data(text.utf8).write(to: file)
        let log = CapturedLog()
        let process = process(log: log)
        #expect(try await process.decide(endpoint).wait == .seconds(60))
        #expect(try await process.decide(Endpoint(.get, "/never-seen")).wait == .seconds(60))
        #expect(log.lines.count { $0.hasPrefix("warning Loading call counts failed") } == 1)
        system.advance(by: .seconds(60))
        #expect(try await process.decide(endpoint).isAllowed)
        #expect(try await self.process().decide(endpoint) == .allowed(remaining: 8))
    }

    @Test("Logs an unwritable disk once, and calls continue within the quota")
    func unwritable() async throws {
        struct Full: ThrottleStore {
            func load(user: String?) async throws -> ThrottleSnapshot? { nil }
            func save(_ snapshot: ThrottleSnapshot, user: String?) async throws { throw CocoaError(.fileWriteOutOfSpace) }
        }
        let log = CapturedLog()
        let process = process(Full(), log: log)
        var allowed = 0
        for _ in 0..<12 { allowed += try await process.decide(endpoint).isAllowed ? 1 : 0 }
        #expect(allowed == 10)
        #expect(log.lines.count { $0.hasPrefix("warning Saving call counts failed") } == 1)
        let blocked = ThrottleFile(folder: URL(fileURLWithPath: "/proc/no/such"))
        #expect(try await self.process(blocked).decide(endpoint).isAllowed)
    }

    @Test("Concurrent calls share saves, and none is sent unsaved")
    func together() async throws {
        final class Slow: ThrottleStore {
            let saves = Mutex<[Int]>([])
            func load(user: String?) async throws -> ThrottleSnapshot? { nil }
            func save(_ snapshot: ThrottleSnapshot, user: String?) async throws {
                let text = try String(decoding: JSONEncoder().encode(snapshot), as: UTF8.self)
                for _ in 0..<20 { await Task.yield() }
                saves.withLock { $0.append(text.count) }
            }
        }
        let store = Slow()
        let policy = ThrottlePolicy(others: .requests(1_000, per: .seconds(60)))
        let throttler = Throttler(policy: policy, store: store, clock: system)
        let decisions = try await withThrowingTaskGroup(of: ThrottleDecision.self) { group in
            for _ in 0..<200 { group.addTask { try await throttler.decide(endpoint) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(decisions.allSatisfy { $0.isAllowed })
        let saves = store.saves.withLock(\.self)
        #expect(!saves.isEmpty && saves.count < 200)
        #expect(saves.last == saves.max(), "the last save knows most")
    }

    @Test("An app can also store a snapshot itself")
    func byHand() async throws {
        let time = SnapshotTime.now()
        let first = Throttler(clock: system, snapshotTime: { time })
        for _ in 0..<10 { _ = try await first.decide(endpoint, user: "ana") }
        let data = try JSONEncoder().encode(first.snapshot(user: "ana"))
        let second = Throttler(clock: system, snapshotTime: { time })
        second.restore(try JSONDecoder().decode(ThrottleSnapshot.self, from: data), user: "ana")
        #expect(try await !second.decide(endpoint, user: "ana").isAllowed)
        #expect(try await second.decide(endpoint, user: "eva").isAllowed)
        #expect(first.snapshot(user: "nobody") == Throttler().snapshot())
    }

    @Test("A reset survives a restart, too")
    func reset() async throws {
        defer { cleanUp() }
        let process = process()
        while try await process.decide(endpoint).isAllowed {}
        try await process.reset()
        #expect(try await self.process().decide(endpoint) == .allowed(remaining: 9))
    }
}
