import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastURLSession
import ResilientHTTP
import Testing

@testable import holdfast

@Suite struct ReadmeTests {
    @Test("The README's walk with curl gives the statuses that it promises")
    func walk() async throws {
        let block = try Document("README.md").block(after: "<!-- walk:", language: "sh")
        let promised = block.matches(of: /# → (\d{3})/).map { String($0.1) }
        #expect(promised.count >= 10)
        try await withServer {
            $0.limits = LimitSettings()
        } _: { server in
            let script =
                "set -euo pipefail\n" + block.replacing("http://127.0.0.1:8080\n", with: server.url.absoluteString + "\n")
            let (status, output, errors) = try await bash(script)
            #expect(status == 0, "\(errors)")
            let given = output.split(separator: "\n").filter { $0.wholeMatch(of: /\d{3}/) != nil }.map(String.init)
            #expect(given == promised, "\(output)")
            #expect(output.contains("intenta de nuevo en 1 hora."))
        }
    }

    @Test("The README's Swift example is the one that stands here, and does what it says")
    func example() async throws {
        let written = try Document("README.md").block(after: "<!-- example:", language: "swift")
        #expect(try Document.lines(of: written) == Document.compiled("example"))
        try await withServer { server in
            #expect(try await Self.greet(server.url) == "Error: Correo o contraseña incorrectos")
            _ = try await server.client().register(
                email: try EmailAddress("ana@example.com"),
                password: try Password("wrong password"),
                firstName: try FirstName("Ana")
            )
            #expect(try await Self.greet(server.url) == "Hola Ana")
        }
    }

    private static func greet(_ url: URL) async throws -> String {
        // example
        let api = APIClient(baseURL: url, transport: .urlSession(), language: .spanish)
        let accounts = AccountClient(api: api)
        do {
            let user = try await accounts.signIn(email: EmailAddress("ana@example.com"), password: Password("wrong password"))
            return "Hola \(user.firstName)"
        } catch let error as APIError {
            let shown = error.presentation(in: .spanish, now: Date())
            return "\(shown.title): \(shown.message)"
        }
        // example
    }
}
