import AccountCore
import Foundation
import Testing

@testable import Email

@Suite struct StoredMailTests {
    private func stored(text: String) throws -> StoredMail {
        try #require(StoredMail(id: "1", message: MIMEMessage(try .sample(text: text)).text))
    }

    @Test(
        "Uses only a URL alone on its line as an email's link, so no name can imitate it",
        arguments: [
            (
                "Hello\n\nhttps://example.com/reset-password?token=a&email=b%40c.de\n",
                "https://example.com/reset-password?token=a&email=b%40c.de"
            ),
            ("http://127.0.0.1:8080/reset-password#token=a", "http://127.0.0.1:8080/reset-password#token=a"),
            ("Hello claim at https://evil.example/ now,\nhttps://a.example/\nhttps://b.example/", "https://a.example/"),
            ("javascript:alert(1)\nftp://a.example/\nhttps://b.example/", "https://b.example/"),
        ]
    )
    func link(_ text: String, link: String) throws {
        #expect(try stored(text: text).link?.absoluteString == link)
    }

    @Test(
        "An email without a URL has no link",
        arguments: ["", "Hello", "see https", "xhttps://a.example/", "mailto:a@b.de"]
    )
    func noLink(_ text: String) throws {
        #expect(try stored(text: text).link == nil)
    }

    @Test(
        "Ignores files that are not messages",
        arguments: [
            "", "\r\n\r\n", "no header", "A\r\n\r\n", "A: b\r\n\r\nbody", "Subject: x\r\nTo: y\r\nFrom: z\r\n\r\n",
            "Content-Type: \"\r\n\r\n", ":\r\n\r\n", String(repeating: "\r\n", count: 10_000),
        ]
    )
    func garbage(_ message: String) {
        #expect(StoredMail(id: "1", message: message) == nil)
    }

    @Test("Reads a truncated message partly or not at all, without a trap")
    func truncated() throws {
        let message = MIMEMessage(try .sample(subject: "Contraseña")).text
        for length in 0..<message.count {
            let stored = StoredMail(id: "1", message: String(message.prefix(length)))
            #expect(stored == nil || stored?.recipient == "ana@example.com")
        }
    }
}
