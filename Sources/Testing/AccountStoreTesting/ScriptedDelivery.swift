import AccountContract
public import AccountCore
import ErrorContract
import Synchronization

/// An email delivery for tests, which runs a script for each attempt and then stores the email in memory.
///
/// ```swift
/// let delivery = ScriptedDelivery { _, attempt in
///     if attempt <= 3 { throw MailDeliveryError(.deferred, message: "421 busy") }
/// }
/// ```
///
/// Use this delivery to test retries, dead letters and the contents of emails without an SMTP server. The delivery is thread-safe, and
/// attempts may run concurrently.
public final class ScriptedDelivery: MailDelivery {
    /// The recorded attempts, guarded by a mutex.
    private struct State {
        var attempts = 0
        var delivered: [Mail] = []
        var failed: [Mail] = []
    }

    /// The delivery that receives each email after the script has returned; `nil` if there is no such delivery.
    private let next: (any MailDelivery)?
    /// Runs before each delivery with the email and the number of the attempt, counted over all emails.
    private let script: @Sendable (_ mail: Mail, _ attempt: Int) async throws -> Void
    /// The recorded attempts. The lock is not held while the script runs.
    private let state = Mutex(State())

    /// Creates a delivery.
    /// - Parameters:
    ///   - next: A delivery that also receives each email after the script.
    ///   - script: A closure that the delivery calls for each attempt, with the email and the number of the attempt. The delivery counts
    ///     the attempts of all emails together, from 1. If the closure throws, the attempt fails.
    public init(
        then next: (any MailDelivery)? = nil,
        _ script: @escaping @Sendable (_ mail: Mail, _ attempt: Int) async throws -> Void = { _, _ in }
    ) {
        (self.next, self.script) = (next, script)
    }

    /// Creates a delivery that fails a number of times.
    /// - Parameters:
    ///   - times: The number of attempts that fail, counted over all emails.
    ///   - error: The error of each failed attempt.
    ///   - next: A delivery that receives the emails of all later attempts.
    public convenience init(failing times: Int, with error: any Error, then next: (any MailDelivery)? = nil) {
        self.init(then: next) { _, attempt in
            if attempt <= times { throw error }
        }
    }

    /// The number of attempts that have begun.
    public var attempts: Int { state.withLock(\.attempts) }
    /// The delivered emails, oldest first.
    public var delivered: [Mail] { state.withLock(\.delivered) }
    /// The email of each failed attempt, oldest first.
    public var failed: [Mail] { state.withLock(\.failed) }

    /// Runs the script and the next delivery, and records the result.
    ///
    /// Concurrent attempts have different numbers, because the method counts the attempt before it runs the script.
    /// - Throws: The error of the script or of the next delivery. The email is then in ``failed``.
    public func deliver(_ mail: Mail) async throws {
        let attempt = state.withLock { state in
            state.attempts += 1
            return state.attempts
        }
        do {
            try await script(mail, attempt)
            try await next?.deliver(mail)
        } catch {
            state.withLock { $0.failed.append(mail) }
            throw error
        }
        state.withLock { $0.delivered.append(mail) }
    }
}

/// A rendering of short emails for tests: the subject is the name of the email's kind, and the text is the token of the link. The sender
/// and the HTML part are empty, and the email doesn't contain the recipient's name.
///
/// If a test checks the contents of emails, use `MailTemplates` of the module `Pages`.
public struct PlainRendering: MailRendering {
    /// Creates a rendering.
    public init() {}

    /// Returns an email. The subject is `reset` for a password reset, `changed` for the notice of a changed password, and the raw value of
    /// the kind for other emails. The text is the token of the link.
    public func mail(_ content: MailContent) -> Mail {
        let subject =
            switch content.kind {
            case .passwordReset: "reset"
            case .passwordChanged: "changed"
            default: content.kind.rawValue
            }
        return Mail(
            sender: "",
            recipient: content.recipient,
            subject: subject,
            text: content.token.rawValue,
            html: "",
            language: content.language
        )
    }
}
