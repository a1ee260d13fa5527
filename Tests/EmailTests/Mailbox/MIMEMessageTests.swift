import AccountCore
import ErrorContract
import Foundation
import Testing

@testable import Email

@Suite struct MIMEMessageTests {
    @Test("The header has every field once, in order")
    func fields() throws {
        let message = MIMEMessage(try .sample(language: .spanish))
        #expect(
            message.headerFields == [
                "Date: Sun, 15 Jun 2025 15:06:40 +0000", "From: \"Holdfast\" <noreply@example.com>", "To: ana@example.com",
                "Subject: Reset your password", "Message-ID: <0000-1111@example.com>", "Auto-Submitted: auto-generated",
                "Content-Language: es", "MIME-Version: 1.0",
                "Content-Type: multipart/alternative; boundary=\"=_holdfast-0000-1111\"",
            ]
        )
    }

    @Test("The message is 7-bit, with CRLF line endings and at most 78 characters per line")
    func lines() throws {
        let mail = try Mail.sample(
            sender: "Ñandú <noreply@example.com>",
            subject: String(repeating: "contraseña ", count: 40),
            text: String(repeating: "línea\n", count: 400),
            html: "<p>" + String(repeating: "🐦", count: 1_000) + "</p>"
        )
        let bytes = Array(MIMEMessage(mail).text.utf8)
        #expect(bytes.allSatisfy { $0 < 0x80 && $0 != 0 })
        for (index, byte) in bytes.enumerated() {
            if byte == 0x0A { #expect(index > 0 && bytes[index - 1] == 0x0D) }
            if byte == 0x0D { #expect(index + 1 < bytes.count && bytes[index + 1] == 0x0A) }
        }
        let lines = MIMEMessage(mail).text.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.utf8.count <= 78 })
        #expect(lines.last == "", "the last line is ended too")
    }

    @Test("The text precedes the HTML, each in the shorter encoding, between boundaries")
    func parts() throws {
        let message = MIMEMessage(try .sample(text: "text\n.\nFrom x", html: "<p>סיסמה</p>")).text
        let body = try #require(message.firstRange(of: "\r\n\r\n")).upperBound
        #expect(
            message[body...] == """
                --=_holdfast-0000-1111\r
                Content-Type: text/plain; charset=utf-8\r
                Content-Transfer-Encoding: quoted-printable\r
                \r
                text\r
                =2E\r
                =46rom x\r
                --=_holdfast-0000-1111\r
                Content-Type: text/html; charset=utf-8\r
                Content-Transfer-Encoding: base64\r
                \r
                PHA+16HXmdeh157XlDwvcD4=\r
                --=_holdfast-0000-1111--\r

                """
        )
    }

    @Test(
        "Formats the date by RFC 5322, in English and UTC",
        arguments: [
            (0.0, "Thu, 01 Jan 1970 00:00:00 +0000"), (1_709_164_799, "Wed, 28 Feb 2024 23:59:59 +0000"),
            (1_709_164_800.9, "Thu, 29 Feb 2024 00:00:00 +0000"), (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 +0000"),
        ]
    )
    func date(_ seconds: Double, text: String) throws {
        let message = MIMEMessage(mail: try .sample(), date: Date(timeIntervalSince1970: seconds), id: "1")
        #expect(message.headerFields.first == "Date: \(text)")
    }

    @Test(
        "Encoded words have at most 75 characters on lines of at most 76, and decode back",
        arguments: [
            "ñ", "contraseña", String(repeating: "ñ", count: 500), String(repeating: "x", count: 38) + "🐦",
            "e" + String(repeating: "\u{301}", count: 200), "👩‍👩‍👧‍👦 " + String(repeating: "👩‍👩‍👧‍👦", count: 20), "=?utf-8?Q?a?=",
            "\u{7}bell",
        ]
    )
    func encodedWords(_ subject: String) throws {
        let field = try #require(MIMEMessage(try .sample(subject: subject)).headerFields.first { $0.hasPrefix("Subject:") })
        #expect(field.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 76 })
        let words = field.dropFirst("Subject:".count).split(whereSeparator: \.isWhitespace)
        var decoded: [UInt8] = []
        for word in words {
            #expect(word.utf8.count <= 75)
            let pieces = word.split(separator: "?", omittingEmptySubsequences: false)
            try #require(pieces.count == 5)
            #expect(pieces[0] == "=" && pieces[1] == "utf-8" && pieces[2] == "B" && pieces[4] == "=")
            let bytes = try #require(Data(base64Encoded: String(pieces[3])))
            #expect(String(validating: bytes, as: UTF8.self)?.isEmpty == false, "no word is empty or ends within a character")
            decoded += bytes
        }
        #expect(decoded == Array(subject.utf8))
    }

    @Test(
        "A sender is a name and an address, or only an address",
        arguments: [
            ("noreply@example.com", "noreply@example.com"), ("<noreply@example.com>", "<noreply@example.com>"),
            ("Holdfast <noreply@example.com>", "\"Holdfast\" <noreply@example.com>"),
            ("A \"B\" \\ C <noreply@example.com>", "\"A \\\"B\\\" \\\\ C\" <noreply@example.com>"),
            ("\"Notes, Inc.\" <noreply@example.com>", "\"Notes, Inc.\" <noreply@example.com>"),
            ("\"A \\\"B\\\"\" <noreply@example.com>", "\"A \\\"B\\\"\" <noreply@example.com>"),
            ("\"A\" or \"B\" <noreply@example.com>", "\"\\\"A\\\" or \\\"B\\\"\" <noreply@example.com>"),
            ("\"Ñandú\" <noreply@example.com>", "=?utf-8?B?w5FhbmTDug==?= <noreply@example.com>"),
            ("A < B <noreply@example.com>", "\"A < B\" <noreply@example.com>"),
            ("Ñandú <noreply@example.com>", "=?utf-8?B?w5FhbmTDug==?= <noreply@example.com>"),
        ]
    )
    func sender(_ sender: String, field: String) throws {
        #expect(MIMEMessage(try .sample(sender: sender)).headerFields[1] == "From: \(field)")
    }

    @Test("Subject and sender can't add a line to the header", arguments: ["\r\n", "\n", "\r", "\u{85}", "\u{2028}", "\0\n"])
    func injection(_ lineEnd: String) throws {
        let attack = "x\(lineEnd)Bcc: eve@example.org\(lineEnd)\(lineEnd)body"
        let expected = MIMEMessage(try .sample()).fieldNames
        #expect(MIMEMessage(try .sample(subject: attack)).fieldNames == expected)
        #expect(MIMEMessage(try .sample(subject: "ñ\(attack)")).fieldNames == expected)
        #expect(MIMEMessage(try .sample(sender: "\(attack) <a@example.com>")).fieldNames == expected)
        #expect(MIMEMessage(try .sample(sender: "A <a@example.com\(attack)>")).fieldNames == expected)
        #expect(MIMEMessage(try .sample(language: Language(attack))).fieldNames == expected)
    }

    @Test(
        "A body can't end its part",
        arguments: [
            "--=_holdfast-0000-1111--\r\n", "\r\n.\r\n", "\r\n--=_holdfast-0000-1111\r\n", "סיסמה\r\n--=_holdfast-0000-1111",
        ]
    )
    func boundaryInBody(_ body: String) throws {
        let message = MIMEMessage(try .sample(text: body, html: body)).text
        #expect(message.ranges(of: "--=_holdfast-0000-1111").count == 3)
        let stored = try #require(StoredMail(id: "1", message: message))
        let expected = body.replacing("\r\n", with: "\n")
        #expect(stored.text == expected && stored.html == expected)
    }

    @Test(
        "The message id has the sender's domain, or one that does not exist",
        arguments: [
            ("A <a@mail.example.com>", "mail.example.com"), ("a@example.org", "example.org"), ("nobody", "holdfast.invalid"),
            ("A <a@>", "holdfast.invalid"), ("A <a@b c>", "holdfast.invalid"), ("A <a@x\r\nBcc: e@f.g>", "holdfast.invalid"),
            ("A <a@ñandú.example>", "holdfast.invalid"),
        ]
    )
    func messageID(_ sender: String, domain: String) throws {
        let fields = MIMEMessage(try .sample(sender: sender)).headerFields
        #expect(fields.contains("Message-ID: <0000-1111@\(domain)>"))
    }
}
