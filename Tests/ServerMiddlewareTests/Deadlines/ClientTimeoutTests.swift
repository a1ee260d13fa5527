import ErrorContract
import HTTPTypes
import HoldfastTesting
import Hummingbird
import Synchronization
import Testing

@testable import ServerMiddleware

@Suite(.timeLimit(.minutes(10))) struct ClientTimeoutTests {
    private func request(_ values: String...) -> Request {
        var headers: HTTPFields = [:]
        for value in values { headers.append(HTTPField(name: .requestTimeout, value: value)) }
        return .make(.post, headers: headers)
    }

    @Test(
        "The smaller of the route's and the client's timeout applies",
        arguments: [
            ("1", 1), ("29999", 29_999), ("30000", 30_000), ("30001", 30_000), ("00000000000000000000500", 500),
            ("99999999999999999999999", 30_000),
        ]
    )
    func smaller(value: String, milliseconds: Int) throws {
        #expect(try RequestDeadline(.seconds(30)).limit(of: request(value)) == .milliseconds(milliseconds))
    }

    @Test(
        "Refuses a client timeout that is not a positive integer, without the route",
        arguments: [
            "0", "000", "-1", "-99999999999999999999", "", "abc", "soon", "1.5", "1e3", "+5", "0x10", "5 s", "-", "--5", "٥",
            "NaN", "5, 6",
            "\u{0}",
        ]
    )
    func invalid(value: String) async throws {
        let calls = Mutex(0)
        let router = ContractRouter(context: ReadingContext.self, deadline: RequestDeadline(.seconds(30), clock: ManualClock()))
        router.post("/") { _, _ in
            calls.withLock { $0 += 1 }
            return Response(status: .ok)
        }
        let responder = router.buildResponder()
        let response = try await CollectedResponse(try await responder.respond(to: request(value), context: .make()))
        #expect(response.status == .badRequest && response[header: "X-Error-Code"] == "VALIDATION_INVALID_INPUT")
        #expect(calls.withLock { $0 } == 0)
    }

    @Test("Refuses several timeouts in one request, and uses its own without any")
    func several() throws {
        #expect(throws: ContractError.self) { try RequestDeadline(.seconds(30)).limit(of: request("5", "6")) }
        #expect(try RequestDeadline(.seconds(30)).limit(of: .make(.post)) == .seconds(30))
    }

    @Test("Ignores the client's timeout if configured to")
    func heedless() throws {
        #expect(try RequestDeadline(.seconds(30), heedsClients: false).limit(of: request("soon")) == .seconds(30))
    }

    @Test("A route gets a 504 when its client's timeout ends")
    func hanging() async throws {
        let clock = ManualClock()
        let router = ContractRouter(context: ReadingContext.self, deadline: RequestDeadline(.seconds(30), clock: clock))
        router.post("/") { _, _ in
            try await ManualClock().sleep(until: .init(offset: .seconds(1)))
            return Response(status: .ok)
        }
        let responder = router.buildResponder()
        async let pending = responder.respond(to: request("250"), context: .make())
        await clock.waitForSleepers()
        #expect(clock.nextDeadline == .init(offset: .milliseconds(250)))
        clock.advance(by: .milliseconds(250))
        #expect(try await pending.status == .gatewayTimeout)
    }
}
