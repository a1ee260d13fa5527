import AccountCore
import ErrorContract
import Foundation
import StrictJSON

/// The mails of the queue as a table and as JSON.
struct MailListing {
    let mails: [QueuedMail]
    let now: Date

    /// A heading and a line for each mail, in columns.
    var lines: [String] {
        let heading = ["ID", "KIND", "STATE", "TRIES", "NEXT TRY", "AGE", "TO", "LAST ANSWER"]
        let rows = [heading] + mails.map(cells)
        let widths = heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let padded = zip(row, widths).map { $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0) }
            var line = padded.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// An array of objects.
    var json: JSONValue {
        .array(
            mails.map { mail in
                [
                    "id": .string(mail.id.uuidString.lowercased()), "kind": .string(mail.kind),
                    "state": .string(mail.state.rawValue), "attempts": .integer(Int64(mail.failures)),
                    "next_try": mail.state == .failed ? .null : .string(mail.dueAt.formatted(.iso8601)),
                    "created_at": .string(mail.createdAt.formatted(.iso8601)),
                    "age_seconds": .integer(Int64(max(0, now.timeIntervalSince(mail.createdAt)))),
                    "to": .string(mail.maskedRecipient), "reason": mail.reason.map { .string($0) } ?? .null,
                ]
            }
        )
    }

    private func cells(_ mail: QueuedMail) -> [String] {
        let wait = mail.dueAt.timeIntervalSince(now)
        let next =
            switch mail.state {
            case .failed: "never"
            case .taken: "-"
            case .waiting: wait <= 0 ? "now" : "in \(Self.words(wait))"
            }
        return [
            String(mail.id.uuidString.lowercased().prefix(8)), mail.kind, mail.state.rawValue, "\(mail.failures)", next,
            Self.words(now.timeIntervalSince(mail.createdAt)), mail.maskedRecipient, mail.reason ?? "-",
        ]
    }

    /// A time in its largest unit, rounded down: 59 s, 59 min, 23 h, 7 d.
    private static func words(_ seconds: TimeInterval) -> String {
        let seconds = max(0, Int(seconds))
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}
