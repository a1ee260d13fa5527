import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import PostgresDriver
import PostgresStores
import Testing

@Suite(.timeLimit(.minutes(5))) struct PurgeTests {
    @Test("After a purge, no table except the purge list has the address, name or id")
    func rows() async throws {
        try await withDatabase { temporary in
            let stores = temporary.stores
            let account = try await stores.addAccount("kanarienvogel@canary-mail.example")
            let id = account.id
            let session = StoredSession(
                id: .init(rawValue: UUID()),
                accountID: id,
                createdAt: .after(0),
                deviceName: "Gelberkanari"
            )
            _ = try await stores.sessions.open(session, refresh: SecretToken().digest, epoch: 0)
            _ = try await stores.mint(for: account)
            try await stores.accountLockTokens.insert(SecretToken().digest, account: id, expiresAt: .after(600))
            for (purpose, email) in [
                (AccountLink.Purpose.verifyEmail, account.email), (.confirmEmail, try EmailAddress("other@canary-mail.example")),
            ] {
                try await stores.records.insert(
                    StoredLink(
                        digest: SecretToken().digest,
                        purpose: purpose,
                        accountID: id,
                        recipient: email,
                        language: .english,
                        createdAt: .after(0),
                        expiresAt: .after(86_400)
                    )
                )
            }
            for subject in [
                MailIntent.Subject.passwordReset(account.email), .passwordChanged(id), .verification(account.email),
                .registration(account.email, try FirstName("Gelberkanari")), .newDevice(id, family: "Mac"),
            ] {
                try await stores.intents.enqueue(MailIntent(subject: subject, language: .english, createdAt: .after(0)))
            }
            let origin = AuditOrigin(client: "198.51.100.0/24", requestID: "id-1")
            try await stores.audit.append([AuditEvent(kind: .signedIn, accountID: id, time: .after(0), origin: origin)])
            _ = try await stores.records.noteDevice(family: "Mac", of: id, at: .after(0), notice: nil)
            #expect(try await tables(with: "kanarienvogel", temporary).count >= 3)

            _ = try await stores.records.purge([id], at: .after(1), unverifiedSince: nil, isForced: true)
            for text in ["kanarienvogel", "canary-mail", "gelberkanari"] {
                #expect(try await tables(with: text, temporary) == [])
            }
            #expect(try await tables(with: id.description, temporary) == ["purged_account"])
        }
    }

    /// Returns the names of the tables that have a row with a text, in any case.
    private func tables(with text: String, _ temporary: TemporaryDatabase) async throws -> [String] {
        try await temporary.database.execute(
            """
            SELECT tablename::text FROM pg_tables
            WHERE schemaname = 'public'
                AND query_to_xml(format('SELECT * FROM %I', tablename), true, false, '')::text ILIKE $1
            ORDER BY tablename LIMIT 100
            """,
            [.text("%\(text)%")]
        ).rows.map { try $0.value(0) }
    }
}
