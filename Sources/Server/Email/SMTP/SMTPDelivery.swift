import AccountContract
public import AccountCore
public import Foundation

/// Hands mails to a mail server by SMTP (RFC 5321).
///
/// Connections are used again, at most ``SMTPSettings/connectionLimit`` at once, each on a thread of its own. A mail is handed over when
/// the server has taken it with 250. What the server says is judged by the command that it answers: a recipient or a mail that is
/// refused for good (5xx) is not worth another try; a login, a sender or a certificate that is refused is the configuration's fault,
/// and everything else passes.
public struct SMTPDelivery: MailDelivery {
    private let threads: SMTPThreads
    private let now: @Sendable () -> Date

    /// Creates a delivery; nothing is connected before the first mail.
    public init(settings: SMTPSettings, now: @escaping @Sendable () -> Date) {
        threads = SMTPThreads(settings: settings)
        self.now = now
    }

    public func deliver(_ mail: Mail) async throws {
        let message = MIMEMessage(mail: mail, date: now(), id: UUID().uuidString.lowercased())
        let envelope = SMTPEnvelope(
            sender: MIMEMessage.address(of: mail.sender),
            recipient: mail.recipient.text,
            message: Array(message.text.utf8)
        )
        guard envelope.isSafe else {
            throw MailDeliveryError(.misconfigured, message: "EMAIL_FROM names no address that can be sent")
        }
        try await threads.send(envelope)
    }
}
