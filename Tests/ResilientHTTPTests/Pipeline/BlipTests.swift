import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

/// Servers that refuse for a moment, bursts that exceed a limit, and a lost connection: whole calls in simulated time.
@Suite("Calls during short outages") struct BlipTests {
    private let clock = ManualClock()
    private let executor = SteppedExecutor()

    private func client(
        _ server: some HTTPTransport,
        connectivity: Connectivity? = nil,
        listeners: [any CallListener] = []
    ) throws -> APIClient {
        let chance = Mutex(SplitMix64(seed: 7))
        var client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            environment: ClientEnvironment(
                clock: MonotonicClock(clock),
                chance: { chance.withLock { Double.random(in: 0...1, using: &$0) } },
                connectivity: connectivity
            )
        )
        client.listeners = listeners
        return client
    }

    private func call(
        _ client: APIClient,
        _ path: String = "/a",
        options: CallOptions = CallOptions()
    ) -> ResilientHTTPTests.Outcome<Int> {
        Outcome(on: executor) { try await client.send(.get, path, options: options).response.status.code }
    }

    @Test(
        "80 concurrent calls survive a server that refuses everything for up to 2 s",
        arguments: [500, 1_000, 2_000],
        [503, 429]
    )
    func blip(milliseconds: Int, status: Int) throws {
        let end = Duration.milliseconds(milliseconds)
        let server = FunctionServer(clock) { now, _ in now < end ? (status, [:]) : (200, [:]) }
        let client = try client(server)
        let calls = (0..<80).map { call(client, "/items/\($0)") }
        executor.run(clock, until: .seconds(30))
        #expect(calls.allSatisfy { $0.isOver && $0.error == nil }, "\(calls.compactMap(\.error).first.map { "\($0)" } ?? "")")
        // The gate admits few requests while the server refuses.
        #expect(server.count < 80 * 2 + 20, "\(server.count)")
    }

    @Test("A call with three refusals without delay succeeds on the fourth attempt", arguments: [503, 429])
    func threeRefusals(status: Int) throws {
        let server = FunctionServer(clock) { _, number in number <= 3 ? (status, [:]) : (200, [:]) }
        let call = try call(client(server))
        executor.run(clock, until: .seconds(30))
        #expect(call.isOver && call.error == nil && server.count == 4)
    }

    @Test("80 concurrent calls of which the first 83 requests are refused succeed", arguments: [503, 429])
    func threeMore(status: Int) throws {
        let server = FunctionServer(clock) { _, number in number <= 83 ? (status, [:]) : (200, [:]) }
        let client = try client(server)
        let calls = (0..<80).map { call(client, "/items/\($0)") }
        executor.run(clock, until: .seconds(30))
        #expect(calls.allSatisfy { $0.isOver && $0.error == nil })
    }

    @Test("A local hold is no attempt, uses no retry, and reports no invented time")
    func reasons() throws {
        let reasons = Mutex<[GiveUpReason]>([])
        let listener = ClosureListener { event in
            if case .gaveUp(let reason) = event.kind { reasons.withLock { $0.append(reason) } }
        }
        let server = FunctionServer(clock) { _, _ in (503, [:]) }
        let client = try client(server, listeners: [listener])
        let first = call(client)
        executor.run(clock, until: .seconds(300))
        #expect(first.error?.attempts == 4, "the retries were all used for attempts")
        #expect(first.error?.retryAfter == nil && reasons.withLock(\.self) == [.retriesUsed])
    }

    @Test("50 pages, five at a time, succeed under a limit of 10 per 2 s by queueing")
    func paging() throws {
        let limiter = Mutex<[Duration]>([])
        let server = FunctionServer(clock) { now, _ in
            limiter.withLock { window in
                window.removeAll { $0 <= now - .seconds(2) }
                guard window.count >= 10, let oldest = window.first else {
                    window.append(now)
                    return (200, [:])
                }
                let wait = max(1, Int(((oldest + .seconds(2) - now) / .seconds(1)).rounded(.up)))
                return (429, [.retryAfter: "\(wait)"])
            }
        }
        var client = try client(server)
        var policy = EndpointPolicy(timeout: .seconds(120))
        policy.waitsInLine = true
        client.policies.set(policy, for: "/pages/{page}")
        let next = Mutex(0)
        let lanes = (0..<5).map { _ in
            Outcome<Int>(on: executor) { [client] in
                var pages = 0
                while true {
                    let page = next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard page < 50 else { return pages }
                    _ = try await client.send(.get, "/pages/\(page)")
                    pages += 1
                }
            }
        }
        executor.run(clock, until: .seconds(300))
        let pages = lanes.compactMap { try? $0.result?.get() }
        #expect(pages.count == 5 && pages.reduce(0, +) == 50, "\(lanes.compactMap(\.error).first.map { "\($0)" } ?? "")")
    }

    @Test("A call made offline waits for the connection if it opted in, and is sent once")
    func offline() throws {
        let connectivity = Connectivity(isOnline: false)
        let server = OfflineServer(connectivity)
        let client = try client(server, connectivity: connectivity)
        let waiting = call(client, options: .waitsForConnectivity)
        let plain = call(client)
        executor.run(clock, until: .seconds(20))
        #expect(!waiting.isOver && plain.error?.kind == .noInternet)
        connectivity.report(isOnline: true)
        executor.run(clock, until: .seconds(20))
        #expect(waiting.isOver && waiting.error == nil && server.delivered == 1)
    }

    @Test("A call that waits for the connection waits again if it is lost at once")
    func offlineAgain() throws {
        let connectivity = Connectivity(isOnline: false)
        let server = OfflineServer(connectivity)
        let call = try call(client(server, connectivity: connectivity), options: .waitsForConnectivity)
        executor.run(clock, until: .seconds(20))
        // The call can't run between the two changes.
        connectivity.report(isOnline: true)
        connectivity.report(isOnline: false)
        executor.run(clock, until: .seconds(20))
        #expect(!call.isOver)
        connectivity.report(isOnline: true)
        executor.run(clock, until: .seconds(20))
        #expect(call.isOver && call.error == nil && server.delivered == 1)
    }

    @Test("A call that waits for the connection ends at its deadline")
    func offlineTooLong() throws {
        let connectivity = Connectivity(isOnline: false)
        let call = try call(client(OfflineServer(connectivity), connectivity: connectivity), options: .waitsForConnectivity)
        executor.run(clock, until: .seconds(29))
        #expect(!call.isOver)
        executor.run(clock, until: .seconds(31))
        #expect(call.error?.kind == .noInternet && clock.sleeperCount == 0)
    }

    @Test("Without a monitor, a call that waits for the connection retries every 2 s")
    func offlineWithoutMonitor() throws {
        let connectivity = Connectivity(isOnline: false)
        let server = OfflineServer(connectivity)
        let call = try call(client(server), options: .waitsForConnectivity)
        executor.run(clock, until: .seconds(20))
        connectivity.report(isOnline: true)
        executor.run(clock, until: .seconds(24))
        #expect(call.isOver && call.error == nil && server.delivered == 1 && server.asked <= 12)
    }
}

