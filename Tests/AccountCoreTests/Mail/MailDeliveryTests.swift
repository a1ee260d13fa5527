import AccountContract
import AccountStoreTesting
import Email
import ErrorContract
import Foundation
import Testing

@testable import AccountCore

@Suite struct MailDeliveryTests {
    @Test("Sends one email with a working link to a known address and settles the intent")
    func knownAddress() async throws {
        try await withPostOffice { office in
            let account = try await office.stores.addAccount("Ana@Example.com")
            try await office.request("ana@example.com")
            #expect(try await office.worker().processDue() == 1)
            let mail = try #require(try office.mailbox.mails().first)
            #expect(try office.mailCount == 1)
            #expect(try await office.stores.intents.count() == 0)
            #expect(mail.recipient == "Ana@example.com", "to the stored bytes, not to the typed ones")
            #expect(mail.subject == "Reset your password - Ñandú")
            let token = try office.token(in: mail)
            let digest = TokenDigest(of: token.rawValue)
            let found = try #require(try await office.stores.resetTokens.find(digest, at: office.clock.now()))
            #expect(found.account == account)
            #expect(found.token.expiresAt == .after(3_600))
            #expect(try await office.stores.confirm(digest, of: account))
            office.clock.advance(by: 1)
            #expect(try await office.worker().processDue() == 1)
            #expect(try office.mailCount == 2, "and the confirmation of it")
        }
    }

    @Test("The link contains the stored address of the account")
    func linkAddress() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount("Ana@Example.com")
            try await office.request("ANA@EXAMPLE.COM")
            try await office.worker().processDue()
            let url = try #require(try office.mailbox.mails().first?.link)
            let link = try ResetLink(url, hosts: ["app.example.com"])
            #expect(link.email?.text == "Ana@example.com")
        }
    }

    @Test(
        "The email is in the language of the request, not the account's",
        arguments: [
            (Language.spanish, Language.english, "Restablecer tu contraseña - Ñandú"),
            (.english, .spanish, "Reset your password - Ñandú"),
        ]
    )
    func language(request: Language, account: Language, subject: String) async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount(language: account)
            try await office.request("ana@example.com", language: request)
            try await office.worker().processDue()
            #expect(try office.mailbox.mails().map(\.subject) == [subject])
        }
    }

    @Test("The confirmation goes to the account's address with a token that can only lock")
    func confirmation() async throws {
        try await withPostOffice { office in
            let account = try await office.stores.addAccount("Ana@Example.com", language: .spanish)
            let token = try await office.stores.mint(for: account)
            #expect(try await office.stores.confirm(token, of: account))
            office.clock.advance(by: 1)
            try await office.worker().processDue()
            let mail = try #require(try office.mailbox.mails().first)
            #expect(mail.subject == "Contraseña actualizada - Ñandú")
            #expect(mail.recipient == "Ana@example.com")
            let link = try #require(mail.link)
            #expect(link.path == "/reset-password/not-me")
            let lock = try #require(link.query?.split(separator: "=").last)
            #expect(
                try await office.stores.accountLockTokens.find(TokenDigest(of: String(lock)), at: office.clock.now())?.id
                    == account.id
            )
            #expect(try await office.stores.resetTokens.find(TokenDigest(of: String(lock)), at: office.clock.now()) == nil)
            #expect(office.stores.read { $0.resetTokens.count } == 1)
            #expect(try await office.stores.intents.count() == 0)
        }
    }

    @Test("Sends nothing for a missing or inactive account and settles the intent")
    func silence() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount("inactive@example.com", state: .inactive)
            try await office.stores.addAccount("suspended@example.com", state: .suspended)
            for name in ["unknown", "inactive", "suspended"] { try await office.request("\(name)@example.com") }
            try await office.stores.intents.enqueue(
                MailIntent(
                    subject: .passwordChanged(.init(rawValue: UUID())),
                    language: .english,
                    createdAt: office.clock.now()
                )
            )
            #expect(try await office.worker().processDue() == 4)
            #expect(try office.mailCount == 0)
            #expect(try await office.stores.intents.count() == 0)
            #expect(office.stores.read { $0.resetTokens.count } == 0)
            #expect(office.logged.isEmpty)
        }
    }

    @Test("Each request sends one email, and the newest links stay valid", arguments: [1, 3])
    func severalRequests(liveLinks: Int) async throws {
        try await withPostOffice(rules: RecoveryRules(liveLinks: liveLinks)) { office in
            try await office.stores.addAccount()
            for _ in 0..<5 {
                try await office.request("ana@example.com")
                try await office.worker().processDue()
                office.clock.advance(by: 1)
            }
            let tokens = try office.mailbox.mails().map { TokenDigest(of: try office.token(in: $0).rawValue) }
            #expect(Set(tokens).count == 5)
            for (index, token) in tokens.enumerated() {
                #expect(try await office.stores.isLive(token, after: 10) == (index < liveLinks))
            }
        }
    }

    @Test("A batch is bounded, and the next batches process the rest")
    func batches() async throws {
        try await withPostOffice { office in
            for number in 0..<70 { try await office.request("nobody\(number)@example.com") }
            let worker = try office.worker()
            var taken: [Int] = []
            for _ in 0..<4 { taken.append(try await worker.processDue()) }
            #expect(taken == [32, 32, 6, 0])
        }
    }

    @Test("Several workers on one queue send each email once")
    func severalWorkers() async throws {
        try await withPostOffice { office in
            for number in 0..<20 {
                try await office.stores.addAccount("ana\(number)@example.com")
                try await office.request("ana\(number)@example.com")
            }
            _ = try await concurrently(6) { _ in try await office.worker().processDue() }
            let recipients = try office.mailbox.mails().map(\.recipient)
            #expect(recipients.count == 20)
            #expect(Set(recipients).count == 20)
        }
    }
}
