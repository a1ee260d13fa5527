import AccountCore
import AccountServer
import ArgumentParser
import ErrorContract
import Foundation
import StrictJSON

/// `holdfast mail`: lists and retries queued emails.
struct MailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mail",
        abstract: "List and retry queued emails.",
        discussion: """
            Works while a server is running. The output shows only the first character and the domain of each address.
            """,
        subcommands: [Queue.self, Retry.self]
    )

    /// `holdfast mail queue`
    struct Queue: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List pending and failed emails, oldest first.",
            discussion: """
                States: waiting (sent when the email is due), taken (in flight; due again if the sending server stops), failed (only sent \
                again if you retry the email; removed after seven days).
                """
        )

        @Flag(help: "Print JSON, one object per email in an array.")
        var json = false

        @Option(help: "The largest number of emails.")
        var limit = 1_000

        @OptionGroup var data: DataOptions

        /// Validates the limit.
        func validate() throws {
            guard (1...1_000_000).contains(limit) else {
                throw ValidationError("--limit must be from 1 to 1000000 (is \(limit))")
            }
        }

        /// Prints the queue. The command computes ages and delays with the same clock that the servers use for the queue.
        func run() async throws {
            let stores = try await data.existingStores()
            let mails = try await stores.intents.mails(limit: limit)
            let listing = MailListing(mails: mails, now: try await stores.steadyTime().now())
            if json {
                Terminal.say(String(decoding: listing.json.encoded(), as: UTF8.self))
            } else if mails.isEmpty {
                Terminal.complain("No emails are pending or failed.")
            } else {
                for line in listing.lines { Terminal.say(line) }
            }
        }
    }

    /// `holdfast mail retry`
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make pending emails due now.",
            discussion: """
                Without ids, the command selects all pending emails. With --failed, it also selects all failed emails. A running server \
                sends the emails within two seconds; otherwise, the next server that starts sends them. During an outage of the SMTP \
                server, one email is tried first, and the others follow if it succeeds. An email with an expired link is never sent.
                """
        )

        @Argument(help: ArgumentHelp("Ids from 'holdfast mail queue', of pending or failed emails.", valueName: "id"))
        var ids: [String] = []

        @Flag(help: "Include failed emails.")
        var failed = false

        @OptionGroup var data: DataOptions

        /// Validates the ids. Four characters usually identify an email.
        func validate() throws {
            for id in ids where id.utf8.count < 4 || !id.allSatisfy({ $0.isHexDigit || $0 == "-" }) {
                throw ValidationError("“\(id)” is not an id: specify four or more characters from 'holdfast mail queue'")
            }
        }

        /// Makes the chosen emails due now.
        /// - Throws: `ExitCode` 1 if an id is unknown or ambiguous, or if its email is in flight.
        func run() async throws {
            let stores = try await data.existingStores()
            let queue = stores.intents
            var chosen: Set<MailIntent.ID>?
            if !ids.isEmpty {
                let mails = try await queue.mails(limit: .max)
                var found: Set<MailIntent.ID> = []
                for id in ids {
                    let matches = mails.filter { $0.id.uuidString.lowercased().hasPrefix(id.lowercased()) }
                    guard let match = matches.first, matches.count == 1 else {
                        throw Terminal.failure(
                            matches.isEmpty
                                ? "There is no email \(id); 'holdfast mail queue' shows the ids."
                                : "\(id) matches several ids; specify more characters."
                        )
                    }
                    guard match.state != .taken else {
                        Terminal.complain("Email \(id) is in flight; if its server died, it becomes due again automatically.")
                        throw ExitCode.failure
                    }
                    found.insert(match.id)
                }
                chosen = found
            }
            let now = try await stores.steadyTime().now()
            let count = try await queue.retry(chosen, includingFailed: failed || chosen != nil, at: now)
            Terminal.say(count == 1 ? "1 email is due now." : "\(count) emails are due now.")
        }
    }
}

/// The emails of the queue as a table and as JSON.
struct MailListing {
    /// The emails, oldest first.
    let mails: [QueuedMail]
    /// The time from which ages and delays are computed.
    let now: Date

    /// A heading and a line for each email, in columns.
    var lines: [String] {
        let heading = ["ID", "KIND", "STATE", "TRIES", "NEXT TRY", "AGE", "TO", "LAST ERROR"]
        return Terminal.table([heading] + mails.map(cells))
    }

    /// The emails as an array of objects.
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

    /// Returns the cells of an email's line.
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

    /// Returns a duration in its largest unit, rounded down, such as 59 s, 59 min, 23 h or 7 d.
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
