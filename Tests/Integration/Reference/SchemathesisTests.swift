import AccountContract
import AccountCore
import ErrorContract
import Foundation
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Schemathesis reads the document, sends valid and invalid requests, and checks that the responses are as
/// described. `HOLDFAST_ROUNDS` sets the number of requests for each operation.
@Suite(.serialized) struct SchemathesisTests {
    private static let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) }

    @Test("Every response matches the document, and no request that violates it is accepted")
    func everyOperation() async throws {
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            try await examine(server, ["--max-examples", "\(Self.rounds ?? 6)", "--seed", "1"])
        }
    }

    @Test("The same is true for the other error forms, with limits enforced", arguments: ErrorForm.allCases.dropFirst())
    func forms(form: ErrorForm) async throws {
        try await withServer {
            $0.errorForm = form
        } _: { server in
            try await examine(server, shortly + ["--seed", "2"])
            let refused = try await server.post("/api/request-password-reset/", #"{"email":"ana@example.com"}"#)
            #expect(refused.status == 429, "the limit was never reached")
        }
    }

    @Test("The same is true for clients that accept problem details")
    func problems() async throws {
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            try await examine(server, shortly + ["--seed", "3", "--header", "Accept: application/problem+json"])
        }
    }

    private var shortly: [String] { ["--phases", "examples,fuzzing", "--max-examples", "\(Self.rounds ?? 2)"] }

    /// Runs all checks against a server. Findings are printed with a call of curl that reproduces them.
    private func examine(_ server: TestServer, _ arguments: [String]) async throws {
        try await server.register("ana@example.com")
        _ = try await server.server.accounts.registration.add(
            email: try EmailAddress("caller@example.com"),
            password: try Password("a password of no example"),
            firstName: try FirstName("Cai"),
            language: .english
        )
        let settings = APITools.root.appending(path: "Tests/Integration/Reference/Schemathesis")
        try await withFolder { folder in
            let run = try await APITools.run(
                "schemathesis",
                ["--config-file", settings.appending(path: "schemathesis.toml").path, "run"]
                    + [server.url.absoluteString + "/openapi.json", "--no-color", "--generation-database", "none"] + arguments,
                environment: ["PYTHONPATH": settings.path],
                in: folder
            )
            #expect(run.status == 0, "\(run.output)\(run.errors)")
            #expect(run.output.contains("No issues found"), "\(run.output)")
        }
    }
}
