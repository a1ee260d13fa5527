public import ErrorContract

/// An alert of a screen with an identity: a second failure is a different alert, even with the same text.
public struct ScreenAlert: Identifiable, Hashable, Sendable {
    /// The number of the alert among those of its model.
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

    /// Returns the text of the alert: the message, and the reference for support if an action of the alert is to contact
    /// support.
    /// - Parameters:
    ///   - language: The language of the text.
    ///   - catalogue: The catalogue with the app's own translations.
    public func message(in language: Language, catalogue: ErrorCatalogue = .standard) -> String {
        let reference = presentation.supportReference.map { "\n\n" + $0.text(in: language, catalogue: catalogue) }
        return presentation.message + (reference ?? "")
    }
}

/// Presents the alerts of a screen one after the other.
///
/// SwiftUI loses an alert that is set while another one closes. The queue therefore delays a new alert until the view calls ``didClose()``,
/// after an update in which it showed no alert. A dismissal contains the id of its alert, so a late one has no effect on the next alert.
package struct AlertQueue: Hashable, Sendable {
    /// The alert that is presented, or was presented last. Its texts remain while it disappears.
    package private(set) var content: ScreenAlert?
    /// Whether the view presents ``content``.
    package private(set) var isPresented = false
    private var isClosing = false
    private var next: ScreenAlert?

    package init() {}

    /// Follows the model: presents its alert after closing an earlier one, and closes an alert that the model no longer has.
    package mutating func follow(_ alert: ScreenAlert?) {
        guard let alert, alert.id != content?.id else {
            next = nil
            if alert == nil { close() }
            return
        }
        if isPresented || isClosing {
            next = alert
            close()
        } else {
            present(alert)
        }
    }

    /// Closes an alert that the user dismissed. Ignored if another one is presented.
    package mutating func dismiss(_ id: ScreenAlert.ID) {
        if content?.id == id { close() }
    }

    /// Presents the next alert, after the view was updated without the earlier one.
    package mutating func didClose() {
        guard isClosing else { return }
        isClosing = false
        if let next { present(next) }
    }

    private mutating func close() {
        guard isPresented else { return }
        (isPresented, isClosing) = (false, true)
    }

    private mutating func present(_ alert: ScreenAlert) {
        (content, next, isPresented) = (alert, nil, true)
    }
}
