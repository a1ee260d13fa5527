public import AccountContract
public import AccountCore
public import ErrorContract
import Synchronization

/// Email delivery for tests: runs a script for each attempt, then stores the email.
///
/// ```swift
/// let delivery = ScriptedDelivery { _, attempt in
///     if attempt <= 3 { throw MailDeliveryError(.deferred, message: "421 busy") }
/// }
/// ```
public final class ScriptedDelivery: MailDelivery {
    private struct State {
        var attempts = 0
        var delivered: [Mail] = []
        var failed: [Mail] = []
    }

    private let next: (any MailDelivery)?
    private let script: @Sendable (_ mail: Mail, _ attempt: Int) async throws -> Void
    private let state = Mutex(State())

    /// Creates a delivery.
    /// - Parameters:
    ///   - next: A delivery that receives the emails after the script.
    ///   - script: Called for each attempt, counted from 1. If it throws, the email fails.
    public init(
        then next: (any MailDelivery)? = nil,
        _ script: @escaping @Sendable (_ mail: Mail, _ attempt: Int) async throws -> Void = { _, _ in }
    ) {
        (self.next, self.script) = (next, script)
    }

    /// Creates a delivery that fails a number of times.
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

/// Texts of emails for tests: the subject is `reset` or `changed`, and the text is the token of the link.
///
/// Use `MailTemplates` of `Pages` if a test checks the contents of emails.
public struct PlainRendering: MailRendering {
    /// Creates a rendering.
    public init() {}

    public func passwordReset(to recipient: EmailAddress, name: FirstName, token: ResetToken, language: Language) -> Mail {
        mail("reset", to: recipient, token, language)
    }

    public func passwordChanged(to recipient: EmailAddress, name: FirstName, token: ResetToken, language: Language) -> Mail {
        mail("changed", to: recipient, token, language)
    }

    private func mail(_ subject: String, to recipient: EmailAddress, _ token: ResetToken, _ language: Language) -> Mail {
        Mail(sender: "", recipient: recipient, subject: subject, text: token.rawValue, html: "", language: language)
    }
}
