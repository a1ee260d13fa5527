import Foundation
import GRDB
import SQLiteStores
import Testing

@testable import StoreMigration

@Suite struct CompletenessTests {
    /// Tables that are not copied row by row, with the reason.
    private let others = [
        "copied as a whole": ["decoy_span", "mail_retry", "signing_key", "installation"],
        "counted anew": ["idempotency_usage", "idempotency_pool"],
        "left out": ["rate_limit", "rate_limit_process", "steady_time"],
        "of GRDB": ["grdb_migrations"],
    ]

    @Test("Copies or explicitly excludes every table and column of SQLite, and seals copies")
    func everyColumn() async throws {
        try await withInstallation { installation in
            let columns = try await DatabaseQueue(path: installation.file.path).read { database in
                let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
                return try tables.map { ($0, try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info('\($0)')")) }
            }
            let copied = Dictionary(uniqueKeysWithValues: SourceTable.all.map { ($0.name, $0) })
            for (table, columns) in columns where !others.values.joined().contains(table) {
                let source = try #require(copied[table], "\(table)")
                let words = source.selection(where: "true").split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                #expect(Set(columns).subtracting(words.map(String.init)).isSubset(of: ["holder"]), "\(table)")
            }
            #expect(Set(copied.keys).union(["decoy_span", "mail_retry", "signing_key"]) == Set(SQLiteSeal.tables))
        }
    }
}
