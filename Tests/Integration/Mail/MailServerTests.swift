import AccountContract
import AccountCore
import AccountKit
import Email
import ErrorContract
import Foundation
import MailServerTesting
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(15))) struct MailServerTests {
    @Test(
        "Sends the story's emails over TLS with a login, and logs no secrets",
        arguments: [SMTPSettings.Security.tls, .startTLS]
    )
    func story(_ security: SMTPSettings.Security) async throws {
        let option = security == .tls ? "--tls" : "--starttls"
        try await MailServer.run([option, "--auth", "crowns:a login's password"]) { mails in
            var settings = SMTPSettings(
                host: "localhost",
                port: mails.port,
                security: security,
                credentials: .init(user: "crowns", password: "a login's password"),
                timeout: .seconds(100)
            )
            settings.authorities = mails.authorities
            let chosen = settings
            try await withServer {
                $0.mail = .smtp(chosen)
                $0.emailFrom = "Crowns <no-reply@example.com>"
            } _: { server in
                try await server.register("ana@example.com")
                let client = server.client()
                _ = try await client.requestPasswordReset(email: try EmailAddress("ana@example.com"))
                _ = try await client.requestPasswordReset(email: try EmailAddress("nobody@example.com"))
                let reset = try #require(try await mails.received(atLeast: 1).first)
                #expect(reset.recipients == ["ana@example.com"])
                #expect(reset.login == "crowns")
                let link = try ResetLink(try reset.link(), hosts: ["127.0.0.1"])
                _ = try await client.confirmReset(link, newPassword: try Password("another good password"))
                let both = try await mails.received(atLeast: 2)
                #expect(both.map(\.recipients) == [["ana@example.com"], ["ana@example.com"]])
                #expect(try both[1].link().path.hasSuffix("/not-me"))
                #expect(try server.server.accounts.mailbox.mails().isEmpty)
                // The worker logs a delivery after the email has arrived, and then removes the email from the queue.
                try await server.settleMails()
                let log = server.log.text
                for secret in ["ana@", "nobody@", "a login's password", link.token.rawValue] { #expect(!log.contains(secret)) }
                #expect(log.contains("Email delivered"))
            }
        }
    }

    @Test("After minutes of outage a mail server gets every valid email once")
    func outage() async throws {
        try await MailServer.run { mails in
            try await withFolder { folder in
                let stores = try Stores(folder)
                let clock = ShiftedClock()
                let log = CapturedLog()
                let worker = try stores.mailWorker(mails, clock: clock, log: log)
                for number in 0..<20 {
                    try await stores.addAccount("ana\(number)@example.com")
                    if number < 5 { try await stores.request("ana\(number)@example.com", at: clock.now()) }
                }
                await mails.stop()
                clock.advance(by: 1)
                for step in 0..<60 {
                    if step == 50 {
                        for number in 5..<20 { try await stores.request("ana\(number)@example.com", at: clock.now()) }
                    }
                    try await worker.processDue()
                    clock.advance(by: 65)
                }
                try await mails.start()
                for _ in 0..<10 {
                    try await worker.processDue()
                    clock.advance(by: 65)
                }
                let recipients = try mails.received().flatMap(\.recipients)
                #expect(
                    Set(recipients) == Set((5..<20).map { "ana\($0)@example.com" }),
                    "the first five have outlived their links"
                )
                #expect(recipients.count == 15)
                #expect(try await stores.intents.count() == 0)
                #expect(try await stores.intents.mails(limit: 99).count == 5)
                #expect(log.text.contains("Email server available again"))
            }
        }
    }

    @Test("Two workers on one database send each email once")
    func twoWorkers() async throws {
        try await MailServer.run { mails in
            try await withFolder { folder in
                let first = try Stores(folder)
                let second = try Stores(folder)
                let clock = ShiftedClock()
                for number in 0..<60 {
                    try await first.addAccount("ana\(number)@example.com")
                    try await first.request("ana\(number)@example.com", at: clock.now())
                }
                clock.advance(by: 1)
                let workers = try [first, second].map { try $0.mailWorker(mails, clock: clock, log: CapturedLog()) }
                try await withThrowingTaskGroup { tasks in
                    for worker in workers {
                        tasks.addTask { while try await worker.processDue() > 0 {} }
                    }
                    try await tasks.waitForAll()
                }
                let recipients = try mails.received().flatMap(\.recipients)
                #expect(recipients.count == 60)
                #expect(Set(recipients).count == 60)
            }
        }
    }
}
