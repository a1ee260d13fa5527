import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import GRDB
import Idempotency
import PostgresDriver
import PostgresStores
import SQLiteStores
import Synchronization
import Testing

@testable import StoreMigration

@Suite(.timeLimit(.minutes(10))) struct StoreCopyTests {
    @Test("Copies each kind of row so that the stores on PostgreSQL continue with it")
    func everyTable() async throws {
        try await withInstallation { installation in
            let source = installation.source
            let ana = try await source.addAccount("Ana@Example.com", state: .active, language: .french)
            let ben = try await source.addAccount("ben@example.com")
            let session = try await OpenedSession(source, account: ana)
            let (_, second) = try await session.use(session.first, after: 5)
            let token = try await source.mint(for: ana)
            let lock = SecretToken().digest
            try await source.accountLockTokens.insert(lock, account: ben.id, expiresAt: .after(100))
            let origin = AuditOrigin(client: "203.0.113.7", requestID: "request")
            let held = MailIntent(
                subject: .passwordReset(ana.email),
                language: .french,
                createdAt: .after(0),
                origin: origin
            )
            try await source.intents.enqueue(held)
            #expect(try await source.intents.claim(limit: 1, at: .after(1), leaseEnd: .after(1_000)) == [held])
            let waiting = MailIntent(subject: .passwordChanged(ben.id), language: .english, createdAt: .after(2))
            try await source.intents.enqueue(waiting)
            _ = try await source.intents.retry(nil, includingFailed: true, at: .after(3))
            let carla = try await source.addAccount("carla@example.com")
            _ = try await source.records.change(carla.id, at: .after(1)) { record in
                record.account.email = try EmailAddress("Carla.New@example.com")
                (record.account.isEmailVerified, record.account.purgeAt) = (false, .after(9_000))
                record.formerAddresses = [FormerAddress(email: carla.email, replacedAt: .after(1), expiresAt: .after(8_000))]
            }
            let links = [
                StoredLink.sample(.undoEmail, for: carla), try StoredLink.registration(of: "Dora@example.com", name: "Dora"),
            ]
            for link in links { try await source.records.insert(link) }
            for family in ["iPhone", "Firefox on Linux"] {
                _ = try await source.records.noteDevice(family: family, of: ana.id, at: .after(4), notice: nil)
            }
            try await source.records.noteActivity(of: ben.id, at: .after(4))
            let gone = try await source.addAccount("gone@example.com")
            _ = try await source.records.purge([gone.id], at: .after(5), unverifiedSince: nil, isForced: true)
            let named = StoredSession(
                id: .init(rawValue: UUID()),
                accountID: ben.id,
                createdAt: .after(3),
                deviceName: "Ben's iPad"
            )
            #expect(try await source.sessions.open(named, refresh: SecretToken().digest, epoch: 0))
            let registration = MailIntent(
                subject: .registration(try EmailAddress("dora@example.com"), try FirstName("Dora")),
                language: .english,
                createdAt: .after(2.5)
            )
            try await source.intents.enqueue(registration)
            let events = [AuditEvent.Kind.registered, .signedIn, .signedIn].enumerated().map { number, kind in
                AuditEvent(kind: kind, accountID: ana.id, time: .after(number == 0 ? 0 : 7.25), origin: origin)
            }
            try await source.audit.append(events)
            let spans = [DecoySpan(decoy: "decoy", start: 0, width: 0.5, reach: 1)]
            _ = try await source.decoys.renewDecoys { _ in spans }
            let claim = try IdempotencyClaim.sample()
            try await SQLiteIdempotencyStore(installation.sqlite).answer(claim)

            let report = try #require(try await installation.copy().run { _ in })
            #expect(report.tables.allSatisfy { $0.source == $0.target && $0.rows == $0.source.count })
            #expect(report.pause != nil)

            let target = installation.target
            #expect(try await target.accounts.accounts() == source.accounts.accounts())
            #expect(try await target.accounts.account(email: try EmailAddress("ana@example.com")) == ana)
            let next = SecretToken().digest
            let outcome = try await target.sessions.rotate(second, to: next, at: .after(10), rules: session.rules)
            #expect(outcome != .refused)
            #expect(try await target.resetTokens.find(token, at: .after(20))?.account == ana)
            #expect(try await target.accountLockTokens.find(lock, at: .after(20)) == ben)
            #expect(
                Set(try await target.intents.claim(limit: 5, at: .after(4), leaseEnd: .after(100))) == [
                    held, waiting, registration,
                ]
            )
            #expect(try await target.intents.lastRetry() == .after(3))
            let record = try #require(try await target.records.record(of: carla.id, at: .after(10)))
            #expect(try await source.records.record(of: carla.id, at: .after(10)) == record)
            #expect(record.formerAddresses.map(\.email) == [carla.email])
            for link in links { #expect(try await target.records.find(link.digest, at: .after(10))?.link == link) }
            #expect(try await !target.accounts.insert(try .sample("carla@example.com")))
            let devices = try await target.records.devices(of: ana.id)
            #expect(devices.map(\.family) == ["Firefox on Linux", "iPhone"])
            #expect(try await target.records.unlistedPurges(limit: 9) == [ListedPurge(id: gone.id, purgedAt: .after(5))])
            #expect(try await installation.number("SELECT count(*) FROM purge_event") == 1)
            #expect(try await installation.number("SELECT count(*) FROM account WHERE active_at IS NOT NULL") == 1)
            #expect(try await target.sessions.sessions(of: ben.id, limit: .max).map(\.session) == [named])
            #expect(try await target.audit.events(of: ana.id, limit: 5) == source.audit.events(of: ana.id, limit: 5))
            #expect(try await target.decoys.renewDecoys { $0 } == spans)
            let idempotency = PostgresIdempotencyStore(installation.postgres)
            #expect(try await idempotency.claim(claim, after: 500) == .finished(nil))
            #expect(try await idempotency.count() == 1)
            let name = try installation.sqlite.installation()
            #expect(try await PostgresSchema.installation(installation.postgres) == name)
        }
    }

    @Test("A clock of SQLite that was ahead neither revives used tokens nor delays emails")
    func clockAhead() async throws {
        try await withInstallation { installation in
            let source = installation.source
            let ana = try await source.addAccount("ana@example.com")
            // The wall clock was set back by an hour while the server ran.
            let ahead = Date().addingTimeInterval(3_600)
            let session = StoredSession(id: .init(rawValue: UUID()), accountID: ana.id, createdAt: ahead)
            let used = SecretToken().digest
            #expect(try await source.sessions.open(session, refresh: used, epoch: ana.epoch))
            _ = try await source.sessions.rotate(used, to: SecretToken().digest, at: ahead, rules: SessionRules())
            try await source.intents.enqueue(
                MailIntent(subject: .passwordChanged(ana.id), language: .english, createdAt: ahead)
            )
            _ = try await installation.copy().run { _ in }
            let target = installation.target
            let due = Date().addingTimeInterval(360)
            #expect(try await target.intents.claim(limit: 1, at: due, leaseEnd: due.addingTimeInterval(60)).count == 1)
            let later = Date().addingTimeInterval(60)
            let outcome = try await target.sessions.rotate(used, to: SecretToken().digest, at: later, rules: SessionRules())
            let isReused = if case .reused = outcome { true } else { false }
            #expect(isReused, "\(outcome)")
        }
    }

    @Test("A clock of SQLite that was ahead does not extend the lease of a running key")
    func clockAheadOfLease() async throws {
        try await withInstallation { installation in
            // The wall clock was set back by an hour while the server ran.
            let ahead = Date().addingTimeInterval(3_600)
            let (running, finished) = (try IdempotencyClaim.sample("running"), try IdempotencyClaim.sample("finished"))
            let source = SQLiteIdempotencyStore(installation.sqlite)
            for claim in [running, finished] {
                #expect(try await source.claim(claim, lease: .seconds(60), at: ahead) == .claimed)
            }
            #expect(try await source.finish(finished, with: nil, until: ahead.addingTimeInterval(86_400)))
            _ = try await installation.copy().run { _ in }
            let target = PostgresIdempotencyStore(installation.postgres)
            let later = Date().addingTimeInterval(61)
            let repetition = try await target.claim(try .sample("running"), lease: .seconds(60), at: later)
            #expect(repetition == .claimed)
            let known = try await target.claim(try .sample("finished"), lease: .seconds(60), at: later)
            #expect(known == .finished(nil))
        }
    }

    @Test("Rows that change during an interrupted copy arrive in their final state")
    func changedRows() async throws {
        try await withInstallation { installation in
            let source = installation.source
            let accounts = try await (0..<20).asyncMap { try await source.addAccount("user\($0)@example.com") }
            let session = try await OpenedSession(source, account: accounts[0])
            #expect(try await !installation.interruptedCopy { if case .compared = $0 { true } else { false } })
            try await installation.execute("UPDATE account SET first_name = 'Bea' WHERE email_key = 'user1@example.com'")
            // An address moves from one account to another.
            try await installation.execute("DELETE FROM account WHERE email_key = 'user2@example.com'")
            let successor = try await source.addAccount("user2@example.com")
            try await installation.execute(
                "UPDATE account SET email = 'new@example.com', email_key = 'new@example.com' WHERE email_key = 'user3@example.com'"
            )
            try await source.sessions.end(refresh: session.first)
            _ = try await installation.copy().run { _ in }
            let target = installation.target
            #expect(try await target.accounts.accounts() == source.accounts.accounts())
            #expect(try await target.accounts.account(email: try EmailAddress("user2@example.com")) == successor)
            #expect(try await target.accounts.account(email: try EmailAddress("user3@example.com")) == nil)
            #expect(try await target.accounts.account(email: try EmailAddress("new@example.com"))?.id == accounts[3].id)
            #expect(try await !target.sessions.isAlive(session.session.id))
            #expect(try await installation.number("SELECT count(*) FROM refresh_token") == 0)
        }
    }

    @Test("Copies an address that moved between accounts more than 500 changes apart")
    func movedAddress() async throws {
        try await withInstallation { installation in
            let source = installation.source
            let accounts = try await (0..<3).asyncMap { try await source.addAccount("user\($0)@example.com") }
            #expect(try await !installation.interruptedCopy { if case .compared = $0 { true } else { false } })
            // The first batch contains account 1 with its final address. Account 0, which released this address, is in the second batch.
            try await installation.execute("UPDATE account SET first_name = 'Bea' WHERE email_key = 'user1@example.com'")
            let other = "UPDATE account SET first_name = 'Cem' WHERE email_key = 'user2@example.com';"
            try await installation.execute(String(repeating: other, count: 600))
            for (old, new) in [("user0", "new"), ("user1", "user0")] {
                try await installation.execute(
                    """
                    UPDATE account SET email = '\(new)@example.com', email_key = '\(new)@example.com'
                    WHERE email_key = '\(old)@example.com'
                    """
                )
            }
            _ = try await installation.copy().run { _ in }
            let target = installation.target
            #expect(try await target.accounts.accounts() == source.accounts.accounts())
            #expect(try await target.accounts.account(email: try EmailAddress("user0@example.com"))?.id == accounts[1].id)
            #expect(try await target.accounts.account(email: try EmailAddress("new@example.com"))?.id == accounts[0].id)
            #expect(try await installation.number("SELECT count(*) FROM account_email") == 3)
        }
    }

    @Test("Copies an audit event that got the number of a removed one")
    func reusedNumber() async throws {
        try await withInstallation { installation in
            let source = installation.source
            let ana = try await source.addAccount("ana@example.com")
            let ben = try await source.addAccount("ben@example.com")
            try await source.audit.append([AuditEvent(kind: .registered, accountID: ana.id, time: .after(0), origin: .none)])
            #expect(try await !installation.interruptedCopy { if case .compared = $0 { true } else { false } })
            // The removed event had the largest number, so SQLite gives this number to the next event.
            try await installation.execute("DELETE FROM account WHERE email_key = 'ana@example.com'")
            try await source.audit.append([AuditEvent(kind: .signedIn, accountID: ben.id, time: .after(1), origin: .none)])
            _ = try await installation.copy().run { _ in }
            let target = installation.target
            #expect(try await target.audit.events(of: ben.id, limit: 5) == source.audit.events(of: ben.id, limit: 5))
            #expect(try await target.audit.events(of: ben.id, limit: 5).count == 1)
            #expect(try await installation.number("SELECT count(*) FROM audit_event") == 1)
        }
    }

    @Test("An interrupted copy continues at any point, beside a server that writes")
    func interrupted() async throws {
        try await withInstallation { installation in
            let source = installation.source
            for number in 0..<1_200 { try await source.addAccount("user\(number)@example.com") }
            let writes = Task {
                var accepted: [Account] = []
                while true {
                    do {
                        accepted.append(try await source.addAccount("more\(accepted.count)@example.com"))
                        // Produces load without racing with the copy.
                        try await Task.sleep(for: .milliseconds(2))
                    } catch let failure as StoreFailure where failure.message.contains("DATABASE_URL") {
                        return (accepted, failure)
                    } catch let failure as StoreFailure where failure.isBusy {
                        // On a busy machine, a final pass can hold the lock for longer than a write waits for it.
                    }
                }
            }
            let copied = Mutex<[Int]>([])
            for last in 1...12 {
                let events = Mutex(0)
                _ = try await installation.interruptedCopy { event in
                    if case .copied(let count, _) = event { copied.withLock { $0.append(count) } }
                    return events.withLock { events in
                        events += 1
                        return events == last
                    }
                }
            }
            _ = try await installation.copy().run { _ in }
            let (accepted, failure) = try await writes.value
            // The copy never started again.
            #expect(copied.withLock { $0 == $0.sorted() })
            #expect(failure.isBusy)
            #expect(!accepted.isEmpty)
            #expect(try await installation.target.accounts.accounts() == source.accounts.accounts())
            #expect(try await installation.number("SELECT count(*) FROM account_email") == 1_200 + accepted.count)
        }
    }

    @Test("A difference prevents the seal, and the server continues")
    func difference() async throws {
        try await withInstallation { installation in
            let source = installation.source
            for number in 0..<10 { try await source.addAccount("user\(number)@example.com") }
            #expect(try await !installation.interruptedCopy { if case .compared = $0 { true } else { false } })
            try await installation.postgres.client.execute(
                "UPDATE account SET first_name = 'Eve' WHERE email = 'user7@example.com'"
            )
            let failure = await #expect(throws: CopyFailure.self) { try await installation.copy().run { _ in } }
            #expect(failure?.description.contains("account differs") == true)
            try await source.addAccount("another@example.com")
            #expect(try await PostgresSchema.isIncompleteCopy(installation.postgres))
        }
    }

    @Test("Counts the rows after the seal, so that no write waits for the count")
    func countAfterSeal() async throws {
        try await withInstallation { installation in
            try await installation.source.addAccount()
            let states = Mutex<[Bool?]>([])
            let report = try await installation.copy().run { event in
                guard case .counting = event else { return }
                let isSealed = try? SQLiteSeal.isClosed(installation.file)
                states.withLock { $0.append(isSealed) }
            }
            #expect(states.withLock { $0 } == [true])
            #expect(report?.tables.first?.rows == 1)
        }
    }

    @Test("A row that the log of changes misses ends the seal, and the server continues")
    func missedRow() async throws {
        try await withInstallation { installation in
            let source = installation.source
            let ana = try await source.addAccount()
            let sql = """
                DROP TRIGGER copy_account_device_insert;
                INSERT INTO account_device (account_id, family, first_seen_at) VALUES ('\(ana.id)', 'iPad', 1);
                """
            let isAdded = Mutex(false)
            let addRow: @Sendable (StoreCopy.Event) -> Void = { event in
                guard case .compared(let done, let total) = event, done == total else { return }
                let isFirst = isAdded.withLock { isAdded in
                    defer { isAdded = true }
                    return !isAdded
                }
                guard isFirst else { return }
                #expect(throws: Never.self) {
                    try DatabaseQueue(path: installation.file.path).write { try $0.execute(sql: sql) }
                }
            }
            let failure = await #expect(throws: CopyFailure.self) { try await installation.copy().run(addRow) }
            #expect(failure?.description == "account_device has 0 rows in PostgreSQL and 1 in SQLite")
            #expect(try !SQLiteSeal.isClosed(installation.file))
            try await source.addAccount("ben@example.com")
            #expect(try await PostgresSchema.isIncompleteCopy(installation.postgres))
        }
    }

    @Test("A copy that is canceled during the count removes the seal, and the next one ends")
    func canceledCount() async throws {
        try await withInstallation { installation in
            let source = installation.source
            try await source.addAccount()
            #expect(try await !installation.interruptedCopy { if case .counting = $0 { true } else { false } })
            #expect(try !SQLiteSeal.isClosed(installation.file))
            try await source.addAccount("ben@example.com")
            _ = try await installation.copy().run { _ in }
            #expect(try SQLiteSeal.isClosed(installation.file))
            #expect(try await installation.target.accounts.accounts() == source.accounts.accounts())
        }
    }

    @Test("A sealed database reads, refuses writes as busy, and writes after the seal ends")
    func seal() async throws {
        try await withInstallation { installation in
            let source = installation.source
            let ana = try await source.addAccount()
            let session = try await OpenedSession(source, account: ana)
            #expect(try !SQLiteSeal.isClosed(installation.file))
            _ = try await installation.copy().run { _ in }
            #expect(try SQLiteSeal.isClosed(installation.file))
            #expect(try await source.accounts.account(id: ana.id) == ana)
            #expect(try await session.isAlive)
            let failure = await #expect(throws: StoreFailure.self) { try await session.use(session.first, after: 1) }
            #expect(failure?.isBusy == true)
            // A second run has nothing to do.
            #expect(try await installation.copy().run { _ in } == nil)
            #expect(try await StoreCopy.undo(installation.file))
            #expect(try await session.use(session.first, after: 1).outcome != .refused)
            #expect(try await !StoreCopy.undo(installation.file))
            // PostgreSQL may have changed since the copy.
            await #expect(throws: CopyFailure.self) { try await installation.copy().run { _ in } }
            try await withPostgres { postgres async throws in
                #expect(try await installation.copy(to: postgres).run { _ in } != nil)
                await #expect(throws: CopyFailure.self) { try await installation.copy().run { _ in } }
            }
        }
    }

    @Test("A final pass that takes too long ends without a seal, and the next copy resumes")
    func longPause() async throws {
        try await withInstallation { installation in
            try await installation.source.addAccount()
            var hasty = installation.copy()
            hasty.longestPause = .zero
            let copy = hasty
            let failure = await #expect(throws: CopyFailure.self) { try await copy.run { _ in } }
            #expect(failure?.description.contains("final pass") == true)
            try await installation.source.addAccount("ben@example.com")
            let report = try await installation.copy().run { _ in }
            #expect(report?.tables.first?.rows == 2)
        }
    }

    @Test("A copy whose log is missing starts again")
    func startAgain() async throws {
        try await withInstallation { installation in
            let source = installation.source
            for number in 0..<10 { try await source.addAccount("user\(number)@example.com") }
            #expect(try await !installation.interruptedCopy { if case .compared = $0 { true } else { false } })
            #expect(try await !StoreCopy.undo(installation.file))
            try await installation.execute("DELETE FROM account WHERE email_key = 'user2@example.com'")
            _ = try await installation.copy().run { _ in }
            #expect(try await installation.target.accounts.accounts() == source.accounts.accounts())
        }
    }

    @Test("Refuses a database in use by others, and a second concurrent copy")
    func refusals() async throws {
        try await withInstallation { installation in
            try await installation.source.addAccount()
            let copy = installation.copy()
            #expect(try await copy.check().first { $0.table == "account" }?.rows == 1)
            #expect(try await PostgresSchema.isNew(installation.postgres))
            try await PostgresSchema.migrate(installation.postgres)
            let server = PostgresPresence(installation.postgres, name: "test", version: "1.0.0", isAlone: false)
            #expect(try await server.enter())
            // Otherwise, the server would not be present any more after a pause of the machine of 10 s.
            try await installation.postgres.client.execute("UPDATE server SET renewed_at = renewed_at + 3600")
            await #expect(throws: CopyFailure.self) { try await copy.run { _ in } }
            try await server.leave()
            try await installation.target.addAccount("eve@example.com")
            let taken = await #expect(throws: CopyFailure.self) { try await copy.run { _ in } }
            #expect(taken?.description.contains("has accounts") == true)
            try await installation.postgres.client.execute("DELETE FROM account WHERE email = 'eve@example.com'")
            try await installation.postgres.client.execute("DELETE FROM account_email WHERE account_id IS NOT NULL")

            let second = Mutex<Task<StoreCopy.Report?, any Error>?>(nil)
            _ = try await copy.run { _ in
                second.withLock { if $0 == nil { $0 = Task { try await copy.run { _ in } } } }
            }
            let task = second.withLock { $0 }
            // It was refused, or started after the end of the first.
            switch await task?.result {
            case .failure(let error)?: #expect("\(error)".contains("another copy"))
            case .success(let report)?: #expect(report == nil)
            case nil: Issue.record("the copy reported nothing")
            }
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
