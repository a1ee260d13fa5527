import ErrorContract
import Foundation
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct TerminalAppTests {
    @Test("The terminal app walks through the account screens against a server", .serialized, arguments: Language.supported)
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

    @Test(
        "The terminal app stores notes that are written offline, and sends them in order",
        .serialized,
        arguments: Language.supported
    )
    func offlineScript(language: Language) async throws {
        try await withNotes { url in
            try await withFolder { folder in
                let arguments = ["--script-offline", "--language", language.rawValue, "--url", url.absoluteString]
                let run = try await Binary.run(arguments, of: "holdfast-terminal-app", in: folder)
                #expect(run.status == 0, "\(run.output)\n\(run.errors)")
                #expect(run.output.contains("1  Milk · ") && run.output.contains("3  Salt · "))
            }
        }
    }

    @Test("A note that is written offline survives the end of the app")
    func pendingNotes() async throws {
        try await withFolder { folder in
            let arguments = ["--airplane", "--url", "http://127.0.0.1:9", "--data", folder.appending(path: "data").path]
            func run(_ keys: String...) async throws -> ProcessResult {
                try await Binary.run(
                    arguments,
                    of: "holdfast-terminal-app",
                    input: keys.joined(separator: "\n") + "\n",
                    in: folder
                )
            }
            // A note needs an account; without one the app asks for a sign-in and stores nothing.
            let refused = try await run("4", "Milk", "", "6", "", "q")
            #expect(refused.status == 0 && !refused.output.contains("… Milk"), "\(refused.output)\n\(refused.errors)")
            try Data(#"{"accessToken":"t","userID":"u1"}"#.utf8).write(to: folder.appending(path: "data/session.json"))
            let stored = try await run("4", "Milk", "q")
            #expect(stored.status == 0 && stored.output.contains("… Milk"), "\(stored.output)\n\(stored.errors)")
            let shown = try await run("6", "", "q")
            #expect(shown.status == 0 && shown.output.contains("  1  Milk · "), "\(shown.output)\n\(shown.errors)")
        }
    }
}
