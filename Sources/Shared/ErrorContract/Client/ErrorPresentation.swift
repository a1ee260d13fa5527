public import Foundation
import Timekeeping

/// The texts and actions that an app shows for an error: a title, a message and at most two actions. The type needs no UI framework.
///
/// ```swift
/// let shown = error.presentation(in: .english, now: Date())
/// print(shown.title, shown.message)
/// if case .retryAt(let date) = shown.primary { enableButton(at: date) }
/// ```
///
/// In SwiftUI, `AccountUI` shows a presentation with `errorAlert(_:isPresented:in:catalogue:checkAgain:perform:)`. In another framework,
/// make a button for each action. ``primaryLabel(in:catalogue:)`` and ``secondaryLabel(in:catalogue:)`` return the labels.
///
/// A presentation is a value, so a screen can store it and compare it with the next presentation. The texts don't change when the user
/// changes the language, so create a new presentation in this case.
public struct ErrorPresentation: Hashable, Sendable {
    /// An action that the user can take. A presentation only names the action, and the app performs it.
    public enum Action: Hashable, Sendable {
        /// Acknowledge the error.
        case dismiss
        /// Retry immediately.
        case retry
        /// Retry, but not before this time on the device's wall clock. Disable the button until then.
        case retryAt(Date)
        /// Check whether the request took effect, without sending it again. The app implements the action. For example, it reloads the data
        /// that the request should change.
        case checkAgain
        /// Sign in again.
        case signIn
        /// Correct the input.
        case fixFields
        /// Request a new link.
        case requestNewLink
        /// Contact support.
        case contactSupport
        /// Change something in the settings.
        case openSettings
        /// Install a newer version of the app.
        case updateApp
    }

    /// The title, in the user's language.
    public var title: String
    /// The text, in the user's language. It never contains internal texts of a server.
    public var message: String
    /// The main action; ``Action/dismiss`` if there is no other action.
    public var primary: Action
    /// The second action; `nil` if there is only one.
    public var secondary: Action?
    /// The problems with single fields, in the order of the server. Show each problem at its field.
    public var fields: [FieldText]
    /// The code, the request id and the time of the error, which the user sends to support; `nil` if no action is
    /// ``Action/contactSupport``. Show the text of the reference below the message, and let the user copy it.
    public var supportReference: SupportReference?

    /// Creates a presentation, for example for an error of the app itself.
    /// - Parameters:
    ///   - title: The title.
    ///   - message: The text.
    ///   - primary: The main action.
    ///   - secondary: The second action; `nil` if there is only one.
    ///   - fields: The problems with single fields.
    ///   - supportReference: The code, the request id and the time that the user sends to support.
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

    /// Returns the text for a field; `nil` if the field is valid.
    /// - Parameter name: The name of the field in the API, such as `email` or `items[1].name`.
    public func text(ofField name: String) -> String? { fields.first { $0.field == name }?.text }

    /// A problem with one field, in the user's language. ``text(ofField:)`` returns the text for a field.
    ///
    /// If the screen doesn't show the field, show the text below the message.
    public struct FieldText: Hashable, Sendable {
        /// The name of the field in the API, such as `email` or `items[1].name`; empty for the whole input.
        public var field: String
        /// The text to show at the field.
        public var text: String

        /// Creates a text.
        /// - Parameters:
        ///   - field: The name of the field in the API; empty for the whole input.
        ///   - text: The text to show at the field.
        public init(field: String, text: String) {
            (self.field, self.text) = (field, text)
        }
    }
}

extension APIError {
    /// Returns the texts and actions to show for this error.
    ///
    /// The message is the first text of this list that exists:
    ///
    /// 1. ``presentationText``.
    /// 2. The text for ``kind``, if the API sent no error response, or if the server failed (``Kind/server``).
    /// 3. The catalogue's text for ``code``.
    /// 4. The server's text, if it is in the user's language, or the own text of an app's error.
    /// 5. A text for the field and the problem of the first of ``violations``.
    /// 6. A text for ``kind``.
    ///
    /// If a limit of the server refused the request and the delay is known, the message includes the delay.
    /// - Parameters:
    ///   - language: The user's language.
    ///   - now: The wall clock. The method adds the delay to it for ``ErrorPresentation/Action/retryAt(_:)``.
    ///   - catalogue: The codes that the app knows, with the app's own translations; `nil` for the catalogue of the client that made the
    ///     call.
    /// - Returns: The presentation. The method also returns a presentation for a canceled call, but an app must not show it.
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

    /// The title for the code, or for the kind if the code has no title.
    private var title: LocalizedText {
        switch (kind, code) {
        case (_, .authWeakPassword): ContractText.weakPasswordTitle
        case (_, .authResetTokenInvalid): ContractText.linkExpiredTitle
        case (.rateLimited, _), (.throttled, _): ContractText.tooManyAttemptsTitle
        case (.unauthorized, _) where isSessionExpired: ContractText.sessionExpiredTitle
        default: ContractText.errorTitle
        }
    }

    /// Returns the main and the second action for the error's recovery. If the user must wait but the delay is unknown, there is no action
    /// for a retry. For ``Kind/unknownOutcome``, the main action is always ``ErrorPresentation/Action/checkAgain``.
    private func actions(now: Date) -> (ErrorPresentation.Action, ErrorPresentation.Action?) {
        // A retry could apply the change twice, so this case ignores the error's recovery.
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
    /// Returns the label of the main action's button.
    /// - Parameters:
    ///   - language: The user's language.
    ///   - catalogue: The catalogue with the app's own texts.
    public func primaryLabel(in language: Language, catalogue: ErrorCatalogue = .standard) -> String {
        catalogue.text(primary == .dismiss ? ContractText.accept : primary.label, in: language)
    }

    /// Returns the label of the second action's button; `nil` if there is only one action.
    /// - Parameters:
    ///   - language: The user's language.
    ///   - catalogue: The catalogue with the app's own texts.
    public func secondaryLabel(in language: Language, catalogue: ErrorCatalogue = .standard) -> String? {
        secondary.map { catalogue.text($0.label, in: language) }
    }
}

extension ErrorPresentation.Action {
    /// The label of a button beside another button. If ``dismiss`` is the only button, its label is OK instead of Cancel.
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