/// Responds by a function of the time and of the number of the request.
private final class FunctionServer: HTTPTransport {
    private let clock: ManualClock
    private let respond: @Sendable (Duration, Int) -> (Int, HTTPFields)
    private let requests = Mutex(0)

    init(_ clock: ManualClock, _ respond: @escaping @Sendable (Duration, Int) -> (Int, HTTPFields)) {
        (self.clock, self.respond) = (clock, respond)
    }

    var count: Int { requests.withLock(\.self) }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let number = requests.withLock { number in
            number += 1
            return number
        }
        let (status, fields) = respond(clock.now.offset, number)
        do { try await clock.sleep(for: .milliseconds(30)) } catch {
            throw TransportError(.cancelled, message: "", wasSent: true)
        }
        return (HTTPResponse(status: .init(code: status), headerFields: fields), ResponseBody())
    }
}

/// Cannot be reached while the device is offline.
private final class OfflineServer: HTTPTransport {
    private let connectivity: Connectivity
    private let counts = Mutex((asked: 0, delivered: 0))

    init(_ connectivity: Connectivity) {
        self.connectivity = connectivity
    }

    var asked: Int { counts.withLock(\.asked) }
    var delivered: Int { counts.withLock(\.delivered) }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let isOnline = connectivity.isOnline
        counts.withLock { counts in
            counts.asked += 1
            if isOnline { counts.delivered += 1 }
        }
        guard isOnline else { throw TransportError(.noInternet, message: "", wasSent: false) }
        return (HTTPResponse(status: .ok), ResponseBody())
    }
}
