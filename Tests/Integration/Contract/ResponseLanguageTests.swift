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

    @Test(
        "A response is in the user's best language and declares it",
        arguments: [
            ("pt-BR", Language.portuguese), ("iw", .hebrew), ("he-IL,he;q=0.9,en-US;q=0.8", .hebrew),
            ("de-AT;q=0.5, fr", .french),
            ("de-AT, fr;q=0.5", .german), ("es-419", .spanish), ("it, ja;q=0.5", .english), ("en-GB, de;q=0.9", .english),
        ]
    )
    func negotiation(header: String, language: Language) async throws {
        try await withServer { server in
            let headers = ["Accept-Language: \(header)"]
            let good = try await server.post("/api/request-password-reset", #"{"email":"a@example.com"}"#, headers: headers)
            #expect(good.status == 200)
            #expect(good["Content-Language"] == language.rawValue)
            #expect(try good.json()["message"]?.stringValue?.hasPrefix(Self.requested[language] ?? "?") == true)
            let bad = try await server.post("/api/request-password-reset", #"{"email":"a"}"#, headers: headers)
            #expect(bad.status == 400)
            #expect(bad["Content-Language"] == language.rawValue)
            let text = ErrorCatalogue.standard[.validationInvalidEmail]?.message.text(in: language) ?? "?"
            #expect(bad.text.contains(text))
            let page = try await RawHTTP.send("GET", "/reset-password", to: server.url, headers: headers)
            #expect(page["Content-Language"] == language.rawValue)
            #expect(page.text.contains("<html lang=\"\(language)\""))
        }
    }
}
