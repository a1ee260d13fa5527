import DataServerTesting
import Foundation
import StrictJSON
import TestSupport
import Testing

/// The findings about PostgreSQL and Redis, which run for the tests.
@Suite(.timeLimit(.minutes(15))) struct DoctorServersTests {
    private func findings(
        _ variables: [String: String],
        in folder: URL
    ) async throws -> (status: Int32, verdicts: [String: String], text: String) {
        let environment = ["ENVIRONMENT": "development", "HOLDFAST_SECRET": String(repeating: "s", count: 40)]
            .merging(variables) { $1 }
        let run = try await Binary.run(["doctor", "--json"], environment: environment, in: folder)
        let report = try JSONParser().parse(Array(run.output.utf8))
        let pairs = (report.objectValue?["findings"]?.arrayValue ?? []).compactMap { finding -> (String, String)? in
            guard let subject = finding.objectValue?["subject"]?.stringValue,
                let verdict = finding.objectValue?["verdict"]?.stringValue
            else { return nil }
            return (subject, verdict)
        }
        return (run.status, Dictionary(pairs) { first, second in first == "good" ? second : first }, run.output)
    }

    @Test("A database without tables is a notice, and one with tables is fine")
    func postgres() async throws {
        try await withFolder { folder in
            let settings = ["DATABASE_URL": try await PostgresServer.shared().createDatabase(), "RATE_LIMIT_SCOPE": "server"]
            let new = try await findings(settings, in: folder)
            #expect(new.status == 0, "\(new.text)")
            #expect(new.verdicts["tables"] == "advice", "\(new.text)")
            #expect(new.verdicts["limits"] == "advice", "\(new.text)")
            let environment = settings.merging(["HOLDFAST_SECRET": String(repeating: "s", count: 40)]) { $1 }
            let migrated = try await Binary.run(["migrate"], environment: environment, in: folder)
            #expect(migrated.status == 0, "\(migrated.errors)")
            let good = try await findings(settings, in: folder)
            for subject in ["database", "tables", "durability", "connections"] {
                #expect(good.verdicts[subject] == "good", "\(good.text)")
            }
        }
    }

    @Test("Reports a PostgreSQL that loses commits or has too few connections as an error")
    func weakPostgres() async throws {
        let server = try await PostgresServer.start(["synchronous_commit = off", "max_connections = 20"])
        do {
            try await withFolder { folder in
                let report = try await findings(["DATABASE_URL": server.url()], in: folder)
                #expect(report.status == 1)
                #expect(report.verdicts["durability"] == "wrong", "\(report.text)")
                #expect(report.verdicts["connections"] == "wrong", "\(report.text)")
            }
        } catch {
            try await server.stop(SIGKILL)
            throw error
        }
        try await server.stop(SIGKILL)
    }

    @Test("Reports unreachable servers as errors, and prints no password")
    func unreachable() async throws {
        try await withFolder { folder in
            let port = try freePort()
            let settings = [
                "DATABASE_URL": "postgres://app:hunter2@127.0.0.1:\(port)/app",
                "VALKEY_URL": "redis://:hunter2@127.0.0.1:\(port)",
            ]
            let report = try await findings(settings, in: folder)
            #expect(report.status == 1)
            #expect(report.verdicts["database"] == "wrong" && report.verdicts["valkey"] == "wrong", "\(report.text)")
            #expect(!report.text.contains("hunter2"))
        }
    }

    @Test("Accepts Redis with noeviction, and reports a policy that evicts keys")
    func redis() async throws {
        try await withFolder { folder in
            try await ValkeyServer.run(["--maxmemory", "64mb"]) { server in
                let good = try await findings(["VALKEY_URL": server.url], in: folder)
                #expect(good.status == 0, "\(good.text)")
                // On a busy machine, a slow reply of the server is only worth advice.
                #expect(good.verdicts["valkey"] != "wrong", "\(good.text)")
                for subject in ["eviction", "limit memory", "persistence"] {
                    #expect(good.verdicts[subject] == "good", "\(good.text)")
                }
                try await server.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
                try await server.cli("CONFIG", "SET", "maxmemory", "1mb")
                let bad = try await findings(["VALKEY_URL": server.url], in: folder)
                #expect(bad.status == 1)
                #expect(bad.verdicts["eviction"] == "wrong", "\(bad.text)")
                #expect(bad.verdicts["limit memory"] == "advice", "\(bad.text)")
            }
        }
    }
}
