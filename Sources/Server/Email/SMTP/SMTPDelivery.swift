import AccountContract
public import AccountCore
import CLibCurl
public import Foundation

/// Delivers emails to an SMTP server (RFC 5321).
///
/// Connections are reused, at most ``SMTPSettings/connectionLimit`` at once, each on its own thread. An email is delivered when the server
/// has accepted it with 250. The kind of a failure depends on the command: if the recipient or the message is refused permanently (5xx), a
/// retry is pointless; if the login, the sender or the certificate is refused, the configuration is wrong; all other failures are
/// temporary.
public struct SMTPDelivery: MailDelivery {
    private let threads: SMTPThreads
    private let now: @Sendable () -> Date

    /// Creates a delivery. It connects when the first email is sent.
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
            throw MailDeliveryError(.misconfigured, message: "EMAIL_FROM has no valid address")
        }
        try await threads.send(envelope)
    }
}

extension SMTPDelivery {
    /// Connects to an SMTP server, negotiates TLS and signs in, without sending an email.
    /// - Parameters:
    ///   - settings: The server. The connection takes at most ``SMTPSettings/connectTimeout``, and the whole call at most
    ///     ``SMTPSettings/timeout``.
    ///   - sender: The sender of emails, whose domain is used in EHLO.
    /// - Throws: `MailDeliveryError` with the problem and its fix.
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

/// The parts of an SMTP transaction: the sender, the recipient, and the message.
struct SMTPEnvelope: Sendable {
    let sender: String
    let recipient: String
    let message: [UInt8]

    /// Whether a command can contain the addresses: no space, line end or bracket, and only ASCII.
    var isSafe: Bool {
        [sender, recipient].allSatisfy { address in
            address.utf8.count { $0 == UInt8(ascii: "@") } == 1
                && address.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
        }
    }
}
