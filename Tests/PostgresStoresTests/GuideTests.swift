import AccountContract
import AccountCore
import Crypto
import DataServerTesting
import Foundation
import Logging
import PostgresDriver
import PostgresStores
import Testing

extension PostgresSettings {
    /// The guide has the standard timeouts. Here they are long, because a busy machine can pause for longer.
    fileprivate init(url: String) throws {
        self = try TemporaryDatabase.settings(url)
    }
}

@Suite(.timeLimit(.minutes(5))) struct GuideTests {
    @Test("Getting started: creates the tables and finds no account")
    func gettingStarted() async throws {
        let url = try await PostgresServer.shared().createDatabase()
        let secret = SymmetricKey(size: .bits256)
        // snippet: start-postgres-stores
        let client = PostgresClient(try PostgresSettings(url: url), logger: Logger(label: "accounts"))
        let database = PostgresDatabase(client)
        try await PostgresSchema.migrate(database)
        let stores = PostgresAccountStores(database, emailKeys: EmailKeys(secret))
        let account = try await stores.accounts.account(email: EmailAddress("ana@example.com"))
        print(account?.firstName.rawValue ?? "There is no such account")
        await client.close()
        // snippet end
        #expect(account == nil)
    }
}
