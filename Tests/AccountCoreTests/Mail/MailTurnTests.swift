import AccountContract
import AccountStoreTesting
import Email
import ErrorContract
import Foundation
import RateLimiting
import Synchronization
import Testing

@testable import AccountCore

/// Limits of reset emails.
@Suite(.timeLimit(.minutes(10))) struct MailTurnTests {
    private func intent(_ network: String?, _ number: Int, after seconds: TimeInterval = 0) throws -> MailIntent {
        MailIntent(
            subject: .passwordReset(try EmailAddress("a\(number)@example.com")),
            language: .english,
            createdAt: .after(seconds + Double(number) / 1_024),
            origin: AuditOrigin(client: network, requestID: nil)
        )
    }

    @Test("Sends three reset emails an hour to an account, and ends the other intents")
    func perAccount() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            let bounds = ResetMailBounds(perAccount: .requests(3, per: .seconds(3_600)))
            let quota = ResetMailQuota(office.stores.sentResets) { bounds }
            let audit = NotedEvents()
            let worker = try office.worker(quota: quota, audit: audit)
            func bomb(_ count: Int) async throws {
                for _ in 0..<count { try await office.request("Ana@example.com") }
                while try await worker.processDue() > 0 {}
                #expect(try await office.stores.intents.count() == 0)
            }
            try await bomb(100)
            #expect(try office.mailCount == 3)
            #expect(audit.count(.resetLinkLimited) == 97)
            office.clock.advance(by: 3_599)
            try await bomb(10)
            #expect(try office.mailCount == 3)
            office.clock.advance(by: 1)
            try await bomb(10)
            #expect(try office.mailCount == 6)
        }
    }

    @Test("Doesn't count an email if its token isn't stored and its retry has no recipient")
    func unstoredToken() async throws {
        let stores = InMemoryAccountStores { operation in
            if operation == "resetTokens.insert" { throw StoreFailure(isBusy: true, message: "busy") }
        }
        try await withPostOffice(stores: stores) { office in
            let account = try await stores.addAccount()
            let bounds = ResetMailBounds(perAccount: .requests(1, per: .seconds(3_600)))
            let worker = try office.worker(quota: ResetMailQuota(stores.sentResets) { bounds })
            try await office.request("ana@example.com")
            #expect(try await worker.processDue() == 1)
            stores.read { $0.accounts[account.id]?.state = .suspended }
            office.clock.advance(by: 7)
            #expect(try await worker.processDue() == 1)
            #expect(try await stores.intents.count() == 0)
            #expect(stores.read { $0.sentResets.count } == 0)
        }
    }

    @Test("Repeats a failed cancellation, so that an unsent email doesn't count")
    func failedCancellation() async throws {
        try await withPostOffice(stores: failingStores(["sentResets.cancel": 1])) { office in
            try await office.stores.addAccount()
            let bounds = ResetMailBounds(perAccount: .requests(1, per: .seconds(3_600)))
            let quota = ResetMailQuota(office.stores.sentResets) { bounds }
            let refused = MailDeliveryError(.refused, message: "550 no such mailbox")
            let delivery = ScriptedDelivery(failing: 1, with: refused, then: office.mailbox)
            let worker = try office.worker(delivery: delivery, quota: quota)
            try await office.request("ana@example.com")
            #expect(try await worker.processDue() == 1)
            #expect(try await office.stores.intents.count() == 0)
            #expect(office.stores.read { $0.sentResets.count } == 1)
            #expect(office.logged.contains("Email reservation not canceled"))
            try await office.request("ana@example.com")
            #expect(try await worker.processDue() == 1)
            #expect(try office.mailCount == 1)
            #expect(office.stores.read { $0.sentResets.count } == 1)
        }
    }

    @Test("Repeats a failed cancellation before it reserves the same email again")
    func cancellationBeforeRetry() async throws {
        let stores = failingStores(["resetTokens.insert": 1, "sentResets.cancel": 2])
        try await withPostOffice(stores: stores) { office in
            try await stores.addAccount()
            let bounds = ResetMailBounds(perAccount: .requests(1, per: .seconds(3_600)))
            let quota = ResetMailQuota(stores.sentResets) { bounds }
            let refused = MailDeliveryError(.refused, message: "550 no such mailbox")
            let worker = try office.worker(delivery: ScriptedDelivery(failing: 1, with: refused), quota: quota)
            try await office.request("ana@example.com")
            #expect(try await worker.processDue() == 1)
            office.clock.advance(by: 7)
            #expect(try await worker.processDue() == 1)
            #expect(try await stores.intents.count() == 0)
            #expect(stores.read { $0.sentResets.count } == 0)
        }
    }

    @Test("Repeats at most 256 failed cancellations, and drops the oldest ones")
    func cancellationBound() async throws {
        let stores = failingStores(["sentResets.cancel": 257])
        let quota = ResetMailQuota(stores.sentResets) { ResetMailBounds() }
        let unsent = try (0..<257).map { try intent(nil, $0) }
        for intent in unsent {
            _ = try await stores.sentResets.reserve(intent.id, for: nil, within: ResetMailBounds(), at: .after(0))
            await #expect(throws: StoreFailure.self) { try await quota.cancel(intent, reservedAt: .after(0)) }
        }
        try await quota.cancelPending()
        #expect(stores.read { Array($0.sentResets.keys) } == [unsent[0].id])
    }

    @Test("Doesn't count an unsent email if its token can't be removed")
    func unremovedToken() async throws {
        try await withPostOffice(stores: failingStores(["resetTokens.discard": 1])) { office in
            try await office.stores.addAccount()
            let bounds = ResetMailBounds(perAccount: .requests(1, per: .seconds(3_600)))
            let quota = ResetMailQuota(office.stores.sentResets) { bounds }
            let busy = MailDeliveryError(.deferred, message: "421 busy")
            let worker = try office.worker(delivery: ScriptedDelivery(failing: 1, with: busy), quota: quota)
            try await office.request("ana@example.com")
            #expect(try await worker.processDue() == 1)
            #expect(office.stores.read { $0.sentResets.count } == 0)
        }
    }

    @Test("Doesn't cancel the reservation of another server after its lease has ended")
    func endedLease() async throws {
        let meanwhile = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let stores = InMemoryAccountStores { operation in
            guard operation == "resetTokens.insert" else { return }
            try await meanwhile.withLock { $0.take() }?()
        }
        try await withPostOffice(stores: stores) { office in
            let account = try await stores.addAccount("a0@example.com")
            let email = try intent(nil, 0)
            try await stores.intents.enqueue(email)
            let bounds = ResetMailBounds(perAccount: .requests(1, per: .seconds(3_600)))
            let quota = ResetMailQuota(stores.sentResets) { bounds }
            let delivery = ScriptedDelivery()
            let worker = try office.worker(delivery: delivery, quota: quota)
            // While the worker stores the token, its lease ends, and another server reserves the email.
            meanwhile.withLock { meanwhile in
                meanwhile = {
                    office.clock.advance(by: 121)
                    let now = office.clock.now()
                    let decision = try await stores.sentResets.reserve(email.id, for: account.id, within: bounds, at: now)
                    #expect(decision == .reservedAgain)
                }
            }
            #expect(try await worker.processDue() == 1)
            #expect(delivery.attempts == 0)
            #expect(stores.read { $0.sentResets.count } == 1)
        }
    }

    @Test("Counts an email that may have arrived even if its retry is not sent")
    func uncertainArrival() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            let bounds = ResetMailBounds(perAccount: .requests(1, per: .seconds(3_600)))
            let quota = ResetMailQuota(office.stores.sentResets) { bounds }
            let lost = MailDeliveryError(.deferred, message: "no reply", mayHaveArrived: true)
            let busy = MailDeliveryError(.deferred, message: "421 busy")
            let delivery = ScriptedDelivery { _, attempt in throw attempt == 1 ? lost : busy }
            let worker = try office.worker(delivery: delivery, quota: quota)
            try await office.request("ana@example.com")
            #expect(try await worker.processDue() == 1)
            office.clock.advance(by: 7)
            #expect(try await worker.processDue() == 1)
            #expect(delivery.attempts == 2)
            #expect(office.stores.read { $0.sentResets.count } == 1)
        }
    }

    @Test("Counts emails of registrations and verifications in the quota of all networks")
    func otherKinds() async throws {
        try await withPostOffice { office in
            let bounds = ResetMailBounds(perAccount: .requests(1, per: .seconds(60)), overall: .requests(4, per: .seconds(60)))
            let quota = ResetMailQuota(office.stores.sentResets) { bounds }
            for number in 1...6 {
                let subject = MailIntent.Subject.registration(try EmailAddress("new\(number)@example.com"), try FirstName("Ana"))
                try await office.stores.intents.enqueue(
                    MailIntent(subject: subject, language: .english, createdAt: .after(Double(number)))
                )
            }
            let worker = try office.worker(quota: quota)
            office.clock.advance(by: 10)
            while try await worker.processDue() > 0 {}
            #expect(try office.mailCount == 4)
            office.clock.advance(by: 61)
            while try await worker.processDue() > 0 {}
            #expect(try office.mailCount == 6)
        }
    }

    @Test("Sends the quota of all networks evenly, with a new network among the next")
    func overall() async throws {
        try await withPostOffice { office in
            // 100 a minute is paced as 10 in 6 s.
            let bounds = ResetMailBounds(overall: .requests(100, per: .seconds(60)))
            let quota = ResetMailQuota(office.stores.sentResets) { bounds }
            for number in 0..<60 { try await office.stores.addAccount("a\(number)@example.com") }
            let queue = office.stores.intents
            for number in 0..<59 { try await queue.enqueue(try intent("192.0.2.0/24", number)) }
            let worker = try office.worker(quota: quota)
            func work() async throws -> Int {
                while try await worker.processDue() > 0 {}
                return try office.mailCount
            }
            office.clock.advance(by: 1)
            #expect(try await work() == 10)
            try await queue.enqueue(try intent("198.51.100.0/24", 59))
            office.clock.advance(by: 5)
            #expect(try await work() == 10)
            office.clock.advance(by: 1)
            #expect(try await work() == 20)
            #expect(try office.mailbox.mails().contains { $0.recipient == "a59@example.com" })
            for turn in 3...6 {
                office.clock.advance(by: 6)
                #expect(try await work() == turn * 10)
            }
            #expect(try await queue.count() == 0)
        }
    }
}

/// Returns stores in which some operations fail.
/// - Parameter failures: The number of times that each operation fails before it succeeds.
private func failingStores(_ failures: [String: Int]) -> InMemoryAccountStores {
    let remaining = Mutex(failures)
    return InMemoryAccountStores { operation in
        let fails = remaining.withLock { remaining in
            guard let count = remaining[operation], count > 0 else { return false }
            remaining[operation] = count - 1
            return true
        }
        if fails { throw StoreFailure(isBusy: true, message: "busy") }
    }
}

/// Counts events.
private final class NotedEvents: AuditNoting {
    private let kinds = Mutex<[AuditEvent.Kind]>([])

    func note(_ kind: AuditEvent.Kind, of account: Account.ID, origin: AuditOrigin) { kinds.withLock { $0.append(kind) } }

    func count(_ kind: AuditEvent.Kind) -> Int { kinds.withLock { $0.count { $0 == kind } } }
}
