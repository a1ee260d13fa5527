import AccountContract
import AccountKit
import ErrorContract
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct PageLanguageTests {
    @Test("Every page is in each language, declares it, and is small", arguments: Language.supported)
    func pages(language: Language) async throws {
        try await withServer {
            $0.appScheme = "crowns"
        } _: { server in
            try await server.register("ana@example.com")
            let token = try await server.resetLink(for: "ana@example.com").token.rawValue
            let get = { (path: String) in
                try await RawHTTP.send("GET", path, to: server.url, headers: ["Accept-Language: \(language)-XX, en;q=0.1"])
            }
            let post = { (path: String, fields: String) in
                let headers = ["Content-Type: application/x-www-form-urlencoded", "Accept-Language: \(language)"]
                return try await RawHTTP.send("POST", path, to: server.url, headers: headers, body: Array(fields.utf8))
            }
            let passwords = "token=\(token)&new_password=short&confirm_password=short"
            let responses = [
                (try await get("/reset-password?token=\(token)"), ContractText.resetTitle),
                (try await get("/reset-password"), ContractText.sendLink),
                (try await get("/reset-password?token=dead"), ContractText.linkExpired),
                (try await get("/reset-password?token="), ContractText.linkInvalid),
                (try await get("/reset-password/not-me"), ContractText.linkInvalid),
                (try await post("/reset-password", passwords), ContractText.passwordTooShort(minimum: 8)),
                (try await post("/reset-password/request", "email=nope"), ContractText.emailMalformed),
                (try await post("/reset-password/request", "email=bea%40example.com"), ContractText.resetRequested),
            ]
            for (response, text) in responses {
                #expect(response["Content-Language"] == language.rawValue)
                #expect(response.text.contains(text.text(in: language)), "\(text.text(in: .english))")
                #expect(response.body.count < 30_000)
                #expect(!response.text.contains("{") || !response.text.contains(/\{(?:name|app|count|wait)\}/))
            }
        }
    }

    @Test("In Hebrew a page is right-to-left, with name, app and address isolated")
    func rightToLeft() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let token = try await server.resetLink(for: "ana@example.com").token.rawValue
            let headers = ["Accept-Language: iw"]
            let page = try await RawHTTP.send("GET", "/reset-password?token=\(token)", to: server.url, headers: headers).text
            #expect(page.contains("<html lang=\"he\" dir=\"rtl\">"))
            #expect(page.contains("<p>שלום <span dir=\"ltr\">Ana</span>, נא להזין סיסמה חדשה</p>"))
            #expect(page.contains("<p class=\"app\"><bdi>Crowns</bdi></p>"))
            #expect(page.matches(of: /type="password" dir="auto"/).count == 2)
            #expect(!page.unicodeScalars.contains { $0.properties.generalCategory == .format })
            let request = try await RawHTTP.send("GET", "/reset-password", to: server.url, headers: headers).text
            #expect(request.contains("type=\"email\" dir=\"ltr\""))
        }
    }

    @Test("Isolates a right-to-left name in any other page")
    func hebrewName() async throws {
        try await withServer { server in
            try await server.register("dana@example.com", name: "דנה")
            let token = try await server.resetLink(for: "dana@example.com").token.rawValue
            let page = try await RawHTTP.send("GET", "/reset-password?token=\(token)", to: server.url).text
            #expect(page.contains("<p>Hello <span dir=\"rtl\">דנה</span>, enter your new password</p>"))
        }
    }

    @Test("The style sheet uses logical directions, so that a page can be mirrored")
    func logicalProperties() async throws {
        try await withServer { server in
            let page = try await RawHTTP.send("GET", "/reset-password", to: server.url).text
            let css = try #require(page.firstMatch(of: /<style[^>]*>([^<]*)<\/style>/)).1
            #expect(css.matches(of: /\b(?:left|right)\b/).isEmpty)
            // Four values with different left and right ones.
            let sides = css.matches(of: /(?:margin|padding|inset):([^;}\s]+) ([^;}\s]+) ([^;}\s]+) ([^;}\s]+)/)
            #expect(sides.allSatisfy { $0.2 == $0.4 })
        }
    }

    @Test("A server's default language can be any with texts", arguments: Language.supported)
    func defaultLanguage(language: Language) async throws {
        try await withServer {
            $0.defaultLanguage = language
        } _: { server in
            let response = try await server.post("/api/auth/login", "{}", headers: ["Accept-Language: xx"])
            #expect(response["Content-Language"] == language.rawValue)
            #expect(response.text.contains(ErrorCatalogue.standard[.validationMissingField]?.message.text(in: language) ?? "?"))
        }
    }
}
