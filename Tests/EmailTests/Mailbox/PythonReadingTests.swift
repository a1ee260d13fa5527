import AccountCore
import ErrorContract
import Foundation
import Testing

@testable import Email

@Suite struct PythonReadingTests {
    @Test("Python's email package reads a delivered file without a defect or a change")
    func deliveredFile() async throws {
        try await withMailbox { mailbox, _ in
            let mail = try Mail.sample(
                sender: "Ñandú & Cía. \"Ventas\" <noreply@example.com>",
                recipient: "Ana@Example.com",
                subject: "Restablecer tu contraseña - Ñandú 🐦 y un asunto bastante más largo que una línea",
                text: "Hola Ana,\n\nhttps://example.com/reset-password?token=abc&email=ana%40example.com\n.\nFrom here\n",
                html: "<p>¡Hola <b>Ana</b>! 🐦</p>\n" + String(repeating: "<p>línea</p>\n", count: 500),
                language: .spanish
            )
            try await mailbox.deliver(mail)
            let stored = try #require(try mailbox.mails().first)
            let file = mailbox.directory.appending(path: "\(stored.id).eml")
            let read = try await PythonMail.read(try Data(contentsOf: file))
            #expect(read.defects == [])
            #expect(read.subject == mail.subject)
            #expect(read.senderNames == ["Ñandú & Cía. \"Ventas\""])
            #expect(read.senderAddresses == ["noreply@example.com"])
            #expect(read.to == "Ana@example.com")
            #expect(read.date == "2025-06-15T15:06:40+00:00")
            #expect(read.type == "multipart/alternative")
            #expect(read.parts.map(\.type) == ["text/plain", "text/html"])
            #expect(read.parts.map(\.charset) == ["utf-8", "utf-8"])
            #expect(read.parts.map(\.encoding) == ["quoted-printable", "quoted-printable"])
            #expect(read.parts.map { $0.body.replacing("\r\n", with: "\n") } == [mail.text, mail.html])
        }
    }

    @Test(
        "Python decodes every body to the original, line by line",
        arguments: [
            "", "\n", "\n\n", " ", "trailing \nblank\t\n", ".", "..\n.\n", "=", "a=b=3D\n", "From\nFrom me\n", "ñ",
            String(repeating: "x", count: 75), String(repeating: "x", count: 76), String(repeating: "x", count: 77),
            String(repeating: "x", count: 74) + "ñ" + String(repeating: "y", count: 80), String(repeating: "🐦", count: 99),
            String(repeating: "word ", count: 99), "a\rb", "tab\tin", "e" + String(repeating: "\u{301}", count: 200),
            "\u{2028}\u{85}",
        ]
    )
    func bodies(_ body: String) async throws {
        let mail = try Mail.sample(text: body, html: body)
        let message = MIMEMessage(mail).text
        #expect(message.components(separatedBy: "\r\n").allSatisfy { $0.utf8.count <= 76 })
        let read = try await PythonMail.read(Data(message.utf8))
        #expect(read.defects == [])
        for part in read.parts { #expect(Array(part.body.replacing("\r\n", with: "\n").utf8) == Array(body.utf8)) }
        let stored = try #require(StoredMail(id: "1", message: message))
        #expect(Array(stored.text.utf8) == Array(body.utf8))
    }

    @Test(
        "Python decodes every subject to the original",
        arguments: [
            "Reset your password", "Contraseña", "ñ", "🐦", String(repeating: "ñ", count: 300), String(repeating: "🐦", count: 50),
            "=?utf-8?B?SGFja2Vk?=", "a: b; c=\"d\" <e@f>", "e" + String(repeating: "\u{301}", count: 100), "ends with 🐦 🐦",
            "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦",
        ]
    )
    func subjects(_ subject: String) async throws {
        let read = try await PythonMail.read(Data(MIMEMessage(try .sample(subject: subject)).text.utf8))
        #expect(read.defects == [])
        #expect(read.subject.unicodeScalars.elementsEqual(subject.unicodeScalars))
    }

    @Test(
        "Python finds no injected header or recipient, whatever subject and sender are",
        arguments: ["\r\n", "\n", "\r", "\u{85}", "\u{2028}", "\r\n\r\n", "\0\r\n", "\u{B}", "\u{C}"]
    )
    func injection(_ lineEnd: String) async throws {
        let attack = "x\(lineEnd)Bcc: eve@example.org\(lineEnd)\(lineEnd)<b>body</b>"
        let mails = [
            try Mail.sample(subject: attack), try .sample(sender: "\(attack) <noreply@example.com>"), try .sample(sender: attack),
            try .sample(sender: "Name <a@example.com\(lineEnd)Bcc: eve@example.org>"), try .sample(subject: "ñ" + attack),
            try .sample(sender: "ñ\(attack) <noreply@example.com>"), try .sample(language: Language(attack)),
        ]
        for (mail, read) in zip(mails, try await PythonMail.read(mails.map { Data(MIMEMessage($0).text.utf8) })) {
            #expect(read.names == MIMEMessage(try .sample()).fieldNames)
            #expect(read.to == "ana@example.com")
            #expect(read.parts.map { $0.body.replacing("\r\n", with: "\n") } == [mail.text, mail.html])
        }
    }
}
