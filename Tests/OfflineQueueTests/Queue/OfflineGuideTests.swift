import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@testable import OfflineQueue

/// Runs the examples of docs/app/offline.md and of the DocC catalog.
@Suite("Examples of the offline queue", .timeLimit(.minutes(5))) struct OfflineGuideTests {
    private struct Note: Codable, Equatable, Sendable { var title: String }
    private struct Created: Decodable, Sendable { var id: Int }

    @Test("Opens a queue, stores a request and sends it")
    func start() async throws {
        let folder = URL(filePath: TemporaryFolder().path)
        defer { try? FileManager.default.removeItem(at: folder) }
        let created = ScriptedTransport.Step.response(status: 201, body: #"{"id":7}"#)
        let api = APIClient(
            baseURL: try #require(URL(string: "https://notes.example.com")),
            transport: ScriptedTransport([created])
        )
        let note = Note(title: "Buy bread")
        // snippet: start-offline-queue
        let queue = try await OfflineQueue.open(folder, client: api)
        try await queue.enqueue(.post, "/notes", note, options: .queued(lane: "notes"))
        await queue.drain()
        print("\(queue.counts.pending) pending, \(queue.counts.delivered) delivered")
        // snippet end
        #expect(queue.counts.pending == 0 && queue.counts.delivered == 1)
    }

    @Test("Stores the calls of an endpoint that opts in, and those that opt in themselves")
    func optIn() async throws {
        // snippet: offline-endpoint
        var policies = EndpointPolicies()
        var policy = EndpointPolicy()
        policy.queueing = QueueingPolicy(lane: "items", lifetime: .seconds(3 * 86_400))
        policies.set(policy, for: "/items", method: .post)
        // snippet end
        let bench = try await QueueBench(policies: policies)
        let queue = bench.queue
        bench.network.decide(.neverSent)
        let note = Note(title: "Buy bread")
        var shown: [String] = []
        // snippet: offline-send
        let result: QueueResult<Created> = try await queue.send(.post, "/items", note)
        switch result {
        case .response(let created): shown.append("saved as \(created.id)")
        case .queued(let id): shown.append("saved on this device as \(id)")
        }
        // snippet end
        // snippet: offline-call
        let like: QueueResult<Void> = try await queue.send(.put, "/items/7/like", options: .queued(lane: "likes"))
        // snippet end
        guard case .queued = like else {
            Issue.record("sent")
            return
        }
        #expect(shown.first?.hasPrefix("saved on this device") == true)
        #expect(try await queue.pending(lane: "items").count == 1)
        #expect(try await queue.pending(lane: "likes").count == 1)
    }

    @Test("Shows events, snapshots and the state of each request")
    func observe() async throws {
        let bench = try await QueueBench(server: MutationServer { _, body in body == "bad" ? 422 : 200 })
        let queue = bench.queue
        try await bench.enqueue("good")
        try await bench.enqueue("bad")
        let log = Mutex<[String]>([])
        let show: @Sendable (String) -> Void = { line in log.withLock { $0.append(line) } }
        // snippet: offline-events
        let events = queue.events
        let observation = Task {
            for await event in events {
                switch event {
                case .delivered(let id): show("delivered \(id)")
                case .failed(let id, let failure): show("\(id) failed: \(failure.code), again in \(failure.retryAfter ?? .zero)")
                case .deadLettered(let id, let reason): show("\(id) is a dead letter: \(reason.rawValue)")
                case .paused(_, let reason): show("paused: \(reason.rawValue)")
                case .missed: show("take a new snapshot")
                default: break
                }
            }
        }
        // snippet end
        await bench.drain()
        #expect(await becomesTrue { log.withLock(\.count) == 2 })
        observation.cancel()
        let lines = log.withLock(\.self)
        #expect(lines[0].hasPrefix("delivered") && lines[1].hasSuffix("refused"))
        // snippet: offline-snapshot
        for request in try await queue.pending(lane: "notes") {
            print(request.id, request.path, request.created, request.status)
        }
        for request in try await queue.deadLetters() {
            guard case .deadLetter(let letter) = request.status else { continue }
            print(request.path, letter.reason, letter.error?.presentation(in: .english, now: Date()).message ?? "")
        }
        // snippet end
        let refused = try #require(try await queue.deadLetters().first)
        // snippet: offline-dead-letter
        try await queue.retry(refused.id)  // with a new key, in its old place
        try await queue.remove(refused.id)
        // snippet end
        #expect(queue.counts == QueueCounts(pending: 0, deadLetters: 0, bytes: 0, delivered: 1))
    }

    @Test("Cancels, edits and replaces requests that were not sent")
    func change() async throws {
        let bench = try await QueueBench()
        let queue = bench.queue
        bench.network.decide(.neverSent)
        let draft = Note(title: "Buy bread")
        let better = Note(title: "Buy bread and salt")
        // snippet: offline-change
        let id = try await queue.enqueue(.post, "/notes", draft, options: .queued(lane: "notes"))
        do {
            try await queue.edit(id, better)
            try await queue.cancel(id)
        } catch .attemptBegan {
            print("The server may have received it: send another request to undo it.")
        }
        // snippet end
        #expect(queue.counts.pending == 0)
        let profile = ["name": "Ana"]
        // snippet: offline-coalesce
        let options = CallOptions.queued(lane: "profile", coalescingKey: "name")
        try await queue.enqueue(.put, "/profile", profile, options: options)
        try await queue.enqueue(.put, "/profile", ["name": "Ana María"], options: options)  // replaces the first one
        // snippet end
        #expect(queue.counts.pending == 1)
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.bodies == [#"{"name":"Ana María"}"#])
    }

    @Test("Counts and discards the requests of an account before a sign-out")
    func signOut() async throws {
        let bench = try await QueueBench()
        let (queue, session) = (bench.queue, bench.session)
        bench.network.decide(.neverSent)
        try await bench.enqueue("1")
        let userWantsToLoseThem = true
        // snippet: offline-sign-out
        if let account = try await session.identity, queue.counts.pending > 0, userWantsToLoseThem {
            for owner in queue.owners where owner.account == account { try await queue.discard(owner: owner) }
        }
        try await session.setCredentials(nil)
        // snippet end
        #expect(queue.counts.pending == 0)
    }

    @Test("Stores in an app extension, and sends from the app")
    func appExtension() async throws {
        let folder = URL(filePath: TemporaryFolder().path)
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = ScriptedTransport([.response(status: 201, body: #"{"id":7}"#)])
        let api = APIClient(baseURL: try #require(URL(string: "https://notes.example.com")), transport: transport)
        let groupFolder = folder
        let shared = Note(title: "A link that the user shares")
        // snippet: offline-extension
        // In the extension: store, and leave the sending to the app.
        let queue = try await OfflineQueue.open(groupFolder.appending(path: "queue"), client: api)
        try await queue.enqueue(.post, "/notes", shared, options: .queued(lane: "notes"), isDurable: true)
        // snippet end
        let app = try await OfflineQueue.open(groupFolder.appending(path: "queue"), client: api)
        await app.drain()
        #expect(transport.sent.count == 1)
        #expect(try await queue.pending().isEmpty)
    }
}
