public import Foundation

/// What an app shows for an error: a title, a text and at most two actions. No UI framework is needed.
public struct ErrorPresentation: Hashable, Sendable {
    /// Something that the person can do.
    public enum Action: Hashable, Sendable {
        /// Take note.
        case dismiss
        /// Repeat.
        case retry
        /// Repeat, but not before this time.
        case retryAt(Date)
        /// Find out whether the request took effect, without sending it again. Only the caller knows how: it reloads the data that the
        /// request was to change, for example.
        case checkAgain
        /// Sign in again.
        case signIn
        /// Correct the input.
        case fixFields
        /// Ask for a new link.
        case requestNewLink
        /// Write to support.
        case contactSupport
        /// Change something in the settings.
        case openSettings
        /// Install a newer version of the app.
        case updateApp
    }

    /// The title.
    public var title: String
    /// The text.
    public var message: String
    /// The main action.
    public var primary: Action
    /// The other action, if there are two.
    public var secondary: Action?

    /// Creates a presentation.
    public init(title: String, message: String, primary: Action, secondary: Action? = nil) {
        self.title = title
        self.message = message
        self.primary = primary
        self.secondary = secondary
    }
}

extension APIError {
    /// What to show for this error.
    /// - Parameters:
    ///   - language: The person's language.
    ///   - now: The wall clock, from which ``ErrorPresentation/Action/retryAt(_:)`` counts.
    ///   - catalogue: The codes that the app knows, and its own words for them.
    public func presentation(
        in language: Language,
        now: Date,
        catalogue: ErrorCatalogue = .standard
    ) -> ErrorPresentation {
        let (primary, secondary) = actions(now: now)
        return ErrorPresentation(
            title: catalogue.text(title, in: language),
            message: text(in: language, catalogue: catalogue),
            primary: primary,
            secondary: secondary
        )
    }

    private var title: LocalizedText {
        switch (kind, code) {
        case (_, .authWeakPassword): ContractText.weakPasswordTitle
        case (_, .authResetTokenInvalid): ContractText.linkExpiredTitle
        case (.rateLimited, _), (.throttled, _): ContractText.tooManyAttemptsTitle
        case (.unauthorized, _) where recovery == .signIn: ContractText.sessionExpiredTitle
        default: ContractText.errorTitle
        }
    }

    private func text(in language: Language, catalogue: ErrorCatalogue) -> String {
        let say = { (text: LocalizedText) in catalogue.text(text, in: language) }
        switch kind {
        case .network, .noInternet, .timeout, .unknownOutcome: return say(ContractText.network)
        // A gate that a 429 closed repeats the server's refusal; any other hold is a quota of the app.
        case .throttled where hold?.source == .gate: return say(ContractText.limited(wait: retryAfter))
        case .throttled: return say(ContractText.throttled(wait: retryAfter))
        case .unavailable: return say(ContractText.unavailable(wait: retryAfter))
        case .decoding, .notAPI, .invalidRequest, .cancelled: return say(ContractText.unknownError)
        default: break
        }
        if code == .authResetTokenInvalid { return say(ContractText.linkExpired) }
        if kind == .unauthorized, recovery == .signIn { return say(ContractText.sessionExpired) }
        if kind == .server { return say(ContractText.server) }
        if let message, !message.isEmpty { return message }
        if kind == .rateLimited { return say(ContractText.limited(wait: retryAfter)) }
        return say(catalogue.closestDefinition(to: code)?.message ?? ContractText.unknownError)
    }

    private func actions(now: Date) -> (ErrorPresentation.Action, ErrorPresentation.Action?) {
        // A repeat could make the change twice, whatever the error's recovery says.
        if kind == .unknownOutcome { return (.checkAgain, .dismiss) }
        return switch recovery {
        case .dismiss: (.dismiss, nil)
        case .fixFields: (.fixFields, nil)
        case .signIn: (.signIn, .dismiss)
        case .wait:
            if let retryAfter {
                (.retryAt(now.addingTimeInterval(Double(retryAfter.wholeSecondsRoundedUp))), .dismiss)
            } else {
                (.dismiss, nil)
            }
        case .retry: (.retry, .dismiss)
        case .checkAgain: (.checkAgain, .dismiss)
        case .requestNewLink: (.requestNewLink, .dismiss)
        case .contactSupport: (.contactSupport, .dismiss)
        case .openSettings: (.openSettings, .dismiss)
        case .updateApp: (.updateApp, .dismiss)
        }
    }
}
