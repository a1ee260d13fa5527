import AccountContract
import AccountCore
import Crypto
import Email
import ErrorContract
import Foundation
import HoldfastTesting
import Logging
import Synchronization
import Testing

@testable import SQLiteStores

@Suite struct AuditTests {
    private func trail(_ store: any AuditStore) -> AuditTrail<ContinuousClock> {
        AuditTrail(
            store: store,
            clock: ContinuousClock(),
            now: { TemporaryStores.start },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    @Test("What was noted is kept with its origin, newest first, and of unknown accounts nothing")
    func kept() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let trail = trail(SQLiteAuditStore(stores.database))
            let origin = AuditOrigin(client: "198.51.100.0/24", requestID: "id-1")
            AuditOrigin.$current.withValue(origin) { trail.note(.signInFailed, of: account.id) }
            trail.note(.signedIn, of: account.id)
            trail.note(.signedIn, of: Account.ID(rawValue: UUID()))
            #expect(try await stores.number("SELECT COUNT(*) FROM audit_event") == 0)
            await trail.flush()
            let events = try await SQLiteAuditStore(stores.database).events(of: account.id, limit: 9)
            #expect(events.map(\.kind) == [.signedIn, .signInFailed])
            #expect(events.map(\.origin) == [.none, origin])
            #expect(try await stores.number("SELECT COUNT(*) FROM audit_event") == 2)
        }
    }

    @Test("Events that could not be written wait for the next time, and no more than 10,000 of them")
    func failing() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let store = FailingOnce(base: SQLiteAuditStore(stores.database))
            let trail = trail(store)
            for _ in 0..<12_000 { trail.note(.signInFailed, of: account.id) }
            await trail.flush()
            #expect(try await stores.number("SELECT COUNT(*) FROM audit_event") == 0)
            trail.note(.signedIn, of: account.id)
            await trail.flush()
            #expect(try await stores.number("SELECT COUNT(*) FROM audit_event") == 10_000)
        }
    }

    @Test("A sweep takes what is old, and of one kind what is too much: guessing pushes nothing else out")
    func sweep() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let store = SQLiteAuditStore(stores.database)
            func event(_ kind: AuditEvent.Kind, _ seconds: Double) -> AuditEvent {
                AuditEvent(kind: kind, accountID: account.id, time: .after(seconds), origin: .none)
            }
            try await store.append([event(.registered, -100), event(.passwordReset, 1)])
            try await store.append((0..<700).map { event(.signInFailed, Double($0)) })
            try await store.sweep(before: .after(0), limit: 200)
            #expect(try await stores.number("SELECT COUNT(*) FROM audit_event WHERE kind = 'sign_in_failed'") == 200)
            #expect(try await stores.number("SELECT MIN(time) FROM audit_event WHERE kind = 'sign_in_failed'") == 1_750_000_500)
            #expect(try await store.events(of: account.id, limit: 1_000).map(\.kind).suffix(1) == [.passwordReset])
        }
    }

    @Test("Resets, freezes and reuse are noted for their account, with the origin of the request for the mail")
    func domain() async throws {
        try await withPostOffice { office in
            let stores = office.stores
            let account = try await stores.addAccount()
            let trail = trail(SQLiteAuditStore(stores.database))
            let recovery = PasswordRecovery(
                intents: stores.intents,
                tokens: stores.tokens,
                gate: try HashingGate(hashing: PlainHashing(), width: 1),
                devices: DeviceTokens(keys: ServerKeys(secret: SymmetricKey(size: .bits256))),
                policy: PasswordPolicy(),
                audit: trail,
                now: office.clock.now
            )
            let freeze = AccountFreeze(tokens: stores.freezeTokens, audit: trail, now: office.clock.now)
            let secret = SecretToken()
            try await stores.freezeTokens.insert(secret.digest, account: account.id, expiresAt: .after(60))
            try await freeze.freeze(try ResetToken(secret.text))
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
            let events = try await SQLiteAuditStore(stores.database).events(of: account.id, limit: 9)
            #expect(events.map(\.kind) == [.recovered, .passwordReset, .resetLinkSent, .frozen])
            #expect(events.first { $0.kind == .resetLinkSent }?.origin == origin)
        }
    }
}

/// A store that can't write the first time.
private final class FailingOnce: AuditStore {
    private let base: SQLiteAuditStore
    private let hasFailed = Mutex(false)

    init(base: SQLiteAuditStore) {
        self.base = base
    }

    func append(_ events: [AuditEvent]) async throws {
        let fails = hasFailed.withLock { hasFailed in
            defer { hasFailed = true }
            return !hasFailed
        }
        if fails { throw StoreFailure(isBusy: true, message: "busy") }
        try await base.append(events)
    }

    func events(of account: Account.ID, limit: Int) async throws -> [AuditEvent] {
        try await base.events(of: account, limit: limit)
    }
    func sweep(before: Date, limit: Int) async throws -> Bool { try await base.sweep(before: before, limit: limit) }
}
