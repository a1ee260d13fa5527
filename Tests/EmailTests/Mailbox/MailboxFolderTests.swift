import AccountContract
import AccountCore
import Foundation
import Testing

@testable import Email

@Suite struct MailboxFolderTests {
    private func permissions(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test("Only the owner can read the folder and each file")
    func permissions() async throws {
        try await withMailbox { mailbox, _ in
            try await mailbox.deliver(try .sample())
            #expect(try permissions(mailbox.directory) == 0o700)
            let names = try FileManager.default.contentsOfDirectory(atPath: mailbox.directory.path)
            #expect(names.count == 1)
            for name in names { #expect(try permissions(mailbox.directory.appending(path: name)) == 0o600) }
        }
    }

    @Test("A delivered email reads back unchanged")
    func readBack() async throws {
        try await withMailbox { mailbox, _ in
            let mail = try Mail.sample(
                sender: "Ñandú <noreply@example.com>",
                subject: "Restablecer tu contraseña - Ñandú 🐦 " + String(repeating: "larga ", count: 30) + ".",
                text: "¡Hola!\n\n" + String(repeating: "línea\n", count: 200),
                html: "<p>¡Hola! 🐦</p>"
            )
            try await mailbox.deliver(mail)
            let stored = try #require(try mailbox.mails().first)
            #expect(stored.subject == mail.subject)
            #expect(stored.sender == mail.sender)
            #expect(stored.recipient == "ana@example.com")
            #expect(stored.date == "Sun, 15 Jun 2025 15:06:40 +0000")
            #expect(Array(stored.text.utf8) == Array(mail.text.utf8))
            #expect(Array(stored.html.utf8) == Array(mail.html.utf8))
            #expect(try mailbox.mail(id: stored.id) == stored)
        }
    }

    @Test("Lists the newest emails first, and reads no more of them than requested")
    func newestFirst() async throws {
        try await withMailbox { mailbox, clock in
            #expect(try mailbox.mails() == [])
            for number in 0..<5 {
                try await mailbox.deliver(try .sample(subject: "\(number)"))
                clock.advance(by: number == 2 ? 10_000_000_000 : 0.001)
            }
            #expect(try mailbox.mails().map(\.subject) == ["4", "3", "2", "1", "0"])
            #expect(try mailbox.mails(limit: 2).map(\.subject) == ["4", "3"])
        }
    }

    @Test("Concurrent deliveries at one instant lose nothing, and no reader sees a part")
    func concurrent() async throws {
        try await withMailbox { mailbox, _ in
            let text = String(repeating: "a long text\n", count: 500)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask { try await mailbox.deliver(try .sample(text: text)) }
                    group.addTask {
                        for mail in try mailbox.mails() { #expect(mail.text == text && !mail.html.isEmpty) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try mailbox.mails().count == 50)
            let names = try FileManager.default.contentsOfDirectory(atPath: mailbox.directory.path)
            #expect(names.allSatisfy { $0.hasSuffix(".eml") && !$0.hasPrefix(".") }, "nothing unfinished is left over")
            let files = try names.map { try String(contentsOf: mailbox.directory.appending(path: $0), encoding: .utf8) }
            let ids = files.compactMap { $0.split(separator: "\r\n").first { $0.hasPrefix("Message-ID:") } }
            #expect(Set(ids).count == 50)
        }
    }

    @Test("Ignores files that are not emails of this mailbox")
    func foreignFiles() async throws {
        try await withMailbox { mailbox, _ in
            try await mailbox.deliver(try .sample())
            for (name, content) in [
                ("0-a.eml", "no mail"), ("0-b.eml", ""), ("notes.txt", "x"), (".0-c.tmp", "half"), ("0-d.eml", "A: b\r\n\r\n"),
            ] {
                try Data(content.utf8).write(to: mailbox.directory.appending(path: name))
            }
            #expect(try mailbox.mails().count == 1)
            #expect(try mailbox.mail(id: "0-a") == nil)
        }
    }

    @Test("A second mailbox on the folder reads the first one's emails")
    func reopened() async throws {
        try await withMailbox { mailbox, clock in
            try await mailbox.deliver(try .sample())
            #expect(try MailboxFolder(directory: mailbox.directory, now: clock.now).mails().count == 1)
        }
    }

    @Test(
        "An id can only name emails of the folder",
        arguments: [
            "", ".", "..", "../secret", "..%2Fsecret", "/etc/passwd", "secret", "a/b", "a\\b", "a\0b", "*", "0001 ", "ñ", "é",
            "../mailbox/0", "%2e%2e", "-", "ffff", String(repeating: "a", count: 100_000),
        ]
    )
    func traversal(_ id: String) async throws {
        try await withMailbox { mailbox, _ in
            try await mailbox.deliver(try .sample())
            let outside = mailbox.directory.deletingLastPathComponent().appending(path: "secret.eml")
            try Data(MIMEMessage(try .sample()).text.utf8).write(to: outside)
            #expect(try mailbox.mail(id: id) == nil)
        }
    }

    @Test("An unwritable folder is a temporary failure and leaves no files behind")
    func unwritable() async throws {
        try await withMailbox { mailbox, _ in
            try FileManager.default.removeItem(at: mailbox.directory)
            try Data().write(to: mailbox.directory)
            let failure = await #expect(throws: MailDeliveryError.self) { try await mailbox.deliver(try .sample()) }
            #expect(failure?.kind == .unavailable)
            #expect(failure?.message.contains("@") == false)
            try FileManager.default.removeItem(at: mailbox.directory)
        }
    }

    @Test("Removes all emails of an address, in any case, and no others")
    func removal() async throws {
        try await withMailbox { mailbox, _ in
            for recipient in ["ana@example.com", "Ana@Example.com", "ben@example.com", "ana@example.com.evil.example"] {
                try await mailbox.deliver(try .sample(recipient: recipient, text: "To: ana@example.com\n"))
            }
            let unfinished = mailbox.directory.appending(path: ".000-a.tmp")
            try Data(MIMEMessage(try .sample(recipient: "ana@example.com")).text.prefix(400).utf8).write(to: unfinished)
            let foreign = mailbox.directory.appending(path: "notes.txt")
            try Data("To: ana@example.com\r\n\r\n".utf8).write(to: foreign)
            let store: any SentMailStore = mailbox
            try await store.removeMails(to: try EmailAddress("ANA@example.com"))
            #expect(try Set(mailbox.mails().map(\.recipient)) == ["ben@example.com", "ana@example.com.evil.example"])
            #expect(!FileManager.default.fileExists(atPath: unfinished.path))
            #expect(FileManager.default.fileExists(atPath: foreign.path))
            try await store.removeMails(to: try EmailAddress("ana@example.com"))
            #expect(try mailbox.mails().count == 2)
        }
    }

    @Test("Removes an email whose file was renamed after the folder was listed")
    func renamedDuringRemoval() async throws {
        try await withMailbox { mailbox, _ in
            for recipient in ["ana@example.com", "ben@example.com"] {
                try await mailbox.deliver(try .sample(recipient: recipient))
            }
            for mail in try mailbox.mails() {
                try mailbox.removeMail(in: ".\(mail.id).tmp", to: try EmailAddress("ana@example.com"))
            }
            #expect(try mailbox.mails().map(\.recipient) == ["ben@example.com"])
        }
    }

    @Test("Reports a folder that can't be read when emails are removed")
    func unreadableRemoval() async throws {
        try await withMailbox { mailbox, _ in
            try FileManager.default.removeItem(at: mailbox.directory)
            await #expect(throws: (any Error).self) { try await mailbox.removeMails(to: try EmailAddress("ana@example.com")) }
        }
    }
}
