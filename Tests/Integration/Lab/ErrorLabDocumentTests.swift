import AccountKit
import ErrorContract
import ErrorLab
import ErrorLabContract
import Foundation
import HoldfastURLSession
import Hummingbird
import ResilientHTTP
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ErrorLabDocumentTests {
    private let document: Document

    init() throws {
        document = try Document("docs/app/error-lab.md")
    }

    @Test("The curl commands of the lab's page give the documented statuses")
    func curl() async throws {
        let block = try document.block(after: "<!-- curl:", language: "sh")
        let promised = block.matches(of: /# → (\d{3})/).map { String($0.1) }
        #expect(promised.count >= 20)
        try await withServer { server in
            // On a slow machine, a window of a minute would end before the third call.
            let commands = block.replacing("http://127.0.0.1:8080/", with: server.url.absoluteString + "/")
                .replacing("window=60", with: "window=3600")
            let script = "set -euo pipefail\n" + commands
            let run = try await bash(script)
            #expect(run.status == 0, "\(run.errors)")
            let given = run.output.split(separator: "\n").filter { $0.wholeMatch(of: /\d{3}/) != nil }.map(String.init)
            #expect(given == promised, "\(run.output)")
            #expect(run.output.contains("Intenta de nuevo en 30 segundos."))
        }
    }

    @Test("The examples behave as described")
    func run() async throws {
        try await withServer { server in
            let answer = try await Self.answer(server.url)
            #expect(answer == "rateLimited RATE_LIMIT_EXCEEDED Optional(2.0 seconds), then 2")
            let lines = await Self.model(server.url)
            #expect(lines.count == 5)
            #expect(
                lines.contains("token-expired [failed with AUTH_TOKEN_EXPIRED, refreshed the session, succeeded] succeeded []")
            )
            #expect(lines.contains { $0.hasPrefix("session-over") && $0.contains("Por favor, inicia sesión de nuevo.") })
        }
        let routes = try Self.mount().routes.map { "\($0.method) \($0.path)" }
        #expect(routes.contains("GET /dev/lab/answer"))
    }

    @Test("Every parameter has its row")
    func parameters() {
        for parameter in LabParameter.all {
            // Computed outside of the expectation, which would print the whole page.
            let isThere = document.contains("| `\(parameter.name)` |") && document.contains("| \(parameter.summary) |")
            #expect(isThere, "\(parameter.name)")
        }
    }

    private static func answer(_ url: URL) async throws -> String {
        var lines: [String] = []
        func print(_ values: Any...) { lines += values.map { "\($0)" } }
        // snippet: lab-answer
        let api = APIClient(baseURL: url, transport: .urlSession(), middleware: [])
        var answer = LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(2), times: 1, session: "checkout-test")
        answer.form = .success
        do {
            let _: LabSuccess = try await api.get(answer.path())
        } catch {
            print(error.kind, error.code, error.retryAfter as Any)  // rateLimited RATE_LIMIT_EXCEEDED Optional(2.0 seconds)
        }
        let reply: LabSuccess = try await api.get(answer.path())
        print(reply.attempt)  // 2
        // snippet end
        return lines.dropLast().joined(separator: " ") + ", then " + (lines.last ?? "")
    }

    @MainActor private static func model(_ url: URL) async -> [String] {
        var lines: [String] = []
        func print(_ values: Any...) { lines.append(values.map { "\($0)" }.joined(separator: " ")) }
        // snippet: lab-model
        let model = ErrorLabModel(baseURL: url, transport: .urlSession(), language: .spanish)
        await model.load()
        for scenario in model.scenarios where scenario.group == .sessions {
            await model.run(scenario)
            guard let run = model.lastRun else { continue }
            print(scenario.name, run.steps, run.presentation?.message ?? "succeeded", run.differences)
        }
        // snippet end
        return lines
    }

    private static func mount() throws -> Router<ErrorLabContext> {
        // snippet: lab-mount
        let router = Router(context: ErrorLabContext.self)
        try ErrorLabRoutes<ErrorLabContext>().add(to: router)
        // snippet end
        return router
    }
}
