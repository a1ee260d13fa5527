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
        let block = try block(after: "<!-- walk:", language: "sh")
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
        let written = try block(after: "<!-- example:", language: "swift")
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let compiled = try #require(source.split(separator: "// example\n").dropFirst().first)
        #expect(normalized(written) == normalized(String(compiled)))
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

    /// The first fenced block behind a mark.
    private func block(after mark: String, language: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../..").standardized
        let text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let start = try #require(text.firstRange(of: mark)).upperBound
        let fence = try #require(text[start...].firstRange(of: "```\(language)\n")).upperBound
        let end = try #require(text[fence...].firstRange(of: "```")).lowerBound
        return String(text[fence..<end])
    }

    private func normalized(_ code: String) -> [String] {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private func bash(_ script: String) async throws -> (Int32, String, String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script]
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try await process.start()
        return await withCheckedContinuation { continuation in
            Thread {
                let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                process.waitUntilExit()
                continuation.resume(returning: (process.terminationStatus, text, complaint))
            }.start()
        }
    }
}
