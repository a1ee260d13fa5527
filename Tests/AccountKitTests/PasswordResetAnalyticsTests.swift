import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@Suite struct PasswordResetAnalyticsTests {
    /// Records the names of the events and the types of the errors.
    private final class Recorder: AnalyticsListener {
        private let state = Mutex<[String]>([])
        var events: [String] { state.withLock(\.self) }
        private func add(_ event: String) { state.withLock { $0.append(event) } }
        func apiError(_ error: AnalyticsError) { add("api_error \(error.code)") }
        func serverError(_ error: AnalyticsError) { add("server_error \(error.endpoint)") }
        func passwordResetRequested() { add("password_reset_requested") }
        func passwordResetCompleted() { add("password_reset_completed") }
        func passwordResetError(_ error: AnalyticsError) { add("password_reset_error \(error.kind) \(error.code)") }
    }

    private let recorder = Recorder()

    private func client(_ steps: ScriptedTransport.Step...) throws -> AccountClient {
        let url = try #require(URL(string: "https://api.example.org"))
        var api = APIClient(baseURL: url, transport: ScriptedTransport(steps), middleware: [])
        api.listeners = [AccountAnalyticsAdapter(recorder)]
        return AccountClient(api: api)
    }

    @Test("password_reset_requested is reported when the server accepts the request")
    func requested() async throws {
        _ = try await client(.accepted).requestPasswordReset(email: try EmailAddress("ana@example.org"))
        #expect(recorder.events == ["password_reset_requested"])
    }

    @Test("password_reset_completed is reported when the server sets the password")
    func completed() async throws {
        let client = try client(.linkIsGood, .response(status: 200, body: #"{"success":true,"message":"m"}"#))
        _ = try await client.validateReset(try Samples.link())
        #expect(recorder.events.isEmpty)
        _ = try await client.confirmReset(try Samples.link(), newPassword: try Password("n3w pass"))
        #expect(recorder.events == ["password_reset_completed"])
    }

    @Test("password_reset_error is reported with its type for each step")
    func errors() async throws {
        let client = try client(
            .limited(retryAfter: 60),
            .refusal(400, .authResetTokenInvalid),
            .response(status: 500)
        )
        _ = await failure { _ = try await client.requestPasswordReset(email: try EmailAddress("ana@example.org")) }
        _ = await failure { _ = try await client.validateReset(try Samples.link()) }
        _ = await failure { _ = try await client.confirmReset(try Samples.link(), newPassword: try Password("n3w pass")) }
        #expect(
            recorder.events == [
                "api_error RATE_LIMIT_EXCEEDED", "password_reset_error rateLimited RATE_LIMIT_EXCEEDED",
                "api_error AUTH_RESET_TOKEN_INVALID", "password_reset_error badRequest AUTH_RESET_TOKEN_INVALID",
                "api_error SERVER_ERROR_500", "server_error POST /api/confirm-password-reset",
                "password_reset_error server SERVER_ERROR_500",
            ]
        )
        #expect(!"\(recorder.events)".contains("ana@"))
    }

    @Test("Other account calls report no event of a password reset")
    func others() async throws {
        let client = try client(.refusal(401, .authInvalidCredentials))
        _ = await failure {
            _ = try await client.signIn(email: try EmailAddress("ana@example.org"), password: try Password("x"))
        }
        #expect(recorder.events == ["api_error AUTH_INVALID_CREDENTIALS"])
    }
}
