import AccountContract
import AccountCore
import AccountStoreTesting
import DataServerTesting
import ErrorContract
import Foundation
import Idempotency
import PostgresDriver
import PostgresStores
import Testing

/// Transactions that the driver repeats because the response to their commit was lost.
@Suite(.timeLimit(.minutes(5))) struct LostCommitTests {
    @Test("Reports a reused token although the response to the commit was lost")
    func reusedToken() async throws {
        try await withDatabase { temporary in
            let opened = try await OpenedSession(temporary.stores, account: try await temporary.stores.addAccount())
            #expect(try await opened.use(opened.first, after: 1).outcome == .rotated(opened.session))
            try await withCutCommit(temporary, reachesServer: true) { database, _ in
                let outcome = try await PostgresSessionStore(database).rotate(
                    opened.first,
                    to: SecretToken().digest,
                    at: .after(3_600),
                    rules: opened.rules
                )
                #expect(outcome == .reused(opened.session))
            }
            #expect(try await !opened.isAlive)
        }
    }

    @Test("Reports an expired session although the response to the commit was lost")
    func expiredSession() async throws {
        try await withDatabase { temporary in
            let opened = try await OpenedSession(temporary.stores, account: try await temporary.stores.addAccount())
            try await withCutCommit(temporary, reachesServer: true) { database, _ in
                let outcome = try await PostgresSessionStore(database).rotate(
                    opened.first,
                    to: SecretToken().digest,
                    at: .after(opened.rules.absoluteLimit / .seconds(1) + 1),
                    rules: opened.rules
                )
                #expect(outcome == .expired)
            }
            #expect(try await !opened.isAlive)
        }
    }

    @Test("Finishes a key if another request ends the session before the repetition")
    func endedSession() async throws {
        try await withDatabase { temporary in
            let opened = try await OpenedSession(temporary.stores, account: try await temporary.stores.addAccount())
            let (session, account) = (opened.session.id, opened.session.accountID)
            let keys = PostgresIdempotencyStore(temporary.database)
            let claim = try IdempotencyClaim.sample()
            #expect(try await keys.claim(claim, lease: .seconds(60), at: .after(0)) == .claimed)
            try await withCutCommit(temporary, reachesServer: false) { database, proxy in
                let sessions = PostgresSessionStore(database)
                // Opens the connection. No other connection opens until the other request has ended the session.
                #expect(try await sessions.isAlive(session))
                proxy.refuse(true)
                let request = keyedRequest(claim, in: database)
                let response = try IdempotentResponse.json(["done": true])
                let ending = Task {
                    try await IdempotentRequest.$current.withValue(request) {
                        try await request.expecting(response) { try await sessions.end(session, of: account) }
                    }
                }
                try await waitUntil("the commit is lost") { proxy.open == 0 }
                #expect(try await temporary.stores.sessions.end(session, of: account))
                proxy.refuse(false)
                #expect(try await ending.value)
                #expect(request.isFinished)
            }
            guard case .finished = try await keys.claim(try .sample(), lease: .seconds(60), at: .after(1)) else {
                Issue.record("the key is not finished")
                return
            }
        }
    }

    @Test("Adds no email again if another server sends it before the repetition", arguments: [false, true])
    func sentEmail(isEmailChange: Bool) async throws {
        try await withDatabase { temporary in
            let stores = temporary.stores
            let account = try await stores.addAccount()
            let new = try EmailAddress("new@example.com")
            let subject: MailIntent.Subject = isEmailChange ? .emailChange(account.id, to: new) : .passwordReset(account.email)
            let intent = MailIntent(subject: subject, language: .english, createdAt: .after(0))
            let claim = try IdempotencyClaim.sample()
            let keys = PostgresIdempotencyStore(temporary.database)
            #expect(try await keys.claim(claim, lease: .seconds(60), at: .after(0)) == .claimed)
            try await withCutCommit(temporary, reachesServer: true) { database, proxy in
                // Opens the connection. No other connection opens until the other server has sent the email.
                try await database.execute("SELECT 1")
                proxy.refuse(true)
                let (queue, request) = (PostgresMailIntentQueue(database), keyedRequest(claim, in: database))
                let response = try IdempotentResponse.json(["done": true])
                let adding = Task {
                    try await IdempotentRequest.$current.withValue(request) {
                        try await request.expecting(response) { try await queue.enqueue(intent) }
                    }
                }
                try await waitUntil("the commit is lost") { proxy.open == 0 }
                try await waitUntil("the email is in the queue") { try await stores.intents.count() == 1 }
                let claimed = try await stores.intents.claim(limit: 1, at: .after(1), leaseEnd: .after(60))
                #expect(claimed.map(\.id) == [intent.id])
                if !isEmailChange {
                    let bounds = ResetMailBounds()
                    let decision = try await stores.sentResets.reserve(intent.id, for: account.id, within: bounds, at: .after(1))
                    #expect(decision == .reserved)
                }
                try await stores.intents.settle(intent)
                proxy.refuse(false)
                try await adding.value
                #expect(request.isFinished)
            }
            #expect(try await stores.intents.count() == 0)
        }
    }

    @Test("The id of a sent email to a new address counts for no limit, and expires")
    func sentEmailChange() async throws {
        try await withDatabase { temporary in
            let stores = temporary.stores
            let account = try await stores.addAccount()
            let subject = MailIntent.Subject.emailChange(account.id, to: try EmailAddress("new@example.com"))
            let intent = MailIntent(subject: subject, language: .english, createdAt: .after(0))
            for _ in 0..<2 { try await stores.intents.settle(intent) }
            let ids = try await temporary.database.execute("SELECT intent_id FROM sent_reset").rows
            #expect(try ids.map { try $0.value(0) as UUID } == [intent.id])
            let counted = try await temporary.database.execute(
                "SELECT 1 FROM sent_reset WHERE sent_at > $1 OR account_id IS NOT NULL",
                [.time(.after(-30 * 86_400))]
            )
            #expect(counted.rows.isEmpty)
            try await stores.sentResets.sweep(at: .after(3_599))
            #expect(try await temporary.database.execute("SELECT 1 FROM sent_reset").rows.count == 1)
            try await stores.sentResets.sweep(at: .after(3_600))
            #expect(try await temporary.database.execute("SELECT 1 FROM sent_reset").rows.isEmpty)
        }
    }

    @Test("Reserves an email as new if the commit of its reservation lost its response")
    func reservation() async throws {
        try await withDatabase { temporary in
            let account = try await temporary.stores.addAccount()
            let email = MailIntent(subject: .passwordReset(account.email), language: .english, createdAt: .after(0))
            let outcome = try await repeating(temporary, reachesServer: true) { stores in
                try await stores.sentResets.reserve(email.id, for: account.id, within: ResetMailBounds(), at: .after(1))
            }
            #expect(try outcome.get() == .reserved)
            let again = try await temporary.stores.sentResets.reserve(
                email.id,
                for: account.id,
                within: ResetMailBounds(),
                at: .after(2)
            )
            #expect(again == .reservedAgain)
        }
    }

    @Test("Reserves an email as new after a reservation with an unknown outcome", arguments: [false, true])
    func unknownReservation(wasReserved: Bool) async throws {
        try await withDatabase { temporary in
            let email = UUID()
            let bounds = ResetMailBounds()
            if wasReserved {
                let decision = try await temporary.stores.sentResets.reserve(email, for: nil, within: bounds, at: .after(0))
                #expect(decision == .reserved)
            }
            try await withCutCommit(temporary, reachesServer: true) { database, proxy in
                let store = PostgresSentResetStore(database)
                // Opens the connection. No other connection opens until the call has failed.
                try await database.execute("SELECT 1")
                proxy.refuse(true)
                let first = Task { try await store.reserve(email, for: nil, within: bounds, at: .after(1)) }
                try await waitUntil("the commit is lost") { proxy.open == 0 }
                first.cancel()
                let outcome = await first.result
                #expect(outcome.isUnknown)
                proxy.refuse(false)
                // The next reservation removes the one with the unknown outcome, whatever its email is.
                let next = try await store.reserve(UUID(), for: nil, within: bounds, at: .after(2))
                #expect(next == .reserved)
                let again = try await store.reserve(email, for: nil, within: bounds, at: .after(3))
                #expect(again == (wasReserved ? .reservedAgain : .reserved))
            }
        }
    }

    @Test("Reports an unknown outcome if another change follows the lost commit")
    func overtakenChange() async throws {
        try await withDatabase { temporary in
            let account = try await temporary.stores.addAccount()
            let outcome = try await repeating(temporary, reachesServer: true) { stores in
                _ = try await stores.records.change(account.id, at: .after(1)) { $0.account.passwordHash = "new hash" }
            } overtakenBy: {
                _ = try await temporary.stores.records.change(account.id, at: .after(2)) { $0.account.epoch += 1 }
            }
            #expect(outcome.isUnknown)
            let stored = try await temporary.stores.accounts.account(id: account.id)
            #expect(stored?.passwordHash == "new hash")
            #expect(stored?.epoch == account.epoch + 1)
        }
    }

    @Test("Repeats a change if no other change follows the lost commit")
    func repeatedChange() async throws {
        try await withDatabase { temporary in
            let account = try await temporary.stores.addAccount()
            let outcome = try await repeating(temporary, reachesServer: false) { stores in
                _ = try await stores.records.change(account.id, at: .after(1)) { $0.account.epoch += 1 }
            } overtakenBy: {
                try await temporary.stores.records.noteActivity(of: account.id, at: .after(2))
            }
            try outcome.get()
            #expect(try await temporary.stores.accounts.account(id: account.id)?.epoch == account.epoch + 1)
        }
    }

    @Test("Reports an unknown outcome if a used token is removed after the lost commit")
    func removedToken() async throws {
        try await withDatabase { temporary in
            let account = try await temporary.stores.addAccount()
            let token = try await temporary.stores.mint(for: account)
            let reset = try await repeating(temporary, reachesServer: true) { stores in
                try await stores.confirm(token, of: account)
            } overtakenBy: {
                try await temporary.stores.resetTokens.discard(token)
            }
            #expect(reset.isUnknown)
            let lockToken = SecretToken().digest
            try await temporary.stores.accountLockTokens.insert(lockToken, account: account.id, expiresAt: .after(60))
            let lock = try await repeating(temporary, reachesServer: true) { stores in
                try await stores.accountLockTokens.lock(lockToken, at: .after(2))
            } overtakenBy: {
                try await temporary.stores.accountLockTokens.discard(lockToken)
            }
            #expect(lock.isUnknown)
        }
    }

    @Test("Reports a device as new once if another sign-in adds it before the repetition")
    func overtakenDevice() async throws {
        try await withDatabase { temporary in
            let id = try await temporary.stores.addAccount().id
            let records = temporary.stores.records
            _ = try await records.noteDevice(family: "iPhone", of: id, at: .after(0), notice: nil)
            let outcome = try await repeating(temporary, reachesServer: false) { stores in
                try await stores.records.noteDevice(family: "iPad", of: id, at: .after(1), notice: nil)
            } overtakenBy: {
                let isNew = try await records.noteDevice(family: "iPad", of: id, at: .after(2), notice: nil)
                #expect(isNew)
            }
            #expect(try !outcome.get())
        }
    }

    @Test("Reports a device as new although the response to the commit was lost")
    func newDevice() async throws {
        try await withDatabase { temporary in
            let id = try await temporary.stores.addAccount().id
            _ = try await temporary.stores.records.noteDevice(family: "iPhone", of: id, at: .after(0), notice: nil)
            let outcome = try await repeating(temporary, reachesServer: true) { stores in
                try await stores.records.noteDevice(family: "iPad", of: id, at: .after(1), notice: nil)
            }
            #expect(try outcome.get())
        }
    }

    @Test("Stores the event of a change of the state once if the commit lost its response")
    func stateEvent() async throws {
        try await withDatabase { temporary in
            let id = try await temporary.stores.addAccount().id
            let event = AuditEvent(kind: .suspended, accountID: id, time: .after(1), origin: .none)
            let outcome = try await repeating(temporary, reachesServer: true) { stores in
                try await stores.accounts.setState(.suspended, of: id, event: event)
            }
            #expect(try outcome.get())
            #expect(try await temporary.stores.audit.events(of: id, limit: 9) == [event])
        }
    }

    @Test("Stores the event of a new account once if the commit lost its response")
    func creationEvent() async throws {
        try await withDatabase { temporary in
            let account = try Account.sample()
            let outcome = try await repeating(temporary, reachesServer: true) { stores in
                try await stores.accounts.insert(contentsOf: [account], event: .imported)
            }
            #expect(try outcome.get() == [account.id])
            let event = AuditEvent(kind: .imported, accountID: account.id, time: account.createdAt, origin: .none)
            #expect(try await temporary.stores.audit.events(of: account.id, limit: 9) == [event])
        }
    }

    @Test("Rotates the signing keys once if the commit or its response was lost", arguments: [false, true])
    func rotatedKeys(reachesServer: Bool) async throws {
        try await withDatabase { temporary in
            _ = try await temporary.stores.signingKeys.changeSigningKeys { stored in
                var keys = stored
                keys.start(with: .init(id: "a", sealed: Data([1])), at: .after(0))
                return keys
            }
            // The database rounds the times of half of all dates, such as this one.
            let time = Date.after(1).addingTimeInterval(0x1p-23)
            let outcome = try await repeating(temporary, reachesServer: reachesServer) { stores in
                try await stores.signingKeys.changeSigningKeys { stored in
                    var keys = stored
                    try keys.rotate(to: .init(id: "b", sealed: Data([2])), at: time)
                    return keys
                }
            }
            #expect(try outcome.get().keys.map(\.id) == ["a", "b"])
            #expect(try await temporary.stores.signingKeys.signingKeys() == outcome.get())
        }
    }

    @Test("Counts the retried emails once if the commit or its response was lost", arguments: [false, true])
    func retriedEmails(reachesServer: Bool) async throws {
        try await withDatabase { temporary in
            let intents = temporary.stores.intents
            let subject = MailIntent.Subject.passwordReset(try EmailAddress("ana@example.com"))
            let intent = MailIntent(subject: subject, language: .english, createdAt: .after(0))
            try await intents.enqueue(intent)
            #expect(try await intents.claim(limit: 1, at: .after(1), leaseEnd: .after(60)).count == 1)
            try await intents.postpone(intent, leaseEnd: .after(60), until: .after(600), reason: "421")
            let outcome = try await repeating(temporary, reachesServer: reachesServer) { stores in
                try await stores.intents.retry(nil, includingFailed: false, at: .after(2))
            }
            #expect(try outcome.get() == 1)
            #expect(try await intents.lastRetry() == .after(2))
            #expect(try await intents.mails(limit: 9).map(\.dueAt) == [.after(2)])
        }
    }

    @Test("Stores an audit event once if it is appended again after an unknown outcome")
    func appendedAgain() async throws {
        try await withDatabase { temporary in
            let id = try await temporary.stores.addAccount().id
            let events = [AuditEvent.Kind.signedIn, .newDevice].map {
                AuditEvent(kind: $0, accountID: id, time: .after(1), origin: .none)
            }
            try await withCutCommit(temporary, reachesServer: true) { database, proxy in
                let store = PostgresAuditStore(database)
                // Opens the connection. No other connection opens until the call has failed.
                try await database.execute("SELECT 1")
                proxy.refuse(true)
                let first = Task { try await store.append([events[0]]) }
                try await waitUntil("the commit is lost") { proxy.open == 0 }
                first.cancel()
                let outcome = await first.result
                #expect(outcome.isUnknown)
                proxy.refuse(false)
                try await store.append(events)
            }
            let stored = try await temporary.stores.audit.events(of: id, limit: 9)
            #expect(stored == [events[1], events[0]])
        }
    }
}

