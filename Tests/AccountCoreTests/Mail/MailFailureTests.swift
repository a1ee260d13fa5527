import AccountContract
import AccountStoreTesting
import Email
import Foundation
import Testing

@testable import AccountCore

@Suite struct MailFailureTests {
    private static let temporary = MailDeliveryError(.deferred, message: "421 busy")

    @Test("Postpones a failed email with growing delays, then delivers it once")
    func temporaryFailure() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let delivery = ScriptedDelivery(failing: 3, with: Self.temporary, then: office.mailbox)
            let worker = try office.worker(delivery: delivery)
            #expect(try await worker.processDue() == 1)
            for wait in [5.0, 10, 20] {
                #expect(try await office.stores.intents.count() == 1)
                #expect(try office.mailCount == 0)
                office.clock.advance(by: wait * 0.8 - 0.001)
                #expect(try await worker.processDue() == 0, "not before \(wait) s less a fifth")
                office.clock.advance(by: wait * 0.4 + 0.002)
                #expect(try await worker.processDue() == 1, "not after \(wait) s and a fifth")
            }
            #expect(try office.mailCount == 1)
            #expect(try await office.stores.intents.count() == 0)
            let sent = try office.token(in: try #require(try office.mailbox.mails().first))
            #expect(delivery.failed.count == 3)
            #expect(delivery.failed.allSatisfy { !$0.text.contains(sent.rawValue) })
            let digest = TokenDigest(of: sent.rawValue)
            let found = try #require(try await office.stores.resetTokens.find(digest, at: office.clock.now()))
            #expect(
                found.token.expiresAt == office.clock.now().addingTimeInterval(3_600),
                "its hour begins with the handing over"
            )
            #expect(office.logged.contains("421 busy"))
        }
    }

    @Test("Retries after an unknown failure")
    func surprise() async throws {
        struct Surprise: Error {}
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let worker = try office.worker(delivery: ScriptedDelivery(failing: 1, with: Surprise(), then: office.mailbox))
            try await worker.processDue()
            #expect(try await office.stores.intents.count() == 1)
            office.clock.advance(by: 6)
            try await worker.processDue()
            #expect(try office.mailCount == 1)
        }
    }

    @Test("Does not retry an email that is permanently refused")
    func permanentFailure() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let error = MailDeliveryError(.refused, message: "550 no such mailbox")
            let worker = try office.worker(delivery: ScriptedDelivery(failing: 1, with: error, then: office.mailbox))
            try await worker.processDue()
            #expect(try await office.stores.intents.count() == 0)
            office.clock.advance(by: 1_000)
            #expect(try await worker.processDue() == 0)
            #expect(try office.mailCount == 0)
            #expect(office.logged.contains("550 no such mailbox"))
        }
    }

    @Test("Abandons an email once its link would be expired, counted from the request", arguments: [(3_599.0, 1), (3_600, 0)])
    func givenUp(after seconds: TimeInterval, mails: Int) async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            office.clock.advance(by: seconds)
            #expect(try await office.worker().processDue() == 1)
            #expect(try office.mailCount == mails)
            #expect(try await office.stores.intents.count() == 0)
            #expect(office.logged.contains("Email abandoned") == (mails == 0))
        }
    }

    @Test("During an outage, retries until the link would be expired, then stops")
    func longOutage() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let delivery = ScriptedDelivery(failing: .max, with: Self.temporary, then: office.mailbox)
            let worker = try office.worker(delivery: delivery)
            while try await office.stores.intents.count() > 0 {
                try await worker.processDue()
                office.clock.advance(by: 1)
            }
            // 5 + 10 + … + 160 s, then every 5 min, plus or minus a fifth.
            #expect((14...24).contains(delivery.failed.count))
            #expect(office.clock.now().timeIntervalSince(.after(0)) <= 3_600 + 361)
            #expect(office.stores.read { $0.resetTokens.count } == 0, "nobody has the unsent tokens")
        }
    }

    @Test("A failed delivery does not invalidate the links of delivered emails")
    func olderLinks() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            try await office.worker().processDue()
            let good = try office.token(in: try #require(try office.mailbox.mails().first))
            try await office.request("ana@example.com")
            let failing = try office.worker(delivery: ScriptedDelivery(failing: 9, with: Self.temporary, then: office.mailbox))
            for _ in 0..<6 {
                try await failing.processDue()
                office.clock.advance(by: 200)
            }
            #expect(try await office.stores.resetTokens.find(TokenDigest(of: good.rawValue), at: office.clock.now()) != nil)
            #expect(office.stores.read { $0.resetTokens.count } == 1, "nobody has the others")
        }
    }

    @Test("Sends the confirmation email however late it is")
    func lateConfirmation() async throws {
        try await withPostOffice { office in
            let account = try await office.stores.addAccount()
            #expect(try await office.stores.confirm(try await office.stores.mint(for: account), of: account))
            office.clock.advance(by: 30 * 86_400)
            try await office.worker().processDue()
            #expect(try office.mailCount == 1)
        }
    }

    @Test("Retries a refused confirmation for a week and prunes unused links")
    func untakenConfirmation() async throws {
        try await withPostOffice { office in
            let account = try await office.stores.addAccount()
            #expect(try await office.stores.confirm(try await office.stores.mint(for: account), of: account))
            let delivery = ScriptedDelivery(failing: .max, with: Self.temporary, then: office.mailbox)
            let worker = try office.worker(delivery: delivery)
            while try await office.stores.intents.count() > 0, office.clock.now() < .after(9 * 86_400) {
                try await worker.processDue()
                #expect(office.stores.read { $0.accountLockTokens.count } == 0)
                office.clock.advance(by: 900)
            }
            #expect((7 * 86_400...(7 * 86_400 + 1_800)).contains(Int(office.clock.now().timeIntervalSince(.after(0)))))
            #expect(delivery.failed.count > 600)
            #expect(try await office.stores.intents.mails(limit: 9).map(\.state) == [.failed])
        }
    }

    @Test("A failed email does not block the others of its batch")
    func othersGoOn() async throws {
        try await withPostOffice { office in
            for name in ["ana", "bob", "eve"] {
                try await office.stores.addAccount("\(name)@example.com")
                try await office.request("\(name)@example.com")
                office.clock.advance(by: 0.01)
            }
            let delivery = ScriptedDelivery(failing: 1, with: Self.temporary, then: office.mailbox)
            try await office.worker(delivery: delivery).processDue()
            #expect(try office.mailbox.mails().map(\.recipient).sorted() == ["bob@example.com", "eve@example.com"])
            #expect(try await office.stores.intents.count() == 1)
        }
    }
}
