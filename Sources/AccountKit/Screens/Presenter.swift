import AccountContract
import ErrorContract
import Foundation

/// Puts what a screen has to say into the person's language.
struct Presenter: Sendable {
    let language: Language
    let catalogue: ErrorCatalogue
    let wallClock: @Sendable () -> Date

    func text(_ text: LocalizedText) -> String { catalogue.text(text, in: language) }

    /// A failed call.
    func presentation(of error: APIError) -> ErrorPresentation {
        guard error.code != .validationInvalidEmail else { return problem(EmailRefusal.localPart) }
        return error.presentation(in: language, now: wallClock(), catalogue: catalogue)
    }

    /// Something that the person can put right in the form.
    func problem(title: LocalizedText = ContractText.errorTitle, _ message: LocalizedText) -> ErrorPresentation {
        ErrorPresentation(title: text(title), message: text(message), primary: .fixFields)
    }

    /// Something that the person can only take note of.
    func notice(title: LocalizedText, _ message: LocalizedText) -> ErrorPresentation {
        ErrorPresentation(title: text(title), message: text(message), primary: .dismiss)
    }

    /// A link that could not be read.
    var linkInvalid: ErrorPresentation { notice(title: ContractText.linkInvalidTitle, ContractText.linkInvalid) }

    /// A link that is expired, used or unknown.
    var linkExpired: ErrorPresentation {
        ErrorPresentation(
            title: text(ContractText.linkExpiredTitle),
            message: text(ContractText.linkExpired),
            primary: .requestNewLink,
            secondary: .dismiss
        )
    }

    /// A link that the server refuses though the response to an earlier attempt was lost.
    var passwordProbablyChanged: ErrorPresentation {
        ErrorPresentation(
            title: text(ContractText.resetTitle),
            message: text(ContractText.resetProbablySucceeded),
            primary: .signIn,
            secondary: .requestNewLink
        )
    }

    /// An address that is missing or malformed.
    func problem(_ refusal: EmailRefusal) -> ErrorPresentation {
        refusal == .empty
            ? problem(title: ContractText.emailMissingTitle, ContractText.emailMissing)
            : problem(title: ContractText.emailMalformedTitle, ContractText.emailMalformed)
    }

    /// The failure as it stands now, with what is left of its wait, or `nil` if the wait is over.
    func stillWaiting(_ error: APIError, until date: Date) -> APIError? {
        let left = date.timeIntervalSince(wallClock())
        guard left > 0 else { return nil }
        var waiting = error
        waiting.retryAfter = .seconds(left)
        // The server's text names the whole wait.
        if error.kind == .rateLimited { waiting.message = nil }
        return waiting
    }
}

extension APIError {
    /// The error of a call that carried no session. Its 401 can't mean an expired session, so the user isn't asked to sign in.
    var withoutSession: APIError {
        guard recovery == .signIn else { return self }
        var refusal = self
        (refusal.kind, refusal.code, refusal.message, refusal.recovery) = (.badRequest, .unknown, nil, .retry)
        return refusal
    }

    /// Whether the call ended because nobody wants its answer any more.
    @MainActor var isAbandoned: Bool { kind == .cancelled || Task.isCancelled }
}
