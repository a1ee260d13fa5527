import AccountContract
public import AccountCore
import CLibCurl
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

extension SMTPDelivery {
    /// Connects to a mail server, agrees on TLS and signs in, as a mail would, and sends nothing.
    /// - Parameters:
    ///   - settings: How it is reached; a connection takes ``SMTPSettings/connectTimeout`` at most, and all of it ``SMTPSettings/timeout``.
    ///   - sender: Who mails are from; EHLO names its domain.
    /// - Throws: `MailDeliveryError` with what stands in the way, and what to do about it.
    public static func probe(_ settings: SMTPSettings, sender: String) async throws {
        let envelope = SMTPEnvelope(sender: MIMEMessage.address(of: sender), recipient: "", message: [])
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.startForSMTP {
                guard let session = SMTPSession(settings: settings) else {
                    return continuation.resume(throwing: MailDeliveryError(.unavailable, message: "libcurl could not start"))
                }
                continuation.resume(with: session.probe(envelope).mapError { $0.error as any Error })
            }
        }
    }
}

/// What is handed to a mail server: who it is from, who it is for, and the message.
struct SMTPEnvelope: Sendable {
    let sender: String
    let recipient: String
    let message: [UInt8]

    /// Whether the addresses are what a command can carry: no blank, no line end, no bracket, nothing beyond ASCII.
    var isSafe: Bool {
        [sender, recipient].allSatisfy { address in
            address.utf8.count { $0 == UInt8(ascii: "@") } == 1
                && address.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
        }
    }
}
