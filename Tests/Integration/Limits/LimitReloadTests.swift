import Foundation
import Testing

@Suite struct LimitReloadTests {
    @Test("SIGHUP applies limits of .env without a new burst, and ignores invalid settings")
    func hangUp() async throws {
        try await withFolder { folder in
            try limit("2/900", in: folder)
            try await Binary.serve(in: folder, endingWith: SIGTERM) { url, process in
                for expected in [401, 401, 429] { #expect(try await signIn(url) == expected) }

                try limit("5/900", in: folder)
                kill(process.processIdentifier, SIGHUP)
                try await eventually { try await signIn(url) == 401 }
                for expected in [401, 401, 429] { #expect(try await signIn(url) == expected) }

                try limit("five", in: folder)
                kill(process.processIdentifier, SIGHUP)
                #expect(try await signIn(url) == 429)

                try limit("off", in: folder)
                kill(process.processIdentifier, SIGHUP)
                try await eventually { try await signIn(url) == 401 }
            }
        }
    }

    private func limit(_ text: String, in folder: URL) throws {
        try Data("LIMIT_LOGIN_ACCOUNT=\(text)\n".utf8).write(to: folder.appending(path: ".env"), options: .atomic)
    }

    private func signIn(_ url: URL) async throws -> Int {
        let body = Array(#"{"email":"ana@example.com","password":"wrong password"}"#.utf8)
        let headers = ["Content-Type: application/json"]
        return try await RawHTTP.send("POST", "/api/auth/login", to: url, headers: headers, body: body).status
    }
}