/// Returns a request that has claimed an idempotency key in a database.
private func keyedRequest(_ claim: IdempotencyClaim, in database: PostgresDatabase) -> IdempotentRequest {
    IdempotentRequest(claim, lifetime: .seconds(1_000), database: PostgresIdempotencyStore(database).database) { .after(0) }
}

extension Result {
    /// Whether the operation failed with an unknown outcome.
    fileprivate var isUnknown: Bool {
        guard case .failure(let error) = self, let failure = error as? StoreFailure else { return false }
        return failure.isOutcomeUnknown
    }
}

/// Runs an operation whose commit loses its response. A closure runs after the commit and before the repetition.
/// - Parameters:
///   - reachesServer: Whether the server gets the commit.
///   - operation: The operation. It receives the stores whose connection is cut.
///   - other: The requests between the commit and the repetition.
/// - Returns: The outcome of the operation.
private func repeating<Value: Sendable>(
    _ temporary: TemporaryDatabase,
    reachesServer: Bool,
    _ operation: @escaping @Sendable (PostgresAccountStores) async throws -> Value,
    overtakenBy other: () async throws -> Void = {}
) async throws -> Result<Value, any Error> {
    var outcome: Result<Value, any Error>?
    try await withCutCommit(temporary, reachesServer: reachesServer) { database, proxy in
        // Opens the connection. No other connection opens until the other requests have ended.
        try await database.execute("SELECT 1")
        proxy.refuse(true)
        let stores = PostgresAccountStores(database, emailKeys: temporary.keys)
        let running = Task { try await operation(stores) }
        try await waitUntil("the commit is lost") { proxy.open == 0 }
        try await other()
        proxy.refuse(false)
        outcome = await running.result
    }
    return try #require(outcome)
}

/// Runs a closure with a database that cuts the connection of the first commit.
/// - Parameters:
///   - reachesServer: Whether the server gets this commit.
///   - body: Receives the database, which has one connection at a time, and its proxy.
private func withCutCommit(
    _ temporary: TemporaryDatabase,
    reachesServer: Bool,
    _ body: (PostgresDatabase, TCPProxy) async throws -> Void
) async throws {
    let server = try await PostgresServer.shared()
    let cut = CommitCut(reachesServer: reachesServer)
    let proxy = try TCPProxy(to: server.port) { cut.makeFilter() }
    defer { proxy.stop() }
    let url = temporary.url.replacing(":\(server.port)/", with: ":\(proxy.port)/")
    let database = try TemporaryDatabase.connect(url, maximum: 1)
    do {
        try await body(database, proxy)
    } catch {
        await database.client.close()
        throw error
    }
    await database.client.close()
}
