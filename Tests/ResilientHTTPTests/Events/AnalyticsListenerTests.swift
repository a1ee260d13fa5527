import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@Suite struct AnalyticsListenerTests {
    /// 2025-11-04T10:30:00Z
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    /// Records the events that it receives.
    private final class Recorder: AnalyticsListener {
        private let state = Mutex<[(name: String, error: AnalyticsError)]>([])
        var names: [String] { state.withLock { $0.map(\.name) } }
        var errors: [AnalyticsError] { state.withLock { $0.map(\.error) } }
        func apiError(_ error: AnalyticsError) { state.withLock { $0.append(("api_error", error)) } }
        func serverError(_ error: AnalyticsError) { state.withLock { $0.append(("server_error", error)) } }
    }

    /// Implements no method.
    private struct Idle: AnalyticsListener {}

    private let recorder = Recorder()

    private func client(_ steps: ScriptedTransport.Step..., language: Language = .spanish) throws -> APIClient {
        var client = try makeClient(ScriptedTransport(steps), language: language)
        client.listeners = [AnalyticsAdapter(recorder), AnalyticsAdapter(Idle())]
        return client
    }

    @Test("api_error reports the code, the message, the endpoint and the server's timestamp")
    func apiError() async throws {
        let body =
            #"{"error":{"code":"RESOURCE_NOT_FOUND","message":"m","timestamp":"2025-11-04T10:29:58Z","request_id":"r1"}}"#
        let client = try client(.response(status: 404, body: body))
        _ = await failure { _ = try await client.send(.get, "/api/lessons/17?token=secret") }
        let error = try #require(recorder.errors.first)
        #expect(recorder.names == ["api_error"])
        #expect(error.code == .resourceNotFound && error.kind == .notFound && error.status == 404)
        let expected = try #require(ErrorCatalogue.standard.closestDefinition(to: .resourceNotFound)).message.text(in: .spanish)
        #expect(error.message == expected)
        #expect(error.endpoint == Endpoint(.get, "/api/lessons/{id}"))
        #expect(error.serverTimestamp == Self.now.addingTimeInterval(-2) && error.timestamp == Self.now)
        #expect(error.requestID == "r1")
    }

    @Test("server_error is reported beside api_error for a failure of the server", arguments: [500, 502, 503, 408])
    func serverError(status: Int) async throws {
        let client = try client(.response(status: status))
        _ = await failure { _ = try await client.send(.get, "/api/lessons") }
        #expect(recorder.names == ["api_error", "server_error"])
        #expect(recorder.errors.last?.message == "Algo salió mal. Por favor, intenta de nuevo.")
        #expect(recorder.errors.last?.endpoint.description == "GET /api/lessons")
    }

    @Test("A failure without a response is an api_error without the server's timestamp")
    func unreachable() async throws {
        let client = try client(.failure(TransportError(.unreachable, message: "", wasSent: false)), language: .english)
        _ = await failure { _ = try await client.send(.get, "/api/lessons") }
        #expect(recorder.names == ["api_error"])
        #expect(recorder.errors.first?.code == .networkError && recorder.errors.first?.serverTimestamp == nil)
        #expect(recorder.errors.first?.message == "Check your internet connection")
    }

    @Test(
        "No event contains server texts, an address, a query or a token",
        arguments: [
            #"{"error":{"code":"RESOURCE_CONFLICT_NEW","message":"ana@example.org has the token s3cret"}}"#,
            #"{"success":false,"errors":[{"field":"email","message":"ana@example.org is taken, s3cret"}]}"#,
            #"{"detail":"ana@example.org s3cret"}"#, #"{"email":["ana@example.org s3cret"]}"#,
        ]
    )
    func secrets(body: String) async throws {
        let client = try client(.response(status: 400, body: body))
        let headers: HTTPFields = [.authorization: "Bearer s3cret"]
        _ = await failure { _ = try await client.send(.post, "/api/users/ana@example.org?token=s3cret", headers: headers) }
        #expect(recorder.names == ["api_error"])
        #expect(recorder.errors.first?.message.isEmpty == false)
        #expect(!"\(recorder.errors)".contains("ana@") && !"\(recorder.errors)".contains("s3cret"))
    }

    @Test("Does not report a success or a call that the app canceled")
    func notReported() async throws {
        let client = try client(
            .response(status: 200, body: "{}"),
            .failure(TransportError(.cancelled, message: "", wasSent: false))
        )
        _ = try await client.send(.get, "/api/lessons")
        _ = await failure { _ = try await client.send(.get, "/api/lessons") }
        #expect(recorder.names.isEmpty)
    }
}
