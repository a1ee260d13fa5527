public import ErrorContract
import Foundation
public import Observation

/// The interface that the models of all screens share: actions, alerts, focus and announcements.
///
/// `AccountUI`'s modifier `screen(_:focus:perform:)` connects a view to its model. To get the same behavior in the app's own screens,
/// conform their models to this protocol, and apply the modifier:
///
/// ```swift
/// OrderList(model: model).screen(model) { action in open(action) }
/// ```
@MainActor
public protocol ScreenModel: AnyObject, Observable {
    /// The language of the screen.
    var language: Language { get }
    /// The texts of the screen: the client's catalog with the app's own translations.
    var catalogue: ErrorCatalogue { get }
    /// Runs the actions that the screen's buttons start, one at a time.
    var work: ScreenWork { get }
    /// The alert to show, if there is one.
    var currentAlert: ScreenAlert? { get }
    /// The last request to move the focus to a field. The view moves the focus each time this value changes.
    var focusRequest: FocusRequest? { get }
    /// The last text for VoiceOver. VoiceOver speaks the text each time this value changes.
    var announcement: ScreenAnnouncement? { get }
    /// Removes an alert. Does nothing if the model has replaced this alert by another one.
    func dismissAlert(_ id: ScreenAlert.ID)
    /// Performs the action that the user chose in an alert.
    /// - Returns: The action if the app has to perform it, such as contacting support.
    @discardableResult
    func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action?
}

extension ScreenModel {
    /// Always `nil`. A screen with fields implements this property.
    public var focusRequest: FocusRequest? { nil }
    /// Always `nil`. A screen with announcements implements this property.
    public var announcement: ScreenAnnouncement? { nil }

    /// Returns a text in the language of the screen.
    package func text(_ text: LocalizedText) -> String { catalogue.text(text, in: language) }

    /// Starts an action with ``work``, so that the action continues if the row or the alert of its button disappears.
    /// - Parameters:
    ///   - action: The action that the user chose.
    ///   - perform: Performs the action if the model leaves it to the app.
    package func start(
        _ action: ErrorPresentation.Action,
        perform: @escaping @MainActor (ErrorPresentation.Action) -> Void
    ) {
        work.start {
            if let remaining = await self.perform(action) { perform(remaining) }
        }
    }
}

/// The base class of this library's models, with alerts and their actions, focus, and announcements.
@Observable
@MainActor
public class StandardScreenModel: ScreenModel {
    /// The language of the screen, and of the server's texts.
    public let language: Language
    /// Runs the actions that the screen's buttons start, one at a time.
    public let work = ScreenWork()
    /// A closure of the app for a request whose response was lost. The closure checks whether the request took effect. For the action
    /// `checkAgain`, ``perform(_:)`` calls the closure and doesn't send the request again. If the closure is `nil`, ``perform(_:)`` returns
    /// the action.
    @ObservationIgnored public var checkAgain: (@MainActor () async -> Void)?
    var signals = ScreenSignals()
    /// The server's messages about fields.
    var problems = FieldProblems()
    let presenter: Presenter
    /// The error of the latest alert.
    @ObservationIgnored var failure: APIError?

    init(language: Language, catalogue: ErrorCatalogue, wallClock: @escaping @Sendable () -> Date) {
        self.language = language
        presenter = Presenter(language: language, catalogue: catalogue, wallClock: wallClock)
    }

    /// The texts of the screen: the client's catalog with the app's own translations.
    public var catalogue: ErrorCatalogue { presenter.catalogue }

    /// The last request to move the focus to a field. The view moves the focus each time this value changes.
    public var focusRequest: FocusRequest? { signals.focusRequest }

    /// The last text for VoiceOver. VoiceOver speaks the text each time this value changes.
    public var announcement: ScreenAnnouncement? { signals.announcement }

    /// Returns the server's message to show at a field. The message is removed as soon as the user edits the field.
    /// - Parameter field: A field of the screen.
    /// - Returns: The message; `nil` if there is none.
    public func problem(at field: AccountField) -> String? { problems[field] }

    /// The error to show as an alert.
    public var alert: ErrorPresentation? { nil }

    /// The alert to show, with its id; `nil` if there is none.
    public var currentAlert: ScreenAlert? { alert.map { ScreenAlert(id: signals.alertID, presentation: $0) } }

    /// Whether there is an alert. Setting `false` dismisses the alert. A view uses this property as a binding.
    public var isAlertShown: Bool {
        get { alert != nil }
        set { if !newValue { dismissAlert() } }
    }

    /// Dismisses the alert. If there is no alert, the method does nothing.
    public func dismissAlert() {}

    /// Dismisses an alert. Does nothing if another alert has replaced it.
    /// - Parameter id: The id of the alert that was closed, as in ``currentAlert``.
    public func dismissAlert(_ id: ScreenAlert.ID) {
        if id == signals.alertID { dismissAlert() }
    }

