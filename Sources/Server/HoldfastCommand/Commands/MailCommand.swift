import AccountCore
import ArgumentParser
import ErrorContract
import Foundation
import SQLiteStores
import StrictJSON

/// `holdfast mail`
struct MailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mail",
        abstract: "Look after the mails that are to be sent.",
        discussion: """
            A running server need not be stopped for it. Addresses are shown by their first character and their domain.
            """,
        subcommands: [Queue.self, Retry.self]
    )

    /// `holdfast mail queue`
    struct Queue: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the mails that wait or have failed, oldest first.",
            discussion: """
                States: waiting (tried when its time comes), taken (in a server's hand; it comes back by itself if that server \
                died), failed (not tried again unless told to; forgotten after seven days).
                """
        )

        @Flag(help: "Print JSON, one object per mail in an array.")
        var json = false

        @Option(help: "The largest number of mails.")
        var limit = 1_000

        @OptionGroup var data: DataOptions

        func validate() throws {
            guard (1...1_000_000).contains(limit) else {
                throw ValidationError("--limit must be from 1 to 1000000 (is \(limit))")
            }
        }

        func run() async throws {
            let stores = try data.existingStores()
            let mails = try await stores.intents.mails(limit: limit)
            let listing = MailListing(mails: mails, now: try await SteadyTime(stores.database).now())
            if json {
                Terminal.say(String(decoding: listing.json.encoded(), as: UTF8.self))
            } else if mails.isEmpty {
                Terminal.complain("No mail waits, and none has failed.")
            } else {
                for line in listing.lines { Terminal.say(line) }
            }
        }
    }

    /// `holdfast mail retry`
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make waiting mails due now.",
            discussion: """
                Without ids: all that wait, and with --failed all that have failed as well. A server that is running takes them \
                within two seconds, another when it starts. While its mail server can't be reached, one of them asks at once \
                whether it is back; then the others follow. Past the life of its link a mail is not sent, however often it is \
                told to.
                """
        )

        @Argument(help: ArgumentHelp("Ids as 'holdfast mail queue' shows them; failed ones too.", valueName: "id"))
        var ids: [String] = []

        @Flag(help: "Also those that have failed.")
        var failed = false

        @OptionGroup var data: DataOptions

        func validate() throws {
            for id in ids where id.utf8.count < 4 || !id.allSatisfy({ $0.isHexDigit || $0 == "-" }) {
                throw ValidationError("“\(id)” is no id: take four or more of its characters from 'holdfast mail queue'")
            }
        }

        func run() async throws {
            let stores = try data.existingStores()
            let queue = stores.intents
            var chosen: Set<MailIntent.ID>?
            if !ids.isEmpty {
                let mails = try await queue.mails(limit: .max)
                var found: Set<MailIntent.ID> = []
                for id in ids {
                    let matches = mails.filter { $0.id.uuidString.lowercased().hasPrefix(id.lowercased()) }
                    guard let match = matches.first, matches.count == 1 else {
                        Terminal.complain(
                            matches.isEmpty ? "There is no mail \(id)." : "\(id) begins several ids; give more of it."
                        )
                        throw ExitCode.failure
                    }
                    guard match.state != .taken else {
                        Terminal.complain("Mail \(id) is in a server's hand; it comes back by itself if that server died.")
                        throw ExitCode.failure
                    }
                    found.insert(match.id)
                }
                chosen = found
            }
            let now = try await SteadyTime(stores.database).now()
            let count = try await queue.retry(chosen, includingFailed: failed || chosen != nil, at: now)
            Terminal.say(count == 1 ? "1 mail is due now." : "\(count) mails are due now.")
        }
    }
}
