/// What ends the trouble from the person's point of view.
public enum Recovery: String, Hashable, Sendable, Codable, CaseIterable {
    /// Nothing to do but to take note.
    case dismiss
    /// Correct the input.
    case fixFields = "fix_fields"
    /// Sign in again.
    case signIn = "sign_in"
    /// Wait, then repeat.
    case wait
    /// Repeat.
    case retry
    /// Find out whether the request took effect, without sending it again.
    case checkAgain = "check_again"
    /// Ask for a new link.
    case requestNewLink = "request_new_link"
    /// Write to support.
    case contactSupport = "contact_support"
    /// Change something in the settings: a key, a connected account.
    case openSettings = "open_settings"
    /// Install a newer version of the app.
    case updateApp = "update_app"
}
