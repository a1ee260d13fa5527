import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import InMemoryLogging
import Logging
import Testing

@testable import SQLiteStores

@Suite struct SQLiteMailTests {
    @Test("An added intent survives a crash of the server")
    func durable() async throws {
        try await withStores { stores in
            let intent = MailIntent(
                subject: .passwordReset(try EmailAddress("Ana@example.com")),
                language: Language("es-MX"),
                createdAt: .after(0)
            )
            try await stores.intents.enqueue(intent)
            try stores.database.close()
            let again = try stores.reopened()
            #expect(try await again.intents.claim(limit: 1, at: .after(0), leaseEnd: .after(9)) == [intent])
            try again.database.close()
        }
    }

    @Test("The database has only the token's digest; neither it nor the log has the token")
    func clearToken() async throws {
        try await withStores { stores in
            let logs = InMemoryLogHandler()
            let logger = Logger(label: "test") { _ in
                var handler = logs
                handler.logLevel = .trace
                return handler
            }
            try await stores.addAccount()
            try await stores.intents.enqueue(
                MailIntent(subject: .passwordReset(try EmailAddress("ana@example.com")), language: .english, createdAt: .after(0))
            )
            let delivery = ScriptedDelivery()
            try await stores.worker(delivery: delivery, now: { .after(1) }, logger: logger).processDue()
            let token = try #require(delivery.delivered.first).text
            let bytes = try stores.bytes()
            #expect(bytes.firstRange(of: TokenDigest(of: token).bytes) != nil)
            #expect(bytes.firstRange(of: Data(token.utf8)) == nil)
            let logged = logs.entries.map { "\($0.level) \($0.message) \($0.metadata)" }.joined(separator: "\n")
            #expect(!logged.isEmpty)
            #expect(!logged.contains(token))
            #expect(!logged.lowercased().contains("ana@"))
        }
    }
}
