import Foundation
import Testing

@testable import Observability

@Suite struct LogRedactionTests {
    private static let token = "q5Zr3V0m8xJw2K7nB1cT9yUe4LhFdSgA6oPiQkRtXvE"

    @Test(
        "Masks text that resembles an address or a secret, wherever it is",
        arguments: [
            ("mail to ana@example.com.", "mail to [address]"), ("<ana.b+c@mail.example.co.uk>", "<[address]>"),
            ("email=ana%40example.com&x=1", "email=[address]&x=1"), ("ünal@exämple.de", "[address]"),
            ("ana@localhost", "[address]"),
            ("Authorization: Bearer abc.def-123", "Authorization: Bearer [hidden]"), ("basic dXNlcjpwYXNz", "basic [hidden]"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln, then", "[token], then"), ("?token=\(token)", "?token=[token]"),
            ("__Host-device=\(token)\(token); Path=/", "__Host-device=[token]; Path=/"),
            (#""device_token":"\#(token)\#(token)""#, #""device_token":"[token]""#),
            ("\(token)\(token)", "[token]"), ("a \(token) b \(token)", "a [token] b [token]"),
            ("ana@b.c bea@d.e", "[address] [address]"),
            (token + "@example.com", "[token]@example.com"),
        ]
    )
    func masked(text: String, expected: String) {
        #expect(LogRedaction.masked(text) == expected)
    }

    @Test(
        "Keeps any other text unchanged",
        arguments: [
            "", "@", "a @ b", "Mail handed over", "5d0e9c1e-7a52-4c1e-9c39-1c5a8c8a2b6d", "the bearer of news", "100%", "%4",
            "%40",
            String(token.dropLast()), "SQLite error 5", "basic needs", "/api/validate-reset-token/", "550 5.1.1 at RCPT TO",
        ]
    )
    func kept(text: String) {
        #expect(LogRedaction.masked(text) == text)
    }

    @Test("Random text never shows a secret inside of it")
    func random() {
        var generator = SystemRandomNumberGenerator()
        let around = Array(" ,;:\"'()<>[]{}=&?/\\|\n\t")
        for _ in 0..<2_000 {
            let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let secret = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=",
                with: ""
            )
            let before = String((0..<3).compactMap { _ in around.randomElement(using: &generator) })
            let after = String((0..<3).compactMap { _ in around.randomElement(using: &generator) })
            let masked = LogRedaction.masked("x\(before)\(secret)\(after)y")
            #expect(masked == "x\(before)[token]\(after)y")
        }
    }
}
