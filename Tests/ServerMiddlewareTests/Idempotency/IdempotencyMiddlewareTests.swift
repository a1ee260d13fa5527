import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Hummingbird
import Idempotency
import InMemoryLogging
import Logging
import StrictJSON
import Synchronization
import Testing

@testable import ServerMiddleware

@Suite(.timeLimit(.minutes(10))) struct IdempotencyMiddlewareTests {
    @Test("Executes a repeated request once and returns its stored response", arguments: ["k", #""k""#])
    func replay(key: String) async throws {
        let server = OrderServer()
        let first = try await server.order(key: key)
        #expect(first.status == .created && first.text == "order 1: tea" && first[header: "Idempotency-Replayed"] == nil)
        // The quoted and the bare form are the same key.
        for again in ["k", #""k""#] {
            let repeated = try await server.order(key: again)
            #expect(repeated.status == .created && repeated.text == first.text)
            #expect(repeated[header: "Idempotency-Replayed"] == "true")
            #expect(repeated[header: "Location"] == "/orders/1" && repeated[header: "Content-Type"] == "text/plain")
            #expect(repeated[header: "Content-Length"] == first[header: "Content-Length"])
            #expect(repeated[header: "Set-Cookie"] == nil && first[header: "Set-Cookie"] != nil)
            #expect(repeated[header: "X-Request-Id"] != first[header: "X-Request-Id"])
        }
        #expect(server.effects["tea"] == 1)
        #expect(try server.count("executed") == 1)
        #expect(try server.count("replayed") == 2)
    }

    @Test("Executes every request without a key")
    func unkeyed() async throws {
        let server = OrderServer()
        for _ in 0..<2 { #expect(try await server.order(key: nil).status == .created) }
        #expect(server.effects["tea"] == 2)
    }

    @Test("Ignores a key on GET")
    func safe() async throws {
        let server = OrderServer()
        for _ in 0..<2 { #expect(try await server.order(method: .get)[header: "Idempotency-Replayed"] == nil) }
        #expect(try await server.store.count() == 0)
    }

    @Test("Refuses a key with 422 if the body, query or path differs")
    func otherRequest() async throws {
        let server = OrderServer()
        _ = try await server.order("tea")
        for response in [try await server.order("coffee"), try await server.order("tea", path: "/orders?rush")] {
            #expect(response.status == .unprocessableContent)
            #expect(response[header: "X-Error-Code"] == "REQUEST_KEY_REUSED")
        }
        _ = try await server.order("milk", key: "p", path: "/orders/1/parts")
        #expect(try await server.order("milk", key: "p", path: "/orders/2/parts").status == .unprocessableContent)
        #expect(server.effects.all == 2)
        #expect(try server.count("reused") == 3)
    }

    @Test("Separates the keys of routes, methods and clients")
    func apart() async throws {
        let server = OrderServer()
        _ = try await server.order("of ana")
        #expect(try await server.order("of ana", path: "/invoices").text == "order 2: of ana")
        #expect(try await server.order("of ana", method: .put).text == "order 3: of ana")
        let stranger = try await server.order("of ana", client: "mallory")
        #expect(stranger.text == "order 4: of ana" && stranger[header: "Idempotency-Replayed"] == nil)
        #expect(try await server.order("of mallory", client: "mallory").status == .unprocessableContent)
        #expect(try await server.order("of ana").text == "order 1: of ana")
    }

    @Test("Refuses a repetition with 409 while the first runs, and another body with 422")
    func inFlight() async throws {
        let gate = Gate()
        let server = OrderServer { _, _ in
            await gate.pass()
            return Response(status: .created)
        }
        async let first = server.order()
        await gate.waitForArrival()
        let second = try await server.order()
        #expect(second.status == .conflict && second[header: "X-Error-Code"] == "REQUEST_CONFLICT")
        #expect(second[header: "Retry-After"] == "1")
        #expect(try second.error["details"]?.objectValue?["retry_after"] == 1)
        #expect(try await server.order("coffee").status == .unprocessableContent)
        gate.open()
        #expect(try await first.status == .created)
        #expect(try await server.order()[header: "Idempotency-Replayed"] == "true")
        #expect(server.effects.all == 1)
        #expect(try server.count("running") == 1)
    }

    @Test("Executes one of 100 concurrent requests; the others get 409 or its response")
    func race() async throws {
        for round in 0..<20 {
            let server = OrderServer()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 { group.addTask { try await server.order(key: "\(round)").status.code } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.allSatisfy { $0 == 201 || $0 == 409 })
            #expect(server.effects.all == 1)
        }
    }

    @Test("Releases the key after 408, 429 and 5xx", arguments: [408, 429, 500, 502, 503, 504, 599])
    func notFinal(status: Int) async throws {
        let server = OrderServer { _, _ in Response(status: .init(code: status)) }
        for _ in 0..<2 { #expect(try await server.order().status.code == status) }
        #expect(server.effects.all == 2)
        #expect(try await server.store.count() == 0)
    }

    @Test("Stores any other response as final, including refusals", arguments: [200, 204, 302, 400, 404, 409, 422])
    func final(status: Int) async throws {
        let server = OrderServer { _, _ in Response(status: .init(code: status)) }
        for _ in 0..<2 { #expect(try await server.order().status.code == status) }
        #expect(server.effects.all == 1)
    }

    @Test("Releases the key if the route throws any error")
    func throwing() async throws {
        struct Trouble: Error {}
        let errors: [any Error] = [ContractError(.authWeakPassword), HTTPError(.conflict), Trouble(), CancellationError()]
        for error in errors {
            let server = OrderServer { _, _ in throw error }
            for _ in 0..<2 { #expect(try await server.order().status.code >= 400) }
            #expect(server.effects.all == 2)
            #expect(try await server.store.count() == 0)
        }
    }

    @Test("Sends a body that is too long to store, and refuses a repetition with 409")
    func notKept() async throws {
        let bodies = [
            ResponseBody(byteBuffer: ByteBuffer(repeating: 7, count: 65_537)),
            ResponseBody { writer in
                try await writer.write(ByteBuffer(string: "stream"))
                try await writer.finish(nil)
            },
        ]
        for body in bodies {
            let server = OrderServer { _, _ in Response(status: .ok, body: body) }
            #expect(try await !server.order().body.isEmpty)
            let again = try await server.order()
            #expect(again.status == .conflict && again[header: "Retry-After"] == nil)
            #expect(try again.error["details"]?.objectValue == RepeatedRequestState.finished.details)
            #expect(server.effects.all == 1)
        }
        let longest = OrderServer { _, _ in Response(status: .ok, body: .init(byteBuffer: .init(repeating: 7, count: 65_536))) }
        _ = try await longest.order()
        #expect(try await longest.order().body.count == 65_536)
    }

    @Test("Executes a request again when its key expires after 24 hours")
    func lifetime() async throws {
        let server = OrderServer()
        _ = try await server.order()
        server.wall.advance(by: 86_399)
        #expect(try await server.order()[header: "Idempotency-Replayed"] == "true")
        server.wall.advance(by: 1)
        #expect(try await server.order().text == "order 2: tea")
    }

    @Test("Refuses a repetition in the same process even after the lease")
    func slow() async throws {
        let gate = Gate()
        let server = OrderServer { _, _ in
            await gate.pass()
            return Response(status: .created)
        }
        async let first = server.order()
        await gate.waitForArrival()
        server.wall.advance(by: 3_600)
        #expect(try await server.order().status == .conflict)
        gate.open()
        _ = try await first
        #expect(try await server.order().status == .created)
        #expect(server.effects.all == 1)
    }

    @Test("Keeps the key of a route past its deadline, and stores its response")
    func late() async throws {
        let gate = Gate()
        let clock = ManualClock()
        let server = OrderServer(deadline: RequestDeadline(.seconds(30), clock: clock)) { _, _ in
            await gate.pass()
            return Response(status: .created)
        }
        async let first = server.order()
        await gate.waitForArrival()
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        #expect(try await first.status == .gatewayTimeout)
        #expect(try await server.order().status == .conflict)
        gate.open()
        var response = try await server.order()
        while response.status == .conflict {
            await Task.yield()
            response = try await server.order()
        }
        #expect(response.status == .created && response[header: "Idempotency-Replayed"] == "true")
        #expect(server.effects.all == 1)
    }

    @Test("Executes the request of a crashed process again when the lease ends")
    func crash() async throws {
        let store = MemoryIdempotencyStore()
        let died = OrderServer(store: FaultyStore(store, fault: .forgetsTheEnd))
        #expect(try await died.order().status == .created)
        let next = OrderServer(store: store)
        let early = try await next.order()
        #expect(early.status == .conflict && early[header: "Retry-After"] == "60")
        #expect(try early.error["details"]?.objectValue?["state"] == "running")
        next.wall.advance(by: 59)
        #expect(try await next.order()[header: "Retry-After"] == "1")
        #expect(next.effects.all == 0)
        next.wall.advance(by: 1)
        #expect(try await next.order().status == .created)
        #expect(died.effects.all == 1 && next.effects.all == 1)
    }

    @Test("Responds with 503 and executes nothing if the store fails to claim the key")
    func failingClaim() async throws {
        let server = OrderServer(store: FaultyStore(MemoryIdempotencyStore(), fault: .failsToClaim))
        for _ in 0..<2 {
            let response = try await server.order()
            #expect(response.status == .serviceUnavailable && response[header: "Retry-After"] != nil)
            #expect(!response.text.contains("hunter2"))
        }
        #expect(server.effects.all == 0)
        #expect(try await server.order(key: nil).status == .created)
    }

    @Test("Refuses a key beyond the client's share with 429 and a delay of at most 1 h")
    func full() async throws {
        let server = OrderServer(store: FaultyStore(MemoryIdempotencyStore(), fault: .isFull))
        let response = try await server.order()
        #expect(response.status == .tooManyRequests && response[header: "X-Error-Code"] == "RATE_LIMIT_EXCEEDED")
        #expect(response[header: "Retry-After"] == "3600")
        #expect(server.effects.all == 0)
        #expect(try server.count("full") == 1)
        #expect(try await server.order(key: nil).status == .created)
    }

    @Test("Releases a key that the store claimed before it threw an error")
    func lostClaim() async throws {
        let server = OrderServer(store: FaultyStore(MemoryIdempotencyStore(), fault: .losesTheFirst))
        #expect(try await server.order().status == .serviceUnavailable)
        #expect(try await server.order().status == .conflict)
        await server.keys.settleRest()
        #expect(try await server.order().status == .created)
        #expect(server.effects.all == 1)
    }

    /// A logger that discards its lines.
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    private let secret = IdempotencySecret()

    /// Returns a claim of a request with a key.
    private func claim(_ key: String) throws -> IdempotencyClaim {
        let key = try IdempotencyKey(key)
        return secret.claim(key, owner: .account("ana"), method: "POST", route: "/orders", path: "/orders", body: [])
    }

    @Test("Finishes the key of an executed request after 10,000 failed claims")
    func crowdedOutage() async throws {
        let store = OutageStore()
        let keys = OrderServer(store: store).keys
        let executed = try claim("executed")
        #expect(try await keys.begin(executed, logger) == nil)
        store.setDown(true)
        for number in 0..<10_000 { _ = try? await keys.begin(try claim("\(number)"), logger) }
        await keys.settle(executed, with: .finished(nil), logger)
        store.setDown(false)
        await keys.settleRest()
        let time = Date(timeIntervalSince1970: 1_750_000_000)
        #expect(try await store.claim(try claim("executed"), lease: .seconds(60), at: time) == .finished(nil))
    }

    @Test("A canceled claim counts as no failure of the store, and is not logged as one")
    func canceledClaim() async throws {
        let cases: [(fault: FaultyStore.Fault, failures: Int)] = [(.isCanceled, 0), (.failsToClaim, 1)]
        for (fault, failures) in cases {
            let server = OrderServer(store: FaultyStore(MemoryIdempotencyStore(), fault: fault))
            let logs = InMemoryLogHandler()
            let logger = Logger(label: "test", factory: { _ in logs })
            await #expect(throws: ContractError.self) { try await server.keys.begin(try claim("k"), logger) }
            #expect(logs.entries.count == failures)
            #expect(try server.count("failed") == Int64(failures))
        }
    }

    @Test("Stores at most 10,000 failed writes if more fail during a slow retry")
    func crowdedRetry() async throws {
        let store = HeldReleaseStore()
        let keys = OrderServer(store: store).keys
        for number in 0..<10_000 { _ = try? await keys.begin(try claim("\(number)"), logger) }
        async let retry: Void = keys.settleRest()
        await store.gate.waitForArrival()
        for number in 10_000..<20_000 { _ = try? await keys.begin(try claim("\(number)"), logger) }
        store.gate.open()
        await retry
        #expect(store.releases == 1)
        await keys.settleRest()
        #expect(store.releases == 10_001)
    }

    @Test("Sends a response even if the store fails to finish the key")
    func failingEnd() async throws {
        let server = OrderServer(store: FaultyStore(MemoryIdempotencyStore(), fault: .failsToEnd))
        #expect(try await server.order().status == .created)
        #expect(try await server.order().status == .conflict)
        #expect(server.effects.all == 1)
        #expect(try server.count("failed") == 1)
    }

    @Test(
        "Refuses an invalid key with 400 and executes nothing",
        arguments: ["", #"""#, "a,b", String(repeating: "k", count: 256)]
    )
    func malformed(key: String) async throws {
        let server = OrderServer()
        let response = try await server.order(key: key)
        #expect(response.status == .badRequest && response[header: "X-Error-Code"] == "REQUEST_MALFORMED")
        #expect(try response.error["details"]?.objectValue?["header"] == "Idempotency-Key")
        #expect(server.effects.all == 0)
    }

    @Test("Refuses requests without a key if the route requires one")
    func required() async throws {
        let server = OrderServer(isRequired: true)
        #expect(try await server.order(key: nil).status == .badRequest)
        #expect(try await server.order(key: nil, method: .get).status == .created)
        #expect(try await server.order().status == .created)
        #expect(server.effects.all == 2)
    }

    @Test("Refuses a body that is too large before hashing it")
    func largeBody() async throws {
        let server = OrderServer()
        #expect(try await server.order(String(repeating: "x", count: 65_537)).status == .contentTooLarge)
        #expect(server.effects.all == 0)
        #expect(try await server.store.count() == 0)
    }

    @Test("Bounds the keys of 50 clients, and keeps the key of another client")
    func junk() async throws {
        let server = OrderServer(store: MemoryIdempotencyStore(bounds: IdempotencyBounds(bytes: 2 << 20)))
        _ = try await server.order(client: "victim")
        for number in 0..<5_000 {
            _ = try await server.order("x", key: "\(number)", client: "junk-\(number % 50)")
        }
        #expect(try await server.store.count() <= 1_000)
        #expect(try await server.order(client: "victim")[header: "Idempotency-Replayed"] == "true")
    }

    @Test("Removes keys after their leases until the service is canceled")
    func sweeping() async throws {
        let (clock, store) = (ManualClock(), MemoryIdempotencyStore())
        let wall = OrderServer.WallClock()
        let keys = IdempotencyKeys(store: store, clock: clock) { wall.now }
        let claim = IdempotencySecret().claim(
            try IdempotencyKey("k"),
            owner: .account("ana"),
            method: "POST",
            route: "/",
            path: "/",
            body: []
        )
        #expect(store.claim(claim, lease: .seconds(60), at: wall.now) == .claimed)
        let task = Task { try await keys.run() }
        await clock.waitForSleepers()
        #expect(store.count() == 1)
        wall.advance(by: 61)
        clock.advance(by: .seconds(300))
        while store.count() > 0 { await Task.yield() }
        await clock.waitForSleepers()
        task.cancel()
        try await task.value
    }

    @Test("Requires a positive lifetime and lease")
    func noTime() async {
        await #expect(processExitsWith: .failure) { _ = IdempotencyKeys(lifetime: .zero) }
        await #expect(processExitsWith: .failure) { _ = IdempotencyKeys(lease: .zero) }
    }
}