    /// Performs the action that the user chose in the alert.
    /// - Parameter action: The action of the button that the user pressed.
    /// - Returns: The action if the app has to perform it, such as contacting support.
    @discardableResult
    public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        switch action {
        case .retryAt(let date):
            if !isInFlight, let failure, let waiting = presenter.stillWaiting(failure, until: date) {
                fail(waiting)
            } else {
                await retry()
            }
        case .retry: await retry()
        case .dismiss, .fixFields: dismissAlert()
        case .checkAgain:
            dismissAlert()
            guard let checkAgain else { return action }
            await checkAgain()
        case .requestNewLink, .signIn, .contactSupport, .openSettings, .updateApp:
            dismissAlert()
            return action
        }
        return nil
    }

    /// Whether a request is in flight. During a request, the model can't show another failure.
    var isInFlight: Bool { false }

    /// Retries the failed request.
    func retry() async {}

    /// Shows the failure of a request.
    func fail(_ error: APIError) {}

    /// Shows the server's messages about fields, and moves the focus to the first field with a message.
    /// - Returns: Whether the messages contain the whole error. If so, the screen needs no alert.
    func showProblems(of error: APIError, at fields: [AccountField]) -> Bool {
        let refused = presenter.fieldProblems(of: error, fields: fields)
        problems = refused.problems
        if let field = problems.first(of: fields) {
            // One announcement: a view that updates once speaks only the last one.
            signals.announce(problems.texts(of: fields).joined(separator: "\n"))
            signals.focus(field)
        } else if error.code == .validationInvalidEmail, fields.contains(.email) {
            signals.focus(.email)
        }
        return refused.isComplete
    }
}

/// A field of the account screens.
public enum AccountField: Hashable, Sendable, CaseIterable {
    /// The email address.
    case email
    /// The password, or the new password.
    case password
    /// The repeated new password.
    case confirmation
    /// The first name.
    case firstName
    /// The current password, which a change of the account needs.
    case currentPassword

    /// Whether the field contains a password.
    public var isPassword: Bool {
        switch self {
        case .password, .confirmation, .currentPassword: true
        case .email, .firstName: false
        }
    }
}

/// A request to move the focus to a field. Two requests for the same field differ.
public struct FocusRequest: Hashable, Sendable {
    /// The number of the request. Each model counts its own requests.
    public let id: Int
    /// The field.
    public let field: AccountField

    /// Creates a request.
    /// - Parameters:
    ///   - id: A number that no earlier request of the model has.
    ///   - field: The field that gets the focus.
    public init(id: Int, field: AccountField) { (self.id, self.field) = (id, field) }
}

/// A text for VoiceOver. Two announcements with the same text differ.
public struct ScreenAnnouncement: Hashable, Sendable {
    /// The number of the announcement. Each model counts its own announcements.
    public let id: Int
    /// The text, in the language of the screen.
    public let text: String

    /// Creates an announcement.
    /// - Parameters:
    ///   - id: A number that no earlier announcement of the model has.
    ///   - text: The text to announce.
    public init(id: Int, text: String) { (self.id, self.text) = (id, text) }
}

/// The signals of a model to its view. Unlike a state, a signal has an effect even if it equals the previous signal.
struct ScreenSignals: Hashable, Sendable {
    private(set) var focusRequest: FocusRequest?
    private(set) var announcement: ScreenAnnouncement?
    private(set) var alertID = 0

    mutating func focus(_ field: AccountField) { focusRequest = FocusRequest(id: (focusRequest?.id ?? 0) + 1, field: field) }

    mutating func announce(_ text: String) { announcement = ScreenAnnouncement(id: (announcement?.id ?? 0) + 1, text: text) }

    mutating func countAlert() { alertID += 1 }
}

/// The server's messages about the fields of a form. A model removes a message when the user edits its field.
struct FieldProblems: Hashable, Sendable {
    private var texts: [AccountField: String] = [:]

    var isEmpty: Bool { texts.isEmpty }

    subscript(field: AccountField) -> String? {
        get { texts[field] }
        set { texts[field] = newValue }
    }

    /// Returns the first of the fields that has a message.
    func first(of fields: [AccountField]) -> AccountField? { fields.first { texts[$0] != nil } }

    /// Returns the messages in the order of the fields.
    func texts(of fields: [AccountField]) -> [String] { fields.compactMap { texts[$0] } }
}

/// Runs the actions that a user starts on a screen, one at a time.
///
/// A button requests an action with ``start(_:)``, and the root of the screen runs it with ``run()``. The action therefore continues when
/// the row of the button scrolls away, when a list reloads, or when the alert that contains the button closes. The action is canceled when
/// the screen itself disappears.
///
/// ```swift
/// Form {
///     Button("Save") { model.work.start { await model.save() } }
/// }
/// .task(id: model.work.request) { await model.work.run() }
/// ```
@Observable
@MainActor
public final class ScreenWork {
    /// The number of the action that is requested or running; `nil` if there is none. Use it as the `id` of the screen's `.task`.
    public private(set) var request: Int?
    /// The id of the last focus request that a view has performed; 0 before the first request. The model stores the id, because another
    /// view can show the model later. That view must not perform the request again, which would open the keyboard.
    @ObservationIgnored package var lastFocus = 0
    @ObservationIgnored private var action: (@MainActor () async -> Void)?
    @ObservationIgnored private var count = 0

    /// Creates an instance without an action.
    public nonisolated init() {}

    /// Whether an action is requested or running.
    public var isBusy: Bool { request != nil }

    /// Requests an action. Does nothing while another action is requested or running. A second press of a button therefore has no effect.
    /// - Parameter action: The action, which ``run()`` executes.
    /// - Returns: Whether the action is accepted.
    @discardableResult
    public func start(_ action: @escaping @MainActor () async -> Void) -> Bool {
        guard request == nil else { return false }
        count += 1
        self.action = action
        request = count
        return true
    }

    /// Runs the requested action and returns when it ends. Returns immediately if there is no action, or if the action is already running.
    ///
    /// The action runs in the caller's task. If that task is canceled, the action ends and is not run again.
    public func run() async {
        guard let action else { return }
        self.action = nil
        defer { request = nil }
        await action()
    }
}
