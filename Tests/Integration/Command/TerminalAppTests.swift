import ErrorContract
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct TerminalAppTests {
    @Test("The terminal app walks through the account screens against a server", arguments: Language.supported)
    func script(language: Language) async throws {
        try await withServer { server in
            try await withFolder { folder in
                let arguments = ["--script", "--language", language.rawValue, "--url", server.url.absoluteString]
                let run = try await Binary.run(arguments, of: "holdfast-terminal-app", in: folder)
                #expect(run.status == 0, "\(run.output)\n\(run.errors)")
                #expect(run.output.contains(ContractText.resetSucceeded.text(in: language)))
            }
        }
    }

    @Test("Refuses a language without texts, and lists the available ones")
    func unknownLanguage() async throws {
        try await withFolder { folder in
            let run = try await Binary.run(["--language", "xx"], of: "holdfast-terminal-app", in: folder)
            #expect(run.status == 64)
            #expect(run.errors.contains("en, es, he, pt, fr, de"))
        }
    }

    @Test("Without a server the terminal app reports it and fails")
    func noServer() async throws {
        try await withFolder { folder in
            let run = try await Binary.run(["--script", "--url", "http://127.0.0.1:9"], of: "holdfast-terminal-app", in: folder)
            #expect(run.status == 1)
            #expect((run.output + run.errors).contains("Check your internet connection"))
        }
    }
}
