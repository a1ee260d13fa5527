import AccountContract
import AccountCore
import AccountStoreTesting
import DataServerTesting
import ErrorContract
import Foundation
import Idempotency
import PostgresDriver
import Testing

@testable import PostgresStores

/// Races that a single writer prevents, and that can occur under READ COMMITTED.
@Suite(.timeLimit(.minutes(5))) struct RaceTests {
    @Test("A session opened while a reset commits does not survive the reset")
    func sessionDuringReset() async throws {
        try await withDatabase { temporary in
            let account = try await temporary.stores.addAccount()
            let session = StoredSession(id: .init(rawValue: UUID()), accountID: account.id, createdAt: .after(0))
            let opening = try await temporary.database.transaction { transaction in
                // The reset has changed the account and has not committed yet.
                try await transaction.execute(
                    "UPDATE account SET epoch = epoch + 1 WHERE id = $1",
                    [.uuid(account.id.rawValue)]
                )
                let opening = Task {
                    try await temporary.others.sessions.open(session, refresh: TokenDigest(of: "first"), epoch: account.epoch)
                }
                try await waitForLock(temporary, "INSERT INTO session")
                try await transaction.execute(PostgresSessionStore.endAll(of: account.id.rawValue))
                return opening
            }
            #expect(try await !opening.value)
            #expect(try await !temporary.stores.sessions.isAlive(session.id))
        }
    }

    @Test("The second of two concurrent rotations sees the result of the first")
    func rotations() async throws {
        try await withDatabase { temporary in
            let opened = try await OpenedSession(temporary.stores, account: try await temporary.stores.addAccount())
            let (_, second) = try await opened.use(opened.first, after: 1)
            let rotation = try await temporary.database.transaction { transaction in
                try await transaction.execute(
                    "SELECT id FROM session WHERE id = $1 FOR UPDATE",
                    [.uuid(opened.session.id.rawValue)]
                )
                let rotation = Task {
                    try await temporary.others.sessions.rotate(
                        second,
                        to: SecretToken().digest,
                        at: .after(100),
                        rules: opened.rules
                    )
                }
                try await waitForLock(temporary, "FOR UPDATE")
                try await transaction.execute("UPDATE refresh_token SET used_at = $1", [.time(.after(50))])
                return rotation
            }
            #expect(try await rotation.value == .reused(opened.session))
            #expect(try await !opened.isAlive)
        }
    }

    @Test("A token inserted during the suspension of its account does not survive")
    func tokenDuringSuspension() async throws {
        try await withDatabase { temporary in
            let account = try await temporary.stores.addAccount()
            let token = StoredResetToken.sample(for: account)
            let insertion = try await temporary.database.transaction { transaction in
                try await transaction.execute(
                    "UPDATE account SET state = 'suspended' WHERE id = $1",
                    [.uuid(account.id.rawValue)]
                )
                let insertion = Task { try await temporary.others.resetTokens.insert(token, liveLimit: 3) }
                try await waitForLock(temporary, "INSERT INTO reset_token")
                return insertion
            }
            try await insertion.value
            #expect(try await temporary.stores.resetTokens.find(token.digest, at: .after(1)) == nil)
        }
    }

    @Test("A claim after the lease does not remove a key that a commit finishes")
    func claimDuringCommit() async throws {
        try await withDatabase { temporary in
            let (keys, others) = (PostgresIdempotencyStore(temporary.database), PostgresIdempotencyStore(temporary.other))
            let slow = try IdempotencyClaim.sample()
            #expect(try await keys.claim(slow) == .claimed)
            let repetition = try await temporary.database.transaction { transaction in
                // The request took longer than its lease. Its transaction has finished the key and has not committed yet.
                #expect(try await PostgresIdempotencyStore.finish(slow, with: nil, until: .after(1_000), in: transaction))
                let repetition = Task { try await others.claim(try .sample(), after: 61) }
                try await waitForLock(temporary, "DELETE FROM idempotency_key")
                return repetition
            }
            #expect(try await repetition.value == .finished(nil))
            #expect(try await keys.count() == 1)
        }
    }

    @Test("A network whose email is returned during a claim keeps its turn")
    func returnDuringClaim() async throws {
        try await withDatabase { temporary in
            // A claim waits for the lock, and the return of an email doesn't.
            try await temporary.other.execute(
                """
                CREATE FUNCTION wait_for_lock() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$
                """
            )
            try await temporary.other.execute(
                """
                CREATE TRIGGER wait_for_lock BEFORE UPDATE ON mail_intent FOR EACH ROW
                WHEN (NEW.state = 'taken') EXECUTE FUNCTION wait_for_lock()
                """
            )
            let queue = PostgresMailIntentQueue(temporary.database)
            let intents = try (0..<3).map { number in
                MailIntent(
                    subject: .passwordReset(try EmailAddress("ana\(number)@example.com")),
                    language: .english,
                    createdAt: .after(0),
                    origin: AuditOrigin(client: "10.0.\(number).0/24", requestID: nil)
                )
            }
            for intent in intents { try await queue.enqueue(intent) }
            #expect(try await queue.claim(limit: 1, at: .after(1), leaseEnd: .after(100)) == [intents[0]])
            let claim = try await temporary.other.transaction { transaction in
                try await transaction.execute("SELECT pg_advisory_xact_lock(1)", [])
                let claim = Task { try await queue.claim(limit: 1, at: .after(1), leaseEnd: .after(100)) }
                try await waitForLock(temporary, "array_position")
                try await queue.release(intents[0], leaseEnd: .after(100), at: .after(1))
                return claim
            }
            #expect(try await claim.value == [intents[1]])
            #expect(try await queue.claim(limit: 1, at: .after(1), leaseEnd: .after(100)) == [intents[0]])
        }
    }

    /// Waits until a statement waits for a lock.
    private func waitForLock(_ temporary: TemporaryDatabase, _ text: String) async throws {
        try await waitUntil("a statement waits: \(text)") {
            let waiting = try await temporary.other.execute(
                """
                SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            )
            return try waiting.rows.contains { try ($0.value(0) as String).contains(text) }
        }
    }
}
