import AccountCore
import AccountServer
import ArgumentParser
import ErrorContract
import Foundation
import StrictJSON

extension Users {
    /// `holdfast users audit`
    struct Audit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the events of an account, newest first.",
            discussion: """
                Each line has the time (UTC), the event, the network of the client, and the id of the request in the log. Events are stored
                for a year. Each account has at most the newest 200 events of each kind. A running server stores events twice a second.
                """
        )

        @OptionGroup var which: AccountOptions

        @Option(help: "The largest number of events.")
        var limit = 100

        @Flag(help: "Print JSON, one object per event in an array.")
        var json = false

        @OptionGroup var data: DataOptions

        func validate() throws {
            guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 100000 (is \(limit))") }
        }

        func run() async throws {
            let stores = try await data.existingStores()
            let account = try await which.account(in: stores)
            let events = try await stores.audit.events(of: account.id, limit: limit)
            if json {
                let items = events.map { event -> JSONValue in
                    [
                        "time": .string(event.time.formatted(.iso8601)), "event": .string(event.kind.name),
                        "client": event.origin.client.map { .string($0) } ?? .null,
                        "request_id": event.origin.requestID.map { .string($0) } ?? .null,
                    ]
                }
                Terminal.say(String(decoding: JSONValue.array(items).encoded(), as: UTF8.self))
            } else {
                for event in events {
                    let kind = event.kind.name.padding(toLength: 22, withPad: " ", startingAt: 0)
                    let client = (event.origin.client ?? "-").padding(toLength: 20, withPad: " ", startingAt: 0)
                    Terminal.say("\(event.time.formatted(.iso8601))  \(kind)  \(client)  \(event.origin.requestID ?? "-")")
                }
                if events.isEmpty { Terminal.complain("There are no events of this account.") }
            }
        }
    }
}
