import Configuration
import Foundation
import PostgresDriver
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Compares `docs/operations/settings.md` and `holdfast serve --help` with the settings that the server reads.
@Suite struct SettingsPageTests {
    /// A row of the page's tables.
    private struct Row {
        let name: String
        let values: String
    }

    /// The settings that the server refuses, so that they aren't documented.
    private static let unsupported: Set<String> = ["ADMIN_TOKEN", "REGISTRATION_REVEALS_ACCOUNTS"]

    /// The rows of the page, without the two rows for all limits.
    private static func rows() throws -> [Row] {
        let page = try String(contentsOf: Repository.root.appending(path: "docs/operations/settings.md"), encoding: .utf8)
        return page.split(separator: "\n").filter { $0.hasPrefix("| `") && !$0.hasPrefix("| `LIMIT_…") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "") }
            return Row(name: cells[0], values: cells[1])
        }
    }

    /// The settings that the server reads, without those of single limits.
    private static func names() -> Set<String> {
        AccountServerConfiguration.settingNames().subtracting(unsupported)
            .filter { !$0.hasPrefix("LIMIT_") || $0 == LimitSettings.memorySetting }
    }

    @Test("The page lists every setting that the server reads, once")
    func page() throws {
        let rows = try Self.rows()
        #expect(Set(rows.map(\.name)) == Self.names())
        #expect(Set(rows.map(\.name)).count == rows.count)
    }

    @Test("The page lists the values that the server accepts")
    func values() throws {
        let rows = try Self.rows()
        let listing = /must be (?:a )?((?:one of|whole number|number of hours|true or) .*) \(is “\?”\)/
        var checked = 0
        for problem in try Self.problems(of: rows.map(\.name)) {
            // The page describes the values of all other settings in words.
            guard let match = problem.text.wholeMatch(of: listing) else { continue }
            // The messages have 24.0 hours, and the page has 24.
            let values = String(match.1).replacing(/\.0$/, with: "")
            #expect(rows.first { $0.name == problem.setting }?.values == values, "\(problem.setting)")
            checked += 1
        }
        #expect(checked >= 30)
    }

    /// Returns the problems of settings that all have the same invalid value.
    private static func problems(of names: [String]) throws -> [ConfigurationProblem] {
        var configuration = AccountServerConfiguration(dataFolder: URL(fileURLWithPath: "/nonexistent"))
        let environment = Dictionary(names.map { ($0, "?") }) { first, _ in first }
        do {
            try configuration.read(ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment)))
            return []
        } catch {
            return try #require(error as? InvalidConfiguration).problems
        }
    }

    @Test("The page about PgBouncer has the timeouts that the server sets without PgBouncer")
    func poolerTimeouts() throws {
        var configuration = AccountServerConfiguration(dataFolder: URL(fileURLWithPath: "/nonexistent"))
        let environment = [
            "ENVIRONMENT": "development", "DATABASE_URL": "postgres://holdfast@127.0.0.1/holdfast",
            "HOLDFAST_SECRET": String(repeating: "s", count: 32),
        ]
        try configuration.read(ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment)))
        guard case .postgres(let settings) = configuration.database else {
            Issue.record("no PostgreSQL")
            return
        }
        let page = try String(contentsOf: Repository.root.appending(path: "docs/operations/scaling.md"), encoding: .utf8)
        let role = page.matches(of: /ALTER ROLE holdfast SET (\w+) = '(\d+)s';/).map { "\($0.1) \($0.2)" }
        let timeouts = [
            ("statement_timeout", settings.statementTimeout),
            ("idle_in_transaction_session_timeout", settings.idleInTransactionTimeout), ("lock_timeout", settings.lockTimeout),
        ]
        #expect(role == timeouts.map { "\($0.0) \($0.1.components.seconds)" })
        // PgBouncer ends the wait for a connection before the server stops waiting for the response.
        let wait = try #require(page.firstMatch(of: /query_wait_timeout = (\d+)/).flatMap { Int($0.1) })
        #expect(Duration.seconds(wait) < settings.queryTimeout)
    }

    @Test("The help of serve lists every setting")
    func help() async throws {
        try await withFolder { folder in
            let help = try await Binary.run(["serve", "--help"], in: folder).output
            for name in Self.names() { #expect(help.contains(name), "\(name)") }
        }
    }
}
