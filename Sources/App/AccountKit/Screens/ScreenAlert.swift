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

/// Presents the alerts of a screen one after the other.
///
/// SwiftUI doesn't show an alert that is set while another alert closes. The queue therefore delays a new alert: the view first updates
/// without an alert, and then calls ``didClose()``, which presents the new alert. A dismissal contains the id of its alert, so that a late
/// dismissal doesn't close the next alert.
package struct AlertQueue: Hashable, Sendable {
    /// The alert that is presented, or was presented last. Its texts remain while it disappears.
    package private(set) var content: ScreenAlert?
    /// Whether the view presents ``content``.
    package private(set) var isPresented = false
    private var isClosing = false
    private var next: ScreenAlert?

    /// Creates a queue without an alert.
    package init() {}

    /// Updates the queue from the model. If the model has a new alert, the queue first closes the earlier alert and then presents the new
    /// one. If the model has no alert, the queue closes the current one.
    /// - Parameter alert: The alert of the model; `nil` if the model has none.
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

    /// Closes an alert that the user dismissed. Does nothing if another alert is presented.
    /// - Parameter id: The id of the alert that the user dismissed.
    package mutating func dismiss(_ id: ScreenAlert.ID) {
        if content?.id == id { close() }
    }

    /// Presents the next alert. Call it after the view was updated without the earlier alert.
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
