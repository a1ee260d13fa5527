public import ErrorContract
public import Observation

/// The part of a screen's model that every screen handles alike: work, alerts, focus and announcements.
///
/// `AccountUI`'s modifier `screen(_:focus:perform:)` connects a view to it. Conform the models of the app's own screens to it to get the
/// same behavior:
///
/// ```swift
/// OrderList(model: model).screen(model) { action in open(action) }
/// ```
@MainActor
public protocol ScreenModel: AnyObject, Observable {
    /// The language of the screen.
    var language: Language { get }
    /// The texts of the screen: the client's catalogue, with the app's own words.
    var catalogue: ErrorCatalogue { get }
    /// The actions that the screen's buttons start.
    var work: ScreenWork { get }
    /// The alert to be shown, if there is one.
    var currentAlert: ScreenAlert? { get }
    /// The field that should get the focus. Each change is a request.
    var focusRequest: FocusRequest? { get }
    /// The text that VoiceOver should speak. Each change is an announcement.
    var announcement: ScreenAnnouncement? { get }
    /// Removes an alert. Ignored if the model has another one meanwhile.
    func dismissAlert(_ id: ScreenAlert.ID)
    /// Performs the action that the user chose in an alert.
    /// - Returns: The action if the app has to perform it, such as contacting support.
    @discardableResult
    func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action?
}

extension ScreenModel {
    /// No request, for a screen without fields.
    public var focusRequest: FocusRequest? { nil }
    /// No announcement.
    public var announcement: ScreenAnnouncement? { nil }
}

/// A field of the account screens.
public enum AccountField: Hashable, Sendable, CaseIterable {
    /// The email address.
    case email
    /// The password, or the new password.
    case password
    /// The new password a second time.
    case confirmation
}

/// A request to move the focus to a field. Two requests for the same field differ.
public struct FocusRequest: Hashable, Sendable {
    /// The number of the request among those of its model.
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
    /// The number of the announcement among those of its model.
    public let id: Int
    /// The text, in the language of the screen.
    public let text: String

    /// Creates an announcement.
    /// - Parameters:
    ///   - id: A number that no earlier announcement of the model has.
    ///   - text: The text to announce.
    public init(id: Int, text: String) { (self.id, self.text) = (id, text) }
}

/// The signals of a model to its view that are more than a state: each one counts, also if it repeats the last one.
struct ScreenSignals: Hashable, Sendable {
    private(set) var focusRequest: FocusRequest?
    private(set) var announcement: ScreenAnnouncement?
    private(set) var alertID = 0

    mutating func focus(_ field: AccountField) { focusRequest = FocusRequest(id: (focusRequest?.id ?? 0) + 1, field: field) }

    mutating func announce(_ text: String) { announcement = ScreenAnnouncement(id: (announcement?.id ?? 0) + 1, text: text) }

    mutating func countAlert() { alertID += 1 }
}

/// The server's messages about the fields of a form, until the user edits the field.
struct FieldProblems: Hashable, Sendable {
    private var texts: [AccountField: String] = [:]

    var isEmpty: Bool { texts.isEmpty }

    subscript(field: AccountField) -> String? {
        get { texts[field] }
        set { texts[field] = newValue }
    }

    /// The first of some fields that has a message.
    func first(of fields: [AccountField]) -> AccountField? { fields.first { texts[$0] != nil } }

    /// The messages, in the order of the fields.
    func texts(of fields: [AccountField]) -> [String] { fields.compactMap { texts[$0] } }
}
