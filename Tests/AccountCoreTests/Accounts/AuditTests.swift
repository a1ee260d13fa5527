import AccountContract
import AccountStoreTesting
import Crypto
import Email
import ErrorContract
import Foundation
import HoldfastTesting
import InMemoryLogging
import Logging
import Synchronization
import Testing

@testable import AccountCore

@Suite struct AuditTests {
    private func trail(
        _ store: any AuditStore,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) -> AuditTrail<ContinuousClock> {
        AuditTrail(store: store, clock: ContinuousClock(), now: { .after(0) }, logger: logger)
    }

    @Test("Stores events with their origin, newest first, and none of unknown accounts")
    func kept() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let trail = trail(stores.audit)
            let origin = AuditOrigin(client: "198.51.100.0/24", requestID: "id-1")
            AuditOrigin.$current.withValue(origin) { trail.note(.signInFailed, of: account.id) }
            trail.note(.signedIn, of: account.id)
            trail.note(.signedIn, of: Account.ID(rawValue: UUID()))
            #expect(stores.eventCount == 0)
            await trail.flush()
            let events = try await stores.audit.events(of: account.id, limit: 9)
            #expect(events.map(\.kind) == [.signedIn, .signInFailed])
            #expect(events.map(\.origin) == [.none, origin])
            #expect(stores.eventCount == 2)
        }
    }

    @Test("Retries events that could not be written, at most 10,000 of them")
    func failing() async throws {
        let fails = Mutex(true)
        let stores = InMemoryAccountStores { operation in
            guard operation == "audit.append", fails.withLock({ $0 }) else { return }
            fails.withLock { $0 = false }
            throw StoreFailure(isBusy: true, message: "busy")
        }
        let account = try await stores.addAccount()
        let trail = trail(stores.audit)
        for _ in 0..<12_000 { trail.note(.signInFailed, of: account.id) }
        await trail.flush()
        #expect(stores.eventCount == 0)
        trail.note(.signedIn, of: account.id)
        await trail.flush()
        #expect(stores.eventCount == 10_000)
    }

    @Test("Records a sign-in, a wrong password, and the refusal of a right password")
    func signIns() async throws {
        let stores = InMemoryAccountStores()
        let trail = trail(stores.audit)
        let services = try await AccountServices(stores, audit: trail)
        let account = try await services.register().account
        _ = try await services.signIn("ana@example.com", "old password")
        await #expect(throws: AccountError.invalidCredentials) { try await services.signIn("ana@example.com", "wrong password") }
        stores.read { $0.accounts[account.id]?.state = .suspended }
        await #expect(throws: AccountError.suspended) { try await services.signIn("ana@example.com", "old password") }
        await trail.flush()
        let events = try await stores.audit.events(of: account.id, limit: 9)
        #expect(events.map(\.kind).filter { $0 != .newDevice } == [.signInRefused, .signInFailed, .signedIn])
    }

    @Test("Records resets, locks and token reuse with the origin of the email's request")
    func domain() async throws {
        try await withPostOffice { office in
            let stores = office.stores
            let account = try await stores.addAccount()
            let trail = trail(stores.audit, logger: office.logger)
            let recovery = PasswordRecovery(
                stores: stores,
                gate: try HashingGate(hashing: PlainHashing(), width: 1),
                devices: DeviceTokens(keys: ServerKeys(secret: SymmetricKey(size: .bits256))),
                policy: PasswordPolicy(),
                audit: trail,
                now: office.clock.now
            )
            let lock = AccountLock(tokens: stores.accountLockTokens, audit: trail, now: office.clock.now)
            let secret = SecretToken()
            try await stores.accountLockTokens.insert(secret.digest, account: account.id, expiresAt: .after(60))
            try await lock.lock(try ResetToken(secret.text))
            let origin = AuditOrigin(client: "2001:db8:7::/48", requestID: "id-2")
            for email in ["ana@example.com", "nobody@example.com"] {
                try await AuditOrigin.$current.withValue(origin) {
                    try await recovery.request(email: try EmailAddress(email), language: .english)
                }
            }
            try await office.worker(audit: trail).processDue()
            let token = try office.token(in: try #require(try office.mailbox.mails().first))
            try await recovery.confirm(token, email: nil, newPassword: try Password("another good password"))
            await trail.flush()
            let events = try await stores.audit.events(of: account.id, limit: 9)
            #expect(events.map(\.kind) == [.recovered, .passwordReset, .resetLinkSent, .locked])
            #expect(events.first { $0.kind == .resetLinkSent }?.origin == origin)
            let logged = office.logs.entries.filter { "\($0.message)" == "Account event" }.compactMap { $0.metadata["event"] }
            #expect(logged == ["locked", "reset_link_sent", "password_reset", "recovered"])
        }
    }
}

extension InMemoryAccountStores {
    fileprivate var eventCount: Int { read { $0.events.values.reduce(0) { $0 + $1.count } } }
}
