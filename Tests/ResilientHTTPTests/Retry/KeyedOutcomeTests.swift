import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing
import Timekeeping

private let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "", wasSent: true))
private let unsent = ScriptedTransport.Step.failure(TransportError(.unreachable, message: "", wasSent: false))

@Suite("Outcome of calls with an idempotency key", .timeLimit(.minutes(10))) struct KeyedOutcomeTests {
    /// Makes a call with at most two retries, without delays.
    private func error(
        of steps: [ScriptedTransport.Step],
        options: CallOptions = CallOptions(),
        method: HTTPRequest.Method = .post
    ) async throws -> (APIError?, ScriptedTransport) {
        let transport = ScriptedTransport(steps)
        var client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            middleware: [
                IdempotencyKeyMiddleware(), RetryMiddleware(RetryPolicy(maximumRetries: 2, backoff: Backoff(base: .zero))),
            ],
            environment: ClientEnvironment(clock: MonotonicClock(ManualClock()), chance: { 0 })
        )
        client.policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/a", method: method)
        let error = await failure { [client] in _ = try await client.send(method, "/a", options: options, context: "note") }
        return (error, transport)
    }

    @Test(
        "Reports an unknown outcome after the last retry if the server may have acted",
        arguments: [[lost, lost, lost], [lost, unsent, unsent], [unsent, lost, unsent]]
    )
    func unknown(steps: [ScriptedTransport.Step]) async throws {
        let (error, transport) = try await error(of: steps)
        #expect(error?.kind == .unknownOutcome && error?.recovery == .checkAgain && error?.isRetryable == false)
        #expect(error?.attempts == 3 && error?.context == "note" && transport.sent.count == 3)
        #expect(Set(transport.sent.map { $0.request.headerFields[.idempotencyKey] }).count == 1)
    }

    @Test("Reports the last error if no byte of any attempt was sent")
    func neverSent() async throws {
        let (error, _) = try await error(of: [unsent, unsent, unsent])
        #expect(error?.kind == .network)
    }

    @Test("Reports the final response of the server if the last attempt got one", arguments: [400, 409, 422])
    func gotResponse(status: Int) async throws {
        let (error, _) = try await error(of: [lost, lost, .response(status: status)])
        #expect(error?.status == status)
    }

    @Test(
        "A temporary refusal after a lost response leaves the outcome unknown",
        arguments: [
            [lost, lost, .response(status: 503)], [lost, .response(status: 502), .response(status: 429)],
            [lost, .response(status: 503, headers: [.retryAfter: "3600"])],
        ] as [[ScriptedTransport.Step]]
    )
    func refusedAfterLoss(steps: [ScriptedTransport.Step]) async throws {
        let (error, transport) = try await error(of: steps)
        #expect(error?.kind == .unknownOutcome && error?.recovery == .checkAgain && error?.isRetryable == false)
        #expect(error?.attempts == steps.count && transport.sent.count == steps.count)
        #expect((error?.underlying as? APIError)?.status != nil)
    }

    @Test("Reports a temporary refusal as it is if each attempt received a response")
    func refusedEachTime() async throws {
        let (error, _) = try await error(of: [.response(status: 503), .response(status: 503), .response(status: 503)])
        #expect(error?.kind == .server && error?.status == 503)
    }

    @Test("Reports the last error as retryable to a caller with its own key")
    func ownKey() async throws {
        let (error, transport) = try await error(of: [lost, lost, lost], options: .idempotencyKey("own"))
        #expect(error?.kind == .network && error?.isRetryable == true)
        #expect(transport.sent.allSatisfy { $0.request.headerFields[.idempotencyKey] == "\"own\"" })
    }

    @Test("A method that is safe to repeat has no unknown outcome")
    func put() async throws {
        let (error, transport) = try await error(of: [lost, lost, lost], method: .put)
        #expect(error?.kind == .network)
        #expect(transport.sent.allSatisfy { !$0.request.headerFields.contains(.idempotencyKey) })
    }
}
