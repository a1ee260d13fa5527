import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

/// Facts of an error for code that knows little about this library.
@Suite("Facts of an error")
struct ErrorFactsTests {
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private func suspended(timestamp: String? = nil) -> APIError {
        let time = timestamp.map { #","timestamp":"\#($0)""# } ?? ""
        let body = #"{"error":{"code":"AUTH_USER_SUSPENDED","message":"m","request_id":"r9"\#(time)}}"#
        return APIError(ErrorDecoder().decode(status: 403, headers: [:], body: Array(body.utf8), now: Self.now))
    }

    @Test(
        "localizedDescription is the presentation's message in the client's language",
        arguments: [(Language.spanish, "Revisa tu conexión a internet"), (.english, "Check your internet connection")]
    )
    func localizedDescription(language: Language, expected: String) {
        var error = APIError(.network)
        error.language = language
        #expect(error.localizedDescription == expected)
        #expect((error as any Error).localizedDescription == expected)
        #expect((error as any LocalizedError).errorDescription == expected)
    }

    @Test("Without a client, localizedDescription is in the language of the device's user")
    func preferredDescription() {
        #expect(APIError(.network).localizedDescription == ContractText.network.text(in: .preferred()))
    }

    @Test("Sends the user to support with the code, the request id and the server's time")
    func supportReference() throws {
        let shown = suspended(timestamp: "2025-11-04T10:31:00Z").presentation(in: .spanish, now: Self.now)
        let reference = try #require(shown.supportReference)
        #expect(reference.code == .authUserSuspended && reference.requestID == "r9")
        #expect(reference.description == "AUTH_USER_SUSPENDED · r9 · 2025-11-04T10:31:00Z")
        #expect(reference.text(in: .spanish) == "Referencia para soporte: AUTH_USER_SUSPENDED · r9 · 2025-11-04T10:31:00Z")
        #expect(reference.text(in: .english) == "Support reference: AUTH_USER_SUSPENDED · r9 · 2025-11-04T10:31:00Z")
        #expect(reference.text(in: .hebrew).contains("\u{2068}AUTH_USER_SUSPENDED"), "kept apart in Hebrew")
        #expect(ContractText.supportReference.text(in: .spanish) == "Referencia para soporte")
        #expect(ContractText.supportReference.text(in: .english) == "Support reference")
    }

    @Test("Uses the device's time without a server's; other errors carry no reference")
    func supportReferenceTime() {
        #expect(suspended().supportReference(now: Self.now).description == "AUTH_USER_SUSPENDED · r9 · 2025-11-04T10:30:00Z")
        #expect(APIError(.network).presentation(in: .english, now: Self.now).supportReference == nil)
        #expect(APIError(.network).supportReference(now: Self.now).description == "NETWORK_ERROR · 2025-11-04T10:30:00Z")
    }

    @Test("Errors with equal facts are equal, whatever client made the call")
    func equal() {
        var (left, right) = (suspended(), suspended())
        (left.language, left.catalogue) = (.spanish, nil)
        #expect(left == right)
        left.underlying = URLError(.timedOut)
        #expect(left != right)
        right.underlying = URLError(.timedOut)
        #expect(left == right)
        right.underlying = URLError(.badURL)
        #expect(left != right)
    }

    /// One change of each fact.
    private static let changes: [@Sendable (inout APIError) -> Void] = [
        { $0.kind = .custom }, { $0.code = "OTHER" }, { $0.message = "other" }, { $0.status = 418 },
        { $0.headers[.retryAfter] = "1" }, { $0.body = [1] }, { $0.details["a"] = 1 },
        { $0.violations = [FieldViolation(field: "a", message: "")] },
        { $0.retryAfter = .seconds(1) }, { $0.isRetryAfterConfirmed = true }, { $0.retryAt = Date(timeIntervalSince1970: 0) },
        { $0.serverTimestamp = Date(timeIntervalSince1970: 0) }, { $0.requestID = "other" }, { $0.context = "other" },
        { $0.attempts = 9 }, { $0.retry = .withBackoff }, { $0.recovery = .updateApp }, { $0.underlying = CancellationError() },
        { $0.hold = LocalHold(.gate, wait: .zero) }, { $0.isRefreshFailure = true }, { $0.sentCredentials = false },
        { $0.serverTextLanguage = .german }, { $0.presentationText = ContractText.network },
    ]

    @Test("Each fact that a caller can see makes errors different", arguments: changes.indices)
    func different(index: Int) {
        var changed = suspended()
        Self.changes[index](&changed)
        #expect(changed != suspended())
    }

    @Test("A screen's own text has the highest priority")
    func presentationText() {
        var error = APIError(.rateLimited)
        error.presentationText = ContractText.resetLimited(wait: .seconds(3_600))
        #expect(error.presentation(in: .spanish, now: Self.now).message.hasSuffix("intenta de nuevo en 1 hora."))
    }
}
