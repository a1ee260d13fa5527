import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Synchronization
import Testing

@testable import Email

/// A wall clock that advances only when a test moves it.
final class WallClock: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_750_000_000))

    var now: @Sendable () -> Date { { self.date.withLock { $0 } } }

    func advance(by seconds: TimeInterval) {
        date.withLock { $0 = $0.addingTimeInterval(seconds) }
    }
}

/// Runs a test with a mailbox in a folder that is removed afterwards.
func withMailbox<Result>(_ body: (MailboxFolder, WallClock) async throws -> Result) async throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let clock = WallClock()
    return try await body(try MailboxFolder(directory: directory.appending(path: "mailbox"), now: clock.now), clock)
}

extension Mail {
    /// Returns an email with the given parts and harmless defaults for the others.
    static func sample(
        sender: String = "Holdfast <noreply@example.com>",
        recipient: String = "ana@example.com",
        subject: String = "Reset your password",
        text: String = "Hello Ana,\n\nhttps://example.com/reset-password?token=abc\n",
        html: String = "<p>Hello Ana,</p>",
        language: Language = .english
    ) throws -> Mail {
        Mail(
            sender: sender,
            recipient: try EmailAddress(recipient),
            subject: subject,
            text: text,
            html: html,
            language: language
        )
    }
}

extension MIMEMessage {
    /// Creates the message of an email with a fixed date and id.
    init(_ mail: Mail) {
        self.init(mail: mail, date: Date(timeIntervalSince1970: 1_750_000_000), id: "0000-1111")
    }

    /// The header fields, each with its continuation lines.
    var headerFields: [String] {
        let end = text.firstRange(of: "\r\n\r\n")?.lowerBound ?? text.endIndex
        return text[..<end].split(separator: "\r\n").reduce(into: []) { fields, line in
            if line.hasPrefix(" "), let last = fields.popLast() {
                fields.append(last + "\r\n" + line)
            } else {
                fields.append(String(line))
            }
        }
    }

    /// The names of the header's fields, in order.
    var fieldNames: [String] {
        headerFields.map { String($0.prefix { $0 != ":" }) }
    }
}
