import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite("The options of a call") struct CallOptionsTests {
    private let clock = ManualClock()
    private let executor = SteppedExecutor()

    private func client(_ server: some HTTPTransport) throws -> APIClient {
        APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0.5 })
        )
    }

    @Test("Options compose as members, lists and chains, the later before the earlier")
    func composes() {
        var expected = CallOptions()
        (expected.waitsInLine, expected.timeout, expected.idempotency) = (true, .seconds(5), .generated)
        #expect(expected == [.waitsInLine, .timeout(.seconds(9)), .timeout(.seconds(5)), .idempotent])
        #expect(expected == .waitsInLine.timeout(.seconds(5)).merging(.idempotent))
        #expect(CallOptions() == [])
        var others = CallOptions()
        (others.retry, others.priority, others.attemptTimeout, others.idempotency) = (.never, .high, .seconds(1), .key("k"))
        #expect(others == .retry(.never).priority(.high).attemptTimeout(.seconds(1)).idempotencyKey("k"))
    }

    @Test("Options override the endpoint's policy only in what they set")
    func replaces() {
        var policy = EndpointPolicy(timeout: .seconds(1), attemptTimeout: .seconds(2), retry: .never, sendsIdempotencyKey: true)
        (policy.waitsInLine, policy.waitsForConnectivity, policy.priority) = (true, true, .low)
        let before = policy
        CallOptions().apply(to: &policy)
        #expect(policy == before)
        var options = CallOptions.timeout(.seconds(3)).attemptTimeout(.seconds(4)).retry(RetryPolicy()).priority(.high)
        (options.waitsInLine, options.waitsForConnectivity) = (false, false)
        options.apply(to: &policy)
        var after = EndpointPolicy(
            timeout: .seconds(3),
            attemptTimeout: .seconds(4),
            retry: RetryPolicy(),
            sendsIdempotencyKey: true
        )
        after.priority = .high
        #expect(policy == after)
    }

    /// Returns a server that never responds.
    /// - Parameter note: Receives the time limit of each attempt.
    private func silentServer(_ note: @escaping @Sendable (Duration) -> Void = { _ in }) -> ClosureTransport {
        ClosureTransport { [clock] _, _, timeout in
            note(timeout)
            try await clock.sleep(for: timeout)
            throw TransportError(.timeout, message: "", wasSent: true)
        }
    }

    @Test("A call ends at the deadline of its options")
    func timeout() throws {
        let api = try client(silentServer())
        let call = Outcome<Int>(on: executor) {
            try await api.send(.get, "/a", options: .timeout(.seconds(3))).response.status.code
        }
        executor.run(clock, until: .seconds(2.9))
        #expect(!call.isOver)
        executor.run(clock, until: .seconds(3))
        #expect(call.error?.kind == .timeout)
    }

    @Test("An attempt ends after the attempt timeout of the options, and the call goes on")
    func attemptTimeout() throws {
        let timeouts = Mutex<[Duration]>([])
        let api = try client(silentServer { timeout in timeouts.withLock { $0.append(timeout) } })
        let call = Outcome<Int>(on: executor) {
            try await api.send(.get, "/a", options: .attemptTimeout(.seconds(2))).response.status.code
        }
        executor.run(clock, until: .seconds(2))
        #expect(!call.isOver && timeouts.withLock(\.self) == [.seconds(2)])
        executor.run(clock, until: .seconds(30))
        #expect(call.isOver && timeouts.withLock(\.count) > 1)
    }

    @Test("Retries a call by the retry policy of its options")
    func retry() async throws {
        let transport = ScriptedTransport(Array(repeating: .response(status: 500), count: 2))
        let api = try client(transport)
        let error = await failure { _ = try await api.send(.get, "/a", options: .retry(.never)) }
        #expect(error?.kind == .server && error?.attempts == 1 && transport.sent.count == 1)
    }

    @Test("With idempotency, a POST sends one key on all attempts, also the caller's own")
    func idempotency() throws {
        let transport = ScriptedTransport([
            .response(status: 500), .response(status: 200), .response(status: 500), .response(status: 200),
        ])
        let api = try client(transport)
        let call = Outcome<Int>(on: executor) {
            _ = try await api.send(.post, "/a", options: .idempotencyKey("draft-7"))
            return try await api.send(.patch, "/a", options: .idempotent).response.status.code
        }
        executor.run(clock, until: .seconds(60))
        #expect(call.isOver && call.error == nil)
        let keys = transport.sent.map { $0.request.headerFields[.idempotencyKey] }
        #expect(keys.count == 4 && keys[0] == "\"draft-7\"" && keys[1] == keys[0])
        #expect(keys[2]?.count == 34 && keys[3] == keys[2])
    }

    @Test("Does not repeat a POST without a key")
    func withoutKey() async throws {
        let transport = ScriptedTransport([.response(status: 500)])
        let api = try client(transport)
        let error = await failure { _ = try await api.send(.post, "/a") }
        #expect(error?.attempts == 1 && transport.sent.first?.request.headerFields[.idempotencyKey] == nil)
    }

    @Test(
        "Refuses a key that is invalid in a header, without sending a request",
        arguments: ["", "a\"b", "a\\b", "a b", "ñ", "a\r\nb"]
    )
    func invalidKey(key: String) async throws {
        let transport = ScriptedTransport([.response(status: 200)])
        let api = try client(transport)
        let error = await failure { _ = try await api.send(.post, "/a", options: .idempotencyKey(key), context: "c") }
        #expect(error?.kind == .invalidRequest && error?.context == "c" && error?.attempts == 0 && transport.sent.isEmpty)
    }

    @Test("A call sends its priority in the header of RFC 9218, and none by default")
    func priorityHeader() async throws {
        let transport = ScriptedTransport(Array(repeating: .response(status: 200), count: 3))
        let api = try client(transport)
        for priority in CallPriority.allCases { _ = try await api.send(.get, "/a", options: .priority(priority)) }
        #expect(transport.sent.map { $0.request.headerFields[.priority] } == ["u=5", nil, "u=1"])
    }

    @Test("Calls that wait at a gate proceed by priority, then in their order")
    func priority() throws {
        let sent = Mutex<[String]>([])
        // The server refuses the first request and serves the others, each in 30 ms.
        let server = ClosureTransport { [clock] request, _, _ in
            let isFirst = sent.withLock { paths in
                paths.append(request.path ?? "")
                return paths.count == 1
            }
            try await clock.sleep(for: .milliseconds(30))
            return (HTTPResponse(status: isFirst ? .serviceUnavailable : .ok), ResponseBody())
        }
        let api = try client(server)
        let first = Outcome<Int>(on: executor) {
            try await api.send(.get, "/first", options: .retry(.never)).response.status.code
        }
        executor.run(clock, until: .milliseconds(100))
        #expect(first.error?.status == 503)
        let paths: [(String, CallPriority)] = [
            ("/probe", .normal), ("/low-1", .low), ("/normal-1", .normal), ("/high-1", .high), ("/low-2", .low),
            ("/high-2", .high), ("/normal-2", .normal),
        ]
        let calls = paths.map { path, priority in
            Outcome<Int>(on: executor) {
                try await api.send(.get, path, options: [.waitsInLine, .priority(priority)]).response.status.code
            }
        }
        executor.run(clock, until: .seconds(30))
        #expect(calls.allSatisfy { $0.isOver && $0.error == nil })
        // The first call that wakes when the gate opens is its probe. The others follow after its successes.
        #expect(
            sent.withLock(\.self).dropFirst(2) == ["/high-1", "/high-2", "/normal-1", "/normal-2", "/low-1", "/low-2"],
            "\(sent.withLock(\.self))"
        )
    }
}

@Suite("A queue of waiting calls") struct WaiterLineTests {
    @Test("Counts the waiters of a key that precede a new one of a priority")
    func counts() {
        var line = WaiterLine<GateWaiter>()
        let (gate, other) = (GateKey.host("https://one.example"), GateKey.host("https://other.example"))
        for priority in [CallPriority.low, .high, .normal, .low] { _ = line.enter(GateWaiter(key: gate, priority: priority)) }
        _ = line.enter(GateWaiter(key: other, priority: .high))
        let counts = CallPriority.allCases.map { priority in line.count { $0.waits(before: priority, at: gate) } }
        #expect(counts == [4, 2, 1])
    }
}
