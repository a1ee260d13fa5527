public import ErrorContract

/// An alert of a screen, with an id. Each failure gets a new id, so two alerts are different even if their texts are the same.
public struct ScreenAlert: Identifiable, Hashable, Sendable {
    /// The number of the alert. Each model counts its own alerts.
    public let id: Int
    /// The texts and actions.
    public let presentation: ErrorPresentation

    /// Creates an alert.
    /// - Parameters:
    ///   - id: A number that no earlier alert of the model has.
    ///   - presentation: The error as the user sees it.
    public init(id: Int, presentation: ErrorPresentation) {
        (self.id, self.presentation) = (id, presentation)
    }

    /// Returns the message of the alert. If the user can contact support, the text also contains the reference for support.
    /// - Parameters:
    ///   - language: The language of the text.
    ///   - catalogue: The catalogue with the app's own translations.
    public func message(in language: Language, catalogue: ErrorCatalogue = .standard) -> String {
        let reference = presentation.supportReference.map { "\n\n" + $0.text(in: language, catalogue: catalogue) }
        return presentation.message + (reference ?? "")
    }
}

/// A question that a screen asks before an action. Two questions are equal if their ids are equal.
package struct ScreenQuestion: Identifiable, Equatable, Sendable {
    /// The number of the question. Each model counts its own questions.
    package let id: Int
    package let title: String
    package let message: String
    /// The label of the button that performs the action.
    package let confirmLabel: String
    /// The label of the button that does nothing.
    package let cancelLabel: String
    /// Starts the action, after the question was closed.
    package let confirm: @MainActor @Sendable () -> Void
    /// Removes the question from its model. Does nothing if the model has replaced the question by another one.
    package let dismiss: @MainActor @Sendable () -> Void

    /// Creates a question.
    package init(
        id: Int,
        title: String,
        message: String,
        confirmLabel: String,
        cancelLabel: String,
        confirm: @escaping @MainActor @Sendable () -> Void,
        dismiss: @escaping @MainActor @Sendable () -> Void
    ) {
        (self.id, self.title, self.message) = (id, title, message)
        (self.confirmLabel, self.cancelLabel) = (confirmLabel, cancelLabel)
        (self.confirm, self.dismiss) = (confirm, dismiss)
    }

    package static func == (left: ScreenQuestion, right: ScreenQuestion) -> Bool { left.id == right.id }
}

/// A dialog above the content of a screen. A screen shows one dialog at a time.
package enum ScreenDialog: Identifiable, Equatable, Sendable {
    /// An error.
    case alert(ScreenAlert)
    /// A question before an action.
    case question(ScreenQuestion)

    /// Identifies a dialog. Alerts and questions are counted separately.
    package enum ID: Hashable, Sendable {
        case alert(ScreenAlert.ID)
        case question(ScreenQuestion.ID)
    }

    package var id: ID {
        switch self {
        case .alert(let alert): .alert(alert.id)
        case .question(let question): .question(question.id)
        }
    }

    package var title: String {
        switch self {
        case .alert(let alert): alert.presentation.title
        case .question(let question): question.title
        }
    }

    /// Returns the text below the title.
    /// - Parameters:
    ///   - language: The language of the text.
    ///   - catalogue: The catalogue with the app's own translations.
    package func message(in language: Language, catalogue: ErrorCatalogue) -> String {
        switch self {
        case .alert(let alert): alert.message(in: language, catalogue: catalogue)
        case .question(let question): question.message
        }
    }
}

/// Presents the alerts and questions of a screen one after the other.
///
/// SwiftUI doesn't show a dialog that is set while another dialog closes. The queue therefore delays a new dialog: the view first updates
/// without a dialog, and then calls ``didClose()``, which presents the new dialog. A dismissal contains the id of its dialog, so that a
/// late dismissal doesn't close the next dialog.
package struct AlertQueue: Equatable, Sendable {
    /// The dialog that is presented, or was presented last. Its texts remain while it disappears.
    package private(set) var content: ScreenDialog?
    /// Whether the view presents ``content``.
    package private(set) var isPresented = false
    private var isClosing = false
    private var next: ScreenDialog?

    /// Creates a queue without a dialog.
    package init() {}

    /// Updates the queue from the model. If the model has a new dialog, the queue first closes the earlier dialog and then presents the new
    /// one. If the model has no dialog, the queue closes the current one.
    /// - Parameter dialog: The dialog of the model; `nil` if the model has none.
    package mutating func follow(_ dialog: ScreenDialog?) {
        guard let dialog, dialog.id != content?.id else {
            next = nil
            if dialog == nil { close() }
            return
        }
        if isPresented || isClosing {
            next = dialog
            close()
        } else {
            present(dialog)
        }
    }

    /// Closes a dialog that the user dismissed. Does nothing if another dialog is presented.
    /// - Parameter id: The id of the dialog that the user dismissed.
    package mutating func dismiss(_ id: ScreenDialog.ID) {
        if content?.id == id { close() }
    }

    /// Presents the next dialog. Call it after the view was updated without the earlier dialog.
    package mutating func didClose() {
        guard isClosing else { return }
        isClosing = false
        if let next { present(next) }
    }

    private mutating func close() {
        guard isPresented else { return }
        (isPresented, isClosing) = (false, true)
    }

    private mutating func present(_ dialog: ScreenDialog) {
        (content, next, isPresented) = (dialog, nil, true)
    }
}
