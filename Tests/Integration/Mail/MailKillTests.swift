import AccountContract
import AccountCore
import Foundation
import GRDB
import MailServerTesting
import SQLiteStores
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(60))) struct MailKillTests {
    @Test("A server killed under load loses no email and repeats only those in flight")
    func kills() async throws {
        let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 5
        try await MailServer.run { mails in
            try await withFolder { folder in
                let data = folder.appending(path: "data")
                let stores = try Stores(data)
                var promised: Set<String> = []
                var inHand: [String: Set<Date>] = [:]
                for round in 0..<rounds {
                    let addresses = (0..<40).map { "r\(round)n\($0)@example.com" }
                    for address in addresses { try await stores.addAccount(address) }
                    // On a slow machine, a kill can come before all responses. In every second round, half of them come before.
                    let responses = round.isMultiple(of: 2) ? addresses.count / 2 : 0
                    promised.formUnion(try await serveAndKill(folder, mails, asking: addresses, after: responses))
                    for mail in try await stores.intents.mails(limit: 10_000) where mail.state == .taken {
                        // One lease is one delivery, however many kills it lasts through.
                        inHand[mail.recipient?.text ?? "", default: []].insert(mail.dueAt)
                    }
                    let database = try DatabaseQueue(path: stores.folder.database.path)
                    let soundness = try await database.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
                    #expect(soundness == ["ok"])
                    try database.close()
                }
                // The leases of dead servers expire by the clock.
                let clock = ShiftedClock()
                clock.advance(by: 300)
                let worker = try stores.mailWorker(mails, clock: clock, log: CapturedLog())
                while try await worker.processDue() > 0 {}
                #expect(try await stores.intents.count() == 0)
                let sent = try mails.received().flatMap(\.recipients).reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
                let lost = promised.filter { sent[$0] == nil }
                let repeated = sent.filter { $0.value > 1 }
                #expect(lost.isEmpty)
                for (address, count) in sent { #expect(count <= 1 + inHand[address, default: []].count, "\(address): \(count)") }
                #expect(promised.count > rounds)
                print(
                    "\(rounds) kills: \(promised.count) mails promised, \(lost.count) lost, \(inHand.count) in hand, "
                        + "\(repeated.count) repeated"
                )
            }
        }
    }

    /// Runs `serve`, requests emails, and kills it at some time in between, but after a number of responses.
    /// - Returns: The addresses whose requests got a response.
    private func serveAndKill(
        _ folder: URL,
        _ mails: MailServer,
        asking addresses: [String],
        after responses: Int
    ) async throws -> Set<String> {
        let environment = [
            "ENVIRONMENT": "development", "EMAIL_HOST": "localhost", "EMAIL_PORT": "\(mails.port)",
            "EMAIL_FROM": "Crowns <crowns@example.com>", "RATE_LIMIT_MODE": "off",
            // After a timeout, a server sends an email again, which no kill explains.
            "EMAIL_TIMEOUT": "100",
        ]
        var answered: Set<String> = []
        try await Binary.serve(environment: environment, in: folder, endingWith: SIGKILL) { url, process in
            answered = await ask(addresses, of: url, until: process, after: responses)
        }
        return answered
    }

    private func ask(
        _ addresses: [String],
        of url: URL,
        until process: Process,
        after responses: Int
    ) async -> Set<String> {
        await withTaskGroup(of: String?.self) { tasks in
            for address in addresses {
                tasks.addTask {
                    let response = try? await RawHTTP.send(
                        "POST",
                        "/api/request-password-reset/",
                        to: url,
                        headers: ["Content-Type: application/json"],
                        body: Array(#"{"email":"\#(address)"}"#.utf8)
                    )
                    return response?.status == 200 ? address : nil
                }
            }
            var answered: Set<String> = []
            while answered.count < responses, let address = await tasks.next() {
                if let address { answered.insert(address) }
            }
            // Emails are sent up to two seconds after the requests.
            try? await Task.sleep(for: .milliseconds(Int.random(in: 50...2_600)))
            kill(process.processIdentifier, SIGKILL)
            _ = await process.ended()
            return await tasks.reduce(into: answered) { if let address = $1 { $0.insert(address) } }
        }
    }
}
