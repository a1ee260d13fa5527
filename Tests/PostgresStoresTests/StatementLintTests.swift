import Foundation
import TestSupport
import Testing

@testable import PostgresStores

/// The rules by which the same statements run on PostgreSQL, CockroachDB, YugabyteDB and Citus.
@Suite struct StatementLintTests {
    @Test("Every statement and every table follows the rules of distribution")
    func statements() throws {
        let statements = try Self.statements()
        #expect(statements.count > 80)
        for statement in statements { #expect(try StatementLint.problems(of: statement) == [], "\(statement)") }
    }

    @Test(
        "Detects a planted violation",
        arguments: [
            "CREATE TABLE event (id bigserial PRIMARY KEY)", "CREATE TABLE event (id bigint GENERATED ALWAYS AS IDENTITY)",
            "SELECT nextval('event_id')", "SELECT pg_advisory_lock(1)", "LISTEN changes", "NOTIFY changes", "LOCK TABLE account",
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET statement_timeout = 1",
            "CREATE TEMP TABLE t (id uuid PRIMARY KEY)",
            "CREATE TRIGGER t AFTER INSERT ON account EXECUTE FUNCTION f()", "SELECT ctid FROM account",
            "SELECT xmin FROM account",
            "SELECT * FROM account", "DELETE FROM account", "UPDATE account SET epoch = 1",
            "INSERT INTO account (id) VALUES ($1)",
            "CREATE TABLE event (number bigint PRIMARY KEY)", "CREATE TABLE event (id uuid)",
            "CREATE TABLE event (id uuid PRIMARY KEY, account_id uuid REFERENCES account (id) DEFERRABLE)",
        ]
    )
    func planted(_ statement: String) throws {
        #expect(try !StatementLint.problems(of: statement).isEmpty)
    }

    /// Returns the literals of the modules that are statements.
    private static func statements() throws -> [String] {
        let files = Repository.files("swift", under: ["Sources/Server/PostgresStores", "Sources/Server/StoreMigration"])
            // Contains statements of SQLite.
            .filter { $0.lastPathComponent != "CopySource.swift" }
        let literals = try files.flatMap { file in
            let text = try String(contentsOf: file, encoding: .utf8)
            return text.matches(of: /"""\n((?:.|\n)*?)"""|"((?:[^"\\\n]|\\.)*)"/).map { String($0.1 ?? $0.2 ?? "") }
        }
        return literals.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            .filter {
                $0.wholeMatch(of: /(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|ALTER|DROP|SET|LOCK|LISTEN) .*/) != nil
            }
    }
}

enum StatementLint {
    /// Constructs that a statement must not contain, by reason.
    private static let forbidden = [
        (#"\b(big|small)?serial\b|\bidentity\b|\bnextval\b"#, "a sequence"),
        (#"\bpg_advisory"#, "an advisory lock"),
        (#"\b(listen|notify)\b"#, "a notification"),
        (#"\block table\b"#, "a lock of a table"),
        (#"\bserializable\b|^set transaction"#, "an isolation level"),
        (#"^set (?!local )"#, "a setting of the session"),
        (#"\btemp(orary)?\b"#, "a temporary table"),
        (#"\btrigger\b"#, "a trigger"),
        (#"\bdeferrable\b"#, "a deferred check"),
        (#"\b(ctid|xmin|xmax)\b"#, "a column of the system"),
        (#"select \*"#, "all columns"),
    ]

    /// Tables of one row per name or part.
    private static let named = [
        "schema_lock", "schema_step", "shared_value", "idempotency_total", "idempotency_client", "idempotency_usage",
        "idempotency_pool", "signing_key",
    ]

    static func problems(of statement: String) throws -> [String] {
        var problems = try forbidden.filter { try Regex($0.0).ignoresCase().firstMatch(in: statement) != nil }.map(\.1)
        if statement.hasPrefix("UPDATE") || statement.hasPrefix("DELETE"), !statement.contains(" WHERE ") {
            problems.append("changes without a key")
        }
        if statement.contains("INSERT INTO"), !statement.contains("ON CONFLICT") {
            problems.append("an INSERT that can't be repeated")
        }
        if statement.hasPrefix("CREATE TABLE") { problems += Self.problems(ofTable: statement) }
        return problems
    }

    /// Returns the problems of a table, which must be keyed by random ids or digests.
    private static func problems(ofTable statement: String) -> [String] {
        guard let name = statement.firstMatch(of: /CREATE TABLE (?:IF NOT EXISTS )?([a-z_]+)/)?.1 else { return ["no name"] }
        if named.contains(String(name)) { return [] }
        let own = statement.firstMatch(of: /([a-z_]+) (?:uuid|bytea) PRIMARY KEY/) != nil
        let composed = statement.firstMatch(of: /PRIMARY KEY \(([a-z_]+)/).map { key in
            statement.contains("\(key.1) uuid") || statement.contains("\(key.1) bytea")
        }
        return own || composed == true ? [] : ["a table that is not keyed by a random id or a digest"]
    }
}
