/// What a mail is about, as its templates are named.
enum MailKind: String, CaseIterable {
    case passwordReset = "password-reset"
    case passwordChanged = "password-changed"
}
