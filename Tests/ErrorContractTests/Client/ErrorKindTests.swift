import ErrorContract
import Foundation
import Testing

/// A kind, its default facts, and the title, text and actions that users see for it.
struct KindRow: Sendable, CustomTestStringConvertible {
    var kind: APIError.Kind
    var code: String
    var retry: RetryClass
    var recovery: Recovery
    var retryAfter: Duration?
    var title: LocalizedText
    var text: LocalizedText
    var actions: [ErrorPresentation.Action]

    var testDescription: String { "\(kind)\(retryAfter == nil ? "" : " for a while")" }

    /// 2025-11-04T10:30:00Z
    static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private init(
        _ kind: APIError.Kind,
        _ code: String,
        _ retry: RetryClass,
        _ recovery: Recovery,
        after retryAfter: Duration? = nil,
        title: LocalizedText = ContractText.errorTitle,
        _ text: LocalizedText,
        _ actions: [ErrorPresentation.Action]
    ) {
        (self.kind, self.code, self.retry, self.recovery, self.retryAfter) = (kind, code, retry, recovery, retryAfter)
        (self.title, self.text, self.actions) = (title, text, actions)
    }

    private static let tooMany = ContractText.tooManyAttemptsTitle
    private static let again: [ErrorPresentation.Action] = [.retry, .dismiss]

    private static func text(of code: ErrorCode) -> LocalizedText {
        ErrorCatalogue.standard[code]?.message ?? ContractText.unknownError
    }

    static let all = [
        KindRow(.network, "NETWORK_ERROR", .withBackoff, .retry, ContractText.network, again),
        KindRow(.noInternet, "NO_INTERNET", .withBackoff, .retry, ContractText.network, again),
        KindRow(.timeout, "TIMEOUT", .withBackoff, .retry, ContractText.network, again),
        KindRow(.cancelled, "CANCELLED", .never, .dismiss, ContractText.unknownError, [.dismiss]),
        KindRow(
            .unauthorized,
            "UNAUTHORIZED",
            .afterRefreshOrSignIn,
            .signIn,
            title: ContractText.sessionExpiredTitle,
            ContractText.sessionExpired,
            [.signIn, .dismiss]
        ),
        KindRow(.forbidden, "FORBIDDEN", .never, .dismiss, text(of: .resourceForbidden), [.dismiss]),
        KindRow(.badRequest, "BAD_REQUEST", .never, .dismiss, ContractText.unknownError, [.dismiss]),
        KindRow(.notFound, "NOT_FOUND", .never, .dismiss, text(of: .resourceNotFound), [.dismiss]),
        KindRow(.conflict, "CONFLICT", .never, .dismiss, ContractText.unknownError, [.dismiss]),
        KindRow(.validation, "VALIDATION_ERROR", .never, .fixFields, ContractText.unknownError, [.fixFields]),
        KindRow(.rateLimited, "RATE_LIMITED", .afterDelay, .wait, title: tooMany, ContractText.limited(wait: nil), [.dismiss]),
        KindRow(
            .rateLimited,
            "RATE_LIMITED",
            .afterDelay,
            .wait,
            after: .seconds(90),
            title: tooMany,
            ContractText.limited(wait: .seconds(90)),
            [.retryAt(now + 90), .dismiss]
        ),
        KindRow(.throttled, "THROTTLED", .afterDelay, .wait, title: tooMany, ContractText.waitShort, [.dismiss]),
        KindRow(
            .throttled,
            "THROTTLED",
            .afterDelay,
            .wait,
            after: .seconds(1),
            title: tooMany,
            ContractText.throttled(wait: .seconds(1)),
            [.retryAt(now + 1), .dismiss]
        ),
        KindRow(
            .unavailable,
            "SERVICE_UNAVAILABLE_LOCALLY",
            .afterDelay,
            .wait,
            ContractText.unavailable(wait: nil),
            [.dismiss]
        ),
        KindRow(
            .unavailable,
            "SERVICE_UNAVAILABLE_LOCALLY",
            .afterDelay,
            .wait,
            after: .seconds(6),
            ContractText.unavailable(wait: .seconds(6)),
            [.retryAt(now + 6), .dismiss]
        ),
        KindRow(.server, "SERVER_ERROR_500", .withBackoff, .retry, ContractText.server, again),
        KindRow(.decoding, "DECODING_ERROR", .never, .dismiss, ContractText.unknownError, [.dismiss]),
        KindRow(.unknownOutcome, "UNKNOWN_OUTCOME", .never, .checkAgain, ContractText.network, [.checkAgain, .dismiss]),
        KindRow(.notAPI, "NOT_API_RESPONSE", .never, .dismiss, ContractText.unknownError, [.dismiss]),
        KindRow(.invalidRequest, "INVALID_REQUEST", .never, .dismiss, ContractText.unknownError, [.dismiss]),
        KindRow(.custom, "UNKNOWN", .never, .dismiss, ContractText.unknownError, [.dismiss]),
    ]
}

@Suite struct ErrorKindTests {
    @Test("A kind has its own code, retry class and recovery", arguments: KindRow.all)
    func local(row: KindRow) {
        let error = APIError(row.kind, context: "user_login", underlying: CancellationError())
        #expect(error.kind == row.kind && error.code.rawValue == row.code)
        #expect(error.retry == row.retry && error.recovery == row.recovery)
        #expect(error.isRetryable == (row.retry != .never))
        #expect(error.context == "user_login" && error.underlying is CancellationError)
        #expect(error.attempts == (row.kind == .invalidRequest ? 0 : 1), "what cannot be built is not sent")
        #expect(error.status == nil && error.message == nil && error.requestID == nil && error.violations.isEmpty)
    }

    @Test("Shows a title, a text and actions for each kind, in every language", arguments: KindRow.all)
    func shown(row: KindRow) {
        var error = APIError(row.kind)
        error.retryAfter = row.retryAfter
        for language in Language.supported {
            let presentation = error.presentation(in: language, now: KindRow.now)
            #expect(presentation.title == row.title.text(in: language))
            #expect(presentation.message == row.text.text(in: language))
            #expect([presentation.primary, presentation.secondary].compactMap(\.self) == row.actions)
            #expect(!presentation.primaryLabel(in: language).isEmpty)
            #expect((presentation.secondaryLabel(in: language) == nil) == (row.actions.count == 1))
        }
    }

    @Test("The table has every kind, and every local code that needs no status")
    func complete() {
        #expect(Set(KindRow.all.map(\.kind)).count == 19)
        #expect(Set(KindRow.all.map(\.code)).count == 19)
    }

    @Test("An app's own kind has no code and is shown like an unknown one")
    func ownKind() {
        let error = APIError(.init(rawValue: "payment"))
        #expect(error.code == .unknown && !error.isRetryable)
        #expect(error.presentation(in: .english, now: KindRow.now).message == "An error occurred. Please try again.")
    }
}
