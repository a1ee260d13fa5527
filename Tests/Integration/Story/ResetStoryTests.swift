import AccountContract
import AccountCore
import AccountKit
import Email
import ErrorContract
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ResetStoryTests {
    @Test("The demo's story succeeds over a real socket")
    func storySucceeds() async throws {
        try await withServer { server in
            _ = try await DemoStory(url: server.url, printer: DemoPrinter(isColored: false), delay: 5).run()
        }
    }

    @Test("The demo's story fails if the server does not enforce its limit")
    func storyFailsWithoutLimit() async throws {
        await #expect(throws: DemoStory.Unexpected.self) {
            try await withServer {
                $0.resetEmailLimit = nil
            } _: { server in
                try await DemoStory(url: server.url, printer: DemoPrinter(isColored: false)).run()
            }
        }
    }

    @Test("A reset email goes to the stored address in the language of the request", arguments: Language.supported)
    func mailLanguage(language: Language) async throws {
        try await withServer { server in
            try await server.register("Ana@Example.com")
            _ = try await server.client(language).requestPasswordReset(email: try EmailAddress("ANA@example.COM"))
            let mail = try #require(try await server.mails(atLeast: 1).first)
            #expect(mail.recipient == "Ana@example.com")
            let subjects: [Language: String] = [
                .english: "Reset your password", .spanish: "Restablecer tu contraseña", .hebrew: "איפוס הסיסמה שלך",
                .portuguese: "Redefinir sua senha", .french: "Réinitialiser votre mot de passe",
                .german: "Dein Passwort zurücksetzen",
            ]
            #expect(mail.subject == "\(try #require(subjects[language])) - Crowns")
        }
    }

    @Test("The confirmation of a reset is in the account's language", arguments: Language.supported)
    func accountLanguage(language: Language) async throws {
        try await withServer { server in
            let body =
                #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana","locale":"\#(language)-XX"}"#
            #expect(try await server.post("/api/auth/register", body).status == 201)
            let link = try await server.resetLink(for: "ana@example.com", language: .english)
            _ = try await server.client(.english).confirmReset(link, newPassword: try Password("another good password"))
            // The emails of the verification, the reset and the confirmation.
            let mail = try #require(try await server.mails(atLeast: 3).first)
            #expect(mail.html.contains("<html lang=\"\(language)\""))
        }
    }

    @Test("A confirmed reset sends a confirmation and invalidates the other links")
    func confirmationAndSiblings() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let first = try await server.resetLink(for: "ana@example.com")
            let second = try await server.resetLink(for: "ana@example.com")
            let client = server.client(.spanish)
            #expect(try await client.validateReset(first).valid)
            let text = try await client.confirmReset(second, newPassword: try Password("another good password"))
            #expect(text == "Contraseña actualizada exitosamente")
            await #expect { try await client.validateReset(first) } throws: { error in
                (error as? APIError)?.code == .authResetTokenInvalid && (error as? APIError)?.status == 400
            }
            let mails = try await server.mails(atLeast: 3)
            #expect(mails.first?.subject == "Password updated - Crowns")
        }
    }

    @Test("Only the newest links stay valid", arguments: [1, 2])
    func liveLinks(limit: Int) async throws {
        try await withServer {
            $0.recoveryRules = .init(liveLinks: limit)
            $0.resetEmailLimit = nil
        } _: { server in
            try await server.register("ana@example.com")
            var links: [ResetLink] = []
            for _ in 0..<4 { links.append(try await server.resetLink(for: "ana@example.com")) }
            // Older links become invalid after the newer email is sent.
            try await eventually { try await server.server.accounts.stores.intents.count() == 0 }
            var live = 0
            for link in links where (try? await server.client().validateReset(link)) != nil { live += 1 }
            #expect(live == limit)
            let newest = try #require(links.last)
            #expect(try await server.client().validateReset(newest).valid)
        }
    }

    @Test("A token is valid with its own address or without one, but not with another")
    func linkAddress() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let link = try await server.resetLink(for: "ana@example.com")
            let client = server.client()
            #expect(try await client.validateReset(ResetLink(token: link.token, email: nil)).firstName == "Ana")
            await #expect(throws: APIError.self) {
                try await client.validateReset(ResetLink(token: link.token, email: try EmailAddress("eve@example.com")))
            }
        }
    }

    @Test("Links use the configured address and style, never the Host header")
    func linkBase() async throws {
        try await withServer {
            $0.resetBaseURL = URL(string: "https://accounts.example.com/app")
            $0.resetLinkStyle = .fragment
        } _: { server in
            try await server.register("ana@example.com")
            let lines = [
                "Host: evil.example", "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example",
                "X-Original-Host: evil.example", "Origin: https://evil.example", "Referer: https://evil.example/",
            ]
            var head = ["POST /api/request-password-reset/ HTTP/1.1", "Connection: close", "Content-Type: application/json"]
            let body = #"{"email":"ana@example.com"}"#
            head += lines + ["Content-Length: \(body.utf8.count)", "", body]
            let response = try await RawHTTP.exchange(Array(head.joined(separator: "\r\n").utf8), with: server.url)
            #expect(response.status == 200)
            let mail = try #require(try await server.mails(atLeast: 1).first)
            #expect(mail.link?.absoluteString.hasPrefix("https://accounts.example.com/app/reset-password#token=") == true)
            #expect(!mail.html.contains("evil.example"))
            #expect(!mail.text.contains("evil.example"))
        }
    }
}
