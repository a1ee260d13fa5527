import AccountContract
import AccountCore
import AccountKit
import Email
import ErrorContract
import Foundation
import Pages
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct AccessibilityTests {
    @Test("Every page has a language, a title, one main heading and a label for each field", arguments: Language.supported)
    func structure(language: Language) async throws {
        try await withServer {
            $0.accountRules.registration = .blind
        } _: { server in
            try await server.register("ana@example.com")
            let token = try await server.resetLink(for: "ana@example.com").token.rawValue
            var paths = [
                "/reset-password?token=\(token)", "/reset-password", "/reset-password?token=dead", "/reset-password?token=",
                "/reset-password/not-me",
            ]
            for change in AccountPage.Change.allCases {
                let page = "/\(change.purpose.page)"
                let link = try await server.mailedLink(for: change, email: "\(change)@example.com".lowercased())
                paths += [link.path, page, page + "?token=dead", page + "?token="]
            }
            for path in paths {
                let page = try await RawHTTP.send("GET", path, to: server.url, headers: ["Accept-Language: \(language)"]).text
                let place: Comment = "\(path)"
                let direction = language.isRightToLeft ? " dir=\"rtl\"" : ""
                #expect(page.contains("<html lang=\"\(language)\"\(direction)>"), place)
                #expect(page.contains("name=\"viewport\" content=\"width=device-width, initial-scale=1\""), place)
                #expect(page.firstMatch(of: /<title>[^<]+ - Crowns<\/title>/) != nil, place)
                #expect(page.matches(of: /<main>/).count == 1, place)
                try expectLabels(page, place)
                try expectReferences(page, place)
                #expect(page.matches(of: /tabindex="[1-9]/).isEmpty, place)
                #expect(page.matches(of: /<button(?![^>]*type=)/).isEmpty, place)
                let shown = page.replacing(/<section[^>]* hidden>.*?<\/section>/.dotMatchesNewlines(), with: "")
                #expect(shown.matches(of: /<h1>/).count == 1, place)
                #expect(try #require(shown.firstMatch(of: /<h[12]>/), place).0 == "<h1>", place)
            }
        }
    }

    @Test("Announces an error to screen readers and links it to its field")
    func errorAssociation() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let token = try await server.resetLink(for: "ana@example.com").token.rawValue
            let page = try await RawHTTP.send(
                "POST",
                "/reset-password",
                to: server.url,
                headers: ["Content-Type: application/x-www-form-urlencoded"],
                body: Array("token=\(token)&new_password=short&confirm_password=short".utf8)
            ).text
            #expect(page.contains("<p id=\"problem\" class=\"problem\" role=\"alert\">"))
            let field = try #require(page.firstMatch(of: /<input id="new_password"[^>]*>/)).0
            #expect(field.contains("aria-describedby=\"problem rule strength\""))
            #expect(field.contains("aria-invalid=\"true\""))
            #expect(field.contains("autocomplete=\"new-password\""))
        }
    }

    @Test(
        "Text and field edges meet WCAG 2.2 contrast, light and dark",
        arguments: [
            (
                "/reset-password",
                [
                    ("ink", "card", 4.5), ("ink", "page", 4.5), ("soft", "card", 4.5), ("soft", "page", 4.5),
                    ("on-main", "main", 4.5), ("on-main", "danger", 4.5), ("bad", "bad-bg", 4.5), ("bad", "card", 4.5),
                    ("good", "card", 4.5), ("main", "card", 4.5), ("line", "card", 3),
                ]
            ),
            (
                "/docs",
                [
                    ("ink", "card", 4.5), ("ink", "page", 4.5), ("ink", "code", 4.5), ("soft", "card", 4.5),
                    ("main", "card", 4.5),
                    ("get", "card", 4.5), ("post", "card", 4.5), ("bad", "card", 4.5), ("good", "card", 4.5),
                ]
            ),
        ] as [(String, [(String, String, Double)])]
    )
    func contrast(path: String, pairs: [(String, String, Double)]) async throws {
        try await withServer { server in
            let page = try await RawHTTP.send("GET", path, to: server.url).text
            let schemes = page.matches(of: /:root\{([^}]*)\}/).map { variables(String($0.1)) }
            #expect(schemes.count == 2)
            for scheme in schemes {
                for (front, ground, minimum) in pairs {
                    let ratio = contrast(try #require(scheme[front]), try #require(scheme[ground]))
                    #expect(ratio >= minimum, "\(front) on \(ground): \(ratio)")
                }
            }
        }
    }

    private func expectLabels(_ page: String, _ place: Comment) throws {
        for match in page.matches(of: /<input ([^>]*)>/) {
            let attributes = String(match.1)
            guard !attributes.contains("type=\"hidden\""), !attributes.contains("aria-hidden=\"true\"") else { continue }
            let id = try #require(attributes.firstMatch(of: /id="([^"]+)"/), place).1
            #expect(page.contains("<label for=\"\(id)\">"), place)
            #expect(attributes.contains("autocomplete="), place)
        }
    }

    private func expectReferences(_ page: String, _ place: Comment) throws {
        for match in page.matches(of: /aria-describedby="([^"]+)"/) {
            for id in match.1.split(separator: " ") { #expect(page.contains("id=\"\(id)\""), place) }
        }
    }

    private func variables(_ css: String) -> [String: [Double]] {
        Dictionary(
            css.matches(of: /--([a-z-]+):#([0-9a-f]{3,6})/).map { (String($0.1), color(String($0.2))) },
            uniquingKeysWith: { $1 }
        )
    }

    private func color(_ text: String) -> [Double] {
        let digits = text.count == 3 ? text.flatMap { [$0, $0] } : Array(text)
        return stride(from: 0, to: 6, by: 2).map { Double(Int(String(digits[$0..<$0 + 2]), radix: 16) ?? 0) / 255 }
    }

    /// Returns the contrast ratio of WCAG 2.2.
    private func contrast(_ first: [Double], _ second: [Double]) -> Double {
        let (brighter, darker) = (max(luminance(first), luminance(second)), min(luminance(first), luminance(second)))
        return (brighter + 0.05) / (darker + 0.05)
    }

    private func luminance(_ color: [Double]) -> Double {
        let linear = color.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }
}
