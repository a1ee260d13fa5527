import AccountContract
public import AccountCore
import CLibCurl
public import Foundation

/// A delivery that sends emails to an SMTP server (RFC 5321). For development and tests, use ``MailboxFolder`` instead.
///
/// An email counts as delivered when the SMTP server has accepted it with 250. The delivery reuses connections. It opens at most
/// ``SMTPSettings/connectionLimit`` connections at once, each on its own thread. Further emails wait in memory, and a crash loses them.
/// Therefore, the caller must store each email until ``deliver(_:)`` returns.
///
/// The kind of a failure depends on the command that failed:
///
/// - The server refuses the recipient or the message permanently (5xx, except for 530): `refused`. A retry is pointless.
/// - The server refuses the recipient or the message temporarily (4xx): `deferred`. The exception is 421, with which a server closes the
///   connection: `unavailable`.
/// - The server refuses the login, the sender or the connection permanently, requires a login (530), has an invalid certificate, or
///   doesn't offer the required STARTTLS: `misconfigured`.
/// - All other failures, such as a lost connection: `deferred` if the whole email was already sent, and otherwise `unavailable`.
public struct SMTPDelivery: MailDelivery {
    private let threads: SMTPThreads
    private let now: @Sendable () -> Date

    /// Creates a delivery, which connects when it sends the first email.
    /// - Parameters:
    ///   - settings: The SMTP server.
    ///   - now: The wall clock, for the header `Date`.
    /// - Precondition: ``SMTPSettings/connectionLimit`` is positive.
    public init(settings: SMTPSettings, now: @escaping @Sendable () -> Date) {
        threads = SMTPThreads(settings: settings)
        self.now = now
    }

    /// Sends an email, and returns when the server has accepted it. The call takes at most ``SMTPSettings/timeout`` plus the time in the
    /// queue.
    /// - Parameter mail: The email. Its sender must have an address in ASCII.
    /// - Throws: `MailDeliveryError` with the kind of the failure, or `CancellationError` if the task was canceled. After a cancellation,
    ///   or if `mayHaveArrived` is `true`, the server may have accepted the email. A retry can then deliver the email twice.
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
    /// Connects to an SMTP server, negotiates TLS and authenticates, without sending an email.
    /// - Parameters:
    ///   - settings: The server. The connection takes at most ``SMTPSettings/connectTimeout``, and the whole call at most
    ///     ``SMTPSettings/timeout``.
    ///   - sender: The sender of emails. The greeting of the client (EHLO) contains the sender's domain.
    /// - Throws: `MailDeliveryError` with the problem and, if the settings are wrong, advice.
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
    /// The sender's address, without the name (`MAIL FROM`).
    let sender: String
    /// The recipient's address (`RCPT TO`); empty for a test of the connection without an email.
    let recipient: String
    /// The bytes of a ``MIMEMessage``. libcurl doubles a dot at the beginning of a line (RFC 5321 §4.5.2).
    let message: [UInt8]

    /// Whether both addresses are safe in a command: each one has only visible ASCII, exactly one `@`, and no angle bracket. Other
    /// characters could end the address and add another command.
    var isSafe: Bool {
        [sender, recipient].allSatisfy { address in
            address.utf8.count { $0 == UInt8(ascii: "@") } == 1
                && address.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
        }
    }
}
