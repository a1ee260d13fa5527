import AccountContract
import ErrorContract
import Testing

@Suite struct EmailRefusalTests {
    @Test("Treats an address of only spaces as empty", arguments: ["", " ", "\t\r\n", "\u{3000}"])
    func empty(typed: String) {
        #expect(throws: EmailRefusal.empty) { try EmailAddress(typed) }
    }

    @Test(
        "Requires exactly one @",
        arguments: [
            "ana", "ana.example.org", "ana@@example.org", "ana@x@example.org", "ana@example.org,eva@example.org",
            "a＠b@example.org", "ana@example.org@", "@@", "ana@\u{301}example.org",
        ]
    )
    func sign(typed: String) {
        #expect(throws: EmailRefusal.notOneAtSign) { try EmailAddress(typed) }
    }

    @Test(
        "Validates the part before the @ against the grammar, without look-alike letters",
        arguments: [
            "@example.org", "@", "mıke@example.org", "аna@example.org", "josé@example.org", "jose\u{301}@example.org",
            "アナ@example.org", "\"ana\"@example.org", "<ana@example.org>", "[\"ana@example.org\"]", "[ana@example.org]",
            "{ana@example.org}", "ana,eva@example.org", "ana;@example.org", "mailto:ana@example.org", "ana'@example.org",
            "ana(x)@example.org", "a/b@example.org", "a\\b@example.org", "ana!@example.org", "ana#@example.org",
            "ana=1@example.org", "ana*@example.org", "ana?@example.org", "\u{2100}@example.org", "💥@example.org",
        ]
    )
    func local(typed: String) {
        #expect(throws: EmailRefusal.localPart) { try EmailAddress(typed) }
    }

    @Test(
        "Requires a domain name with a top-level label after the @",
        arguments: [
            "ana@", "ana@example", "ana@localhost", "ana@example.o", "ana@example.1", "ana@example.c0m", "ana@127.0.0.1",
            "ana@[127.0.0.1]", "ana@[IPv6:::1]", "ana@.example.org", "ana@example.org.", "ana@example..org", "ana@-example.org",
            "ana@example-.org", "ana@example.-org", "ana@example.org-", "ana@exam_ple.org", "ana@example.org;x",
            "ana@example.org/path", "ana@example.org:25", "ana@example.org?x=1", "ana@example。org", "ana@💥.org", "ana@xn--.org",
            "ana@-\u{301}x.org", "ana@.", "ana@..", "ana@example.org>", "ana@exam%70le.org", "ana@exa\u{2044}mple.org",
            "ana@½.org",
        ]
    )
    func domain(typed: String) {
        #expect(throws: EmailRefusal.domain) { try EmailAddress(typed) }
    }

    @Test(
        "Refuses invisible, direction-changing and line-breaking characters anywhere",
        arguments: [
            "\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202E}",
            "\u{2066}", "\u{2069}", "\u{61C}", "\u{FE0F}", "\u{3164}", "\u{E0041}", "\u{E000}", "\u{0}", "\u{7}", "\u{7F}",
            "\u{85}", "\n", "\r\n", "\t", " ", "\u{A0}", "\u{2028}", "\u{3000}", "\u{378}",
        ]
    )
    func invisible(character: String) {
        for typed in [
            "an\(character)a@example.org", "ana@exa\(character)mple.org", "ana\(character)@example.org",
            "ana@\(character)example.org",
        ] {
            #expect(throws: EmailRefusal.forbiddenCharacter) { try EmailAddress(typed) }
        }
    }

    @Test(
        "Does not trim a zero-width character at either end",
        arguments: ["\u{200B}", "\u{FEFF}", "\u{2060}", "\u{202C}"]
    )
    func invisibleEnds(character: String) {
        #expect(throws: EmailRefusal.forbiddenCharacter) { try EmailAddress(character + "ana@example.org") }
        #expect(throws: EmailRefusal.forbiddenCharacter) { try EmailAddress("ana@example.org" + character) }
    }

    @Test(
        "Refuses addresses that would inject a second header",
        arguments: [
            "ana@example.org\r\nBcc: eva@example.org", "ana@example.org\nBcc:eva", "ana@example.org%0d%0aBcc:x",
            "Ana <ana@example.org>",
        ]
    )
    func injection(typed: String) {
        #expect(throws: EmailRefusal.self) { try EmailAddress(typed) }
    }

    @Test("Distinguishes a missing address from a malformed one", arguments: EmailRefusal.allCases)
    func codes(refusal: EmailRefusal) {
        #expect(refusal.code == (refusal == .empty ? .validationMissingField : .validationInvalidEmail))
    }
}
