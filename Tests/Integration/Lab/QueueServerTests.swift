import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import HoldfastAsyncHTTPClient
import HoldfastURLSession
import OfflineQueue
import ResilientHTTP
import Synchronization
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// An offline queue over real sockets: the lab's scenarios, and a server with its idempotency keys in SQLite.
@Suite(.timeLimit(.minutes(10))) struct QueueServerTests {
    @Test("Delivers the lab's requests that finally succeed, and dead-letters the others")
    func lab() async throws {
        let scenarios = LabScenario.all().filter { $0.group == .queue }
        #expect(scenarios.count == 6)
        try await withServer { server in
            try await withFolder { folder in
                var client = APIClient(
                    baseURL: server.url,
                    transport: .urlSession(),
                    timeout: .seconds(120),
                    middleware: [RetryMiddleware(.never)]
                )
                // A slow machine must not end an attempt, because the attempts are counted.
                client.attemptTimeout = .seconds(120)
                let queue = try await OfflineQueue.open(folder.appending(path: "queue"), client: client)
                var ids: [String: QueuedRequestID] = [:]
                for scenario in scenarios {
                    ids[scenario.name] = try await queue.enqueue(
                        .post,
                        scenario.path(session: scenario.name),
                        ["lab": "try"],
                        options: .queued(lane: scenario.name)
                    )
                }
                let events = queue.events
                try await drain(queue, until: 0)
                #expect(queue.counts.deadLetters == 1 && queue.counts.delivered == scenarios.count - 1)
                let attempts = await attempts(events)
                for scenario in scenarios {
                    let id = try #require(ids[scenario.name])
                    #expect(attempts[id] == scenario.expected.count, "\(scenario.name)")
                    guard scenario.expected.count == 1 else { continue }
                    guard case .deadLetter(let letter) = queue.status(of: id), let error = letter.error else {
                        Issue.record("\(scenario.name) is no dead letter")
                        continue
                    }
                    #expect(scenario.expectation(ofCall: 1).differences(from: error).isEmpty, "\(scenario.name)")
                }
            }
        }
    }

    @Test("Performs a request with a lost response once, even after 1,001 keyed requests")
    func manyKeys() async throws {
        let server = CountingServer()
        try await server.run { url in
            try await withFolder { folder in
                let transport = LossyTransport(AsyncHTTPClientTransport())
                let client = APIClient(baseURL: url, transport: transport, middleware: [RetryMiddleware(.never)])
                let queue = try await OfflineQueue.open(folder.appending(path: "queue"), client: client)
                try await queue.enqueue(.post, "/effects/first", ["a": 1], options: .queued(lane: "first"))
                await queue.drain()
                #expect(server["first"] == 1)
                for number in 0..<1_001 {
                    try await queue.enqueue(.post, "/effects/other-\(number)", ["a": 1], options: .queued(lane: "\(number % 8)"))
                }
                try await drain(queue, until: 1)
                #expect((0..<1_001).allSatisfy { server["other-\($0)"] == 1 })
                transport.isOnline.store(true, ordering: .relaxed)
                try await drain(queue, until: 0)
                #expect(queue.counts.delivered == 1_002 && queue.counts.deadLetters == 0)
                #expect(server["first"] == 1)
            }
        }
    }

    /// Drains until no more requests than these are pending.
    private func drain(_ queue: OfflineQueue, until pending: Int) async throws {
        try await eventually {
            queue.wake()
            await queue.drain()
            return queue.counts.pending <= pending
        }
    }

    /// The number of attempts of each request.
    private func attempts(_ events: QueueEvents) async -> [QueuedRequestID: Int] {
        let reader = Task {
            var attempts: [QueuedRequestID: Int] = [:]
            for await event in events { if case .sending(let id) = event { attempts[id, default: 0] += 1 } }
            return attempts
        }
        // Ends after the events so far.
        reader.cancel()
        return await reader.value
    }
}

/// A transport that loses the response to the first request. While it is offline, it doesn't send the repetitions of this request.
private final class LossyTransport: HTTPTransport {
    let isOnline = Atomic(false)
    private let transport: any HTTPTransport
    private let isLost = Atomic(false)

    init(_ transport: any HTTPTransport) { self.transport = transport }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let isFirst = request.path == "/effects/first" && !isOnline.load(ordering: .relaxed)
        if isFirst, isLost.load(ordering: .relaxed) { throw TransportError(.noInternet, message: "offline", wasSent: false) }
        let result = try await transport.send(request, body: body, timeout: timeout)
        guard isFirst else { return result }
        isLost.store(true, ordering: .relaxed)
        throw TransportError(.connectionLost, message: "lost", wasSent: true)
    }
}
