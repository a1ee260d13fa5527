public import Foundation
import Timekeeping

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
    /// The problems with single fields, in the order of the server: show each at its field.
    public var fields: [FieldText]
    /// The facts that the user sends to support; present if an action is ``Action/contactSupport``. Show its text below the message, and let
    /// the user copy it.
    public var supportReference: SupportReference?

    /// Creates a presentation.
    public init(
        title: String,
        message: String,
        primary: Action,
        secondary: Action? = nil,
        fields: [FieldText] = [],
        supportReference: SupportReference? = nil
    ) {
        self.title = title
        self.message = message
        self.primary = primary
        self.secondary = secondary
        self.fields = fields
        self.supportReference = supportReference
    }

    /// The text for a field; `nil` if nothing is wrong with it.
    /// - Parameter name: The name of the field in the API, such as `email` or `items[1].name`.
    public func text(ofField name: String) -> String? { fields.first { $0.field == name }?.text }

    /// A problem with one field, in the user's language.
    public struct FieldText: Hashable, Sendable {
        /// The name of the field in the API, such as `email` or `items[1].name`; empty for the whole input.
        public var field: String
        /// The text to show at the field.
        public var text: String

        /// Creates a text.
        public init(field: String, text: String) {
            (self.field, self.text) = (field, text)
        }
    }
}

extension APIError {
    /// Returns what to show for this error.
    ///
    /// The message is the first of these that exists: the text of the catalogue for ``code``; the server's text, if it is in the
    /// user's language; a text for the first of ``violations``, by field and kind of problem; a text for ``kind``. A limit whose delay
    /// is known always says it.
    /// - Parameters:
    ///   - language: The user's language.
    ///   - now: The wall clock, from which ``ErrorPresentation/Action/retryAt(_:)`` counts.
    ///   - catalogue: The codes that the app knows, and its own words for them; `nil` for those of the client that made the call.
    public func presentation(
        in language: Language,
        now: Date,
        catalogue: ErrorCatalogue? = nil
    ) -> ErrorPresentation {
        let catalogue = catalogue ?? self.catalogue ?? .standard
        let (primary, secondary) = actions(now: now)
        let needsSupport = primary == .contactSupport || secondary == .contactSupport
        return ErrorPresentation(
            title: catalogue.text(title, in: language),
            message: text(in: language, catalogue: catalogue),
            primary: primary,
            secondary: secondary,
            fields: violations.map {
                ErrorPresentation.FieldText(field: $0.field, text: text(for: $0, in: language, catalogue: catalogue))
            },
            supportReference: needsSupport ? supportReference(now: now) : nil
        )
    }

    private var title: LocalizedText {
        switch (kind, code) {
        case (_, .authWeakPassword): ContractText.weakPasswordTitle
        case (_, .authResetTokenInvalid): ContractText.linkExpiredTitle
        case (.rateLimited, _), (.throttled, _): ContractText.tooManyAttemptsTitle
        case (.unauthorized, _) where isSessionExpired: ContractText.sessionExpiredTitle
        default: ContractText.errorTitle
        }
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

extension ErrorPresentation {
    /// What stands on the button of the main action.
    /// - Parameters:
    ///   - language: The user's language.
    ///   - catalogue: The catalogue with the app's own texts.
    public func primaryLabel(in language: Language, catalogue: ErrorCatalogue = .standard) -> String {
        catalogue.text(primary == .dismiss ? ContractText.accept : primary.label, in: language)
    }

    /// What stands on the button of the other action, if there is one.
    /// - Parameters:
    ///   - language: The user's language.
    ///   - catalogue: The catalogue with the app's own texts.
    public func secondaryLabel(in language: Language, catalogue: ErrorCatalogue = .standard) -> String? {
        secondary.map { catalogue.text($0.label, in: language) }
    }
}

extension ErrorPresentation.Action {
    /// What stands on a button beside another one; alone, ``dismiss`` is an OK rather than a Cancel.
    fileprivate var label: LocalizedText {
        switch self {
        case .dismiss: ContractText.cancel
        case .retry, .retryAt: ContractText.retry
        case .checkAgain: ContractText.checkAgain
        case .signIn: ContractText.signIn
        case .fixFields: ContractText.accept
        case .requestNewLink: ContractText.requestNewLink
        case .contactSupport: ContractText.contactSupport
        case .openSettings: ContractText.openSettings
        case .updateApp: ContractText.updateApp
        }
    }
}
