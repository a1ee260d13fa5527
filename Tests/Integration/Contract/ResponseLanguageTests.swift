import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ResponseLanguageTests {
    private static let requested: [Language: String] = [
        .english: "If an account exists for this email", .spanish: "Si existe una cuenta con este correo",
        .hebrew: "אם קיים חשבון עם כתובת האימייל הזו", .portuguese: "Se existir uma conta com este e-mail",
        .french: "Si un compte existe pour cette adresse e-mail", .german: "Wenn es zu dieser E-Mail-Adresse ein Konto gibt",
    ]

    private static let chosen: [(header: String, language: Language)] = [
        ("pt-BR", .portuguese), ("iw", .hebrew), ("he-IL,he;q=0.9,en-US;q=0.8", .hebrew), ("de-AT;q=0.5, fr", .french),
        ("de-AT, fr;q=0.5", .german), ("es-419", .spanish), ("it, ja;q=0.5", .english), ("en-GB, de;q=0.9", .english),
    ]

    @Test("A response is in the user's best language and declares it")
    func negotiation() async throws {
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            for (header, language) in Self.chosen { try await expect(language, for: header, server) }
        }
    }

    private func expect(_ language: Language, for header: String, _ server: TestServer) async throws {
        let place: Comment = "\(header)"
        let headers = ["Accept-Language: \(header)"]
        let good = try await server.post("/api/request-password-reset", #"{"email":"a@example.com"}"#, headers: headers)
        #expect(good.status == 200, place)
        #expect(good["Content-Language"] == language.rawValue, place)
        #expect(try good.json()["message"]?.stringValue?.hasPrefix(Self.requested[language] ?? "?") == true, place)
        let bad = try await server.post("/api/request-password-reset", #"{"email":"a"}"#, headers: headers)
        #expect(bad.status == 400, place)
        #expect(bad["Content-Language"] == language.rawValue, place)
        let text = ErrorCatalogue.standard[.validationInvalidEmail]?.message.text(in: language) ?? "?"
        #expect(bad.text.contains(text), place)
        let page = try await RawHTTP.send("GET", "/reset-password", to: server.url, headers: headers)
        #expect(page["Content-Language"] == language.rawValue, place)
        #expect(page.text.contains("<html lang=\"\(language)\""), place)
    }
}
