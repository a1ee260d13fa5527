/// A mail could not be handed over.
public struct MailDeliveryError: Error, Hashable, Sendable {
    /// What stands in the way.
    public enum Kind: String, Hashable, Sendable {
        /// This mail, for good: trying again is pointless.
        case refused
        /// This mail, for now.
        case deferred
        /// Every mail, for now: the mail server can't be reached or takes none.
        case unavailable
        /// Every mail, until somebody changes a setting, such as a wrong password.
        case misconfigured
    }

    /// What is to become of the mail.
    public let kind: Kind
    /// What happened, without addresses and secrets.
    public let message: String
    /// Whether the mail may have arrived all the same, as when the connection broke before the last answer.
    public let mayHaveArrived: Bool

    /// Creates an error.
    public init(_ kind: Kind, message: String, mayHaveArrived: Bool = false) {
        self.kind = kind
        self.message = message
        self.mayHaveArrived = mayHaveArrived
    }
}
