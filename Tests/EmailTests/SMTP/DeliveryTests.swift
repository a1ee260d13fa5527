import AccountCore
import Email
import Foundation
import MailServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct DeliveryTests {
    @Test("Delivers an email byte for byte, without information about the local machine")
    func arrives() async throws {
        try await MailServer.run { server in
            let mail = try Mail.accented(to: "Ana+x@Example.com")
            try await SMTPDelivery(server).deliver(mail)
            let received = try #require(try server.received().first)
            #expect(received.sender == "noreply@example.com")
            #expect(received.recipients == ["Ana+x@example.com"])
            #expect(received.helo == "example.com")
            #expect(!received.tls && received.login == nil)
            let message = String(decoding: received.message, as: UTF8.self)
            let id = try #require(message.firstMatch(of: /Message-ID: <([0-9a-f-]{36})@example\.com>\r\n/)).1
            let expected = MIMEMessage(mail: mail, date: Date(timeIntervalSince1970: 1_750_000_000), id: String(id))
            #expect(message == expected.text)
            #expect(!message.contains(ProcessInfo.processInfo.hostName))
        }
    }

    @Test("Delivers an email with the longest timeout")
    func longestTimeout() async throws {
        try await MailServer.run { server in
            try await SMTPDelivery(server, timeout: .seconds(Int64.max)).deliver(try .accented())
            #expect(try server.received().count == 1)
        }
    }

    @Test("Every email has a unique id")
    func ids() async throws {
        try await MailServer.run { server in
            let delivery = SMTPDelivery(server)
            for _ in 0..<3 { try await delivery.deliver(try .accented()) }
            let ids = try server.received().compactMap { mail in
                String(decoding: mail.message, as: UTF8.self).firstMatch(of: /Message-ID: (.+)\r\n/).map { String($0.1) }
            }
            #expect(Set(ids).count == 3)
        }
    }

    @Test(
        "Logs in only with TLS from the first byte or after STARTTLS",
        arguments: [SMTPSettings.Security.tls, .startTLS]
    )
    func encrypted(_ security: SMTPSettings.Security) async throws {
        let option = security == .tls ? "--tls" : "--starttls"
        try await MailServer.run([option, "--auth", "crowns:pass w0rd+/="]) { server in
            try await SMTPDelivery(server, security: security, login: ("crowns", "pass w0rd+/=")).deliver(try .accented())
            let received = try #require(try server.received().first)
            #expect(received.tls || security == .tls)
            #expect(received.login == "crowns")
            #expect(try await SMTPDelivery(server, security: security).failure(try .accented())?.kind == .misconfigured)
        }
    }

    @Test("Reuses connections and never exceeds their limit")
    func connections() async throws {
        try await MailServer.run { server in
            // A connection that closes because the machine pauses would be replaced by another one.
            let delivery = SMTPDelivery(server) { ($0.connectionLimit, $0.idleTime) = (3, .seconds(600)) }
            try await withThrowingTaskGroup { tasks in
                for number in 0..<40 {
                    tasks.addTask { try await delivery.deliver(try .accented(to: "ana\(number)@example.com")) }
                }
                try await tasks.waitForAll()
            }
            let received = try server.received()
            #expect(Set(received.flatMap(\.recipients)).count == 40)
            #expect((1...3).contains(Set(received.map(\.peer)).count), "\(Set(received.map(\.peer)).count) connections")
        }
    }

    @Test("Closes an idle connection with QUIT; the next email opens a new one")
    func idle() async throws {
        try await MailServer.run { server in
            let delivery = SMTPDelivery(server) { $0.idleTime = .milliseconds(50) }
            try await delivery.deliver(try .accented())
            while !(try server.commands().contains("QUIT")) { try await Task.sleep(for: .milliseconds(20)) }
            try await delivery.deliver(try .accented())
            #expect(Set(try server.received().map(\.peer)).count == 2)
        }
    }

    @Test("Delivers the next email to a restarted server although the old connection died")
    func restarted() async throws {
        try await MailServer.run { server in
            let delivery = SMTPDelivery(server)
            try await delivery.deliver(try .accented())
            await server.stop()
            try await server.start()
            try await delivery.deliver(try .accented())
            #expect(try server.received().count == 2)
        }
    }

    @Test(
        "No name, subject or sender adds a recipient or a command",
        arguments: [
            "\r\nRCPT TO:<eve@example.org>", "\r\n.\r\nMAIL FROM:<eve@example.org>", "> RCPT TO:<eve@example.org", "\n.\n", "\0",
        ]
    )
    func injection(_ attack: String) async throws {
        try await MailServer.run { server in
            let delivery = SMTPDelivery(server)
            try await delivery.deliver(try .accented(subject: "a\(attack)", text: "b\(attack)\r\nc", html: attack))
            try await delivery.deliver(try .accented(from: "N\(attack) <noreply@example.com>"))
            let received = try server.received()
            #expect(received.count == 2)
            #expect(received.allSatisfy { $0.recipients == ["ana@example.com"] && $0.sender == "noreply@example.com" })
        }
    }

    @Test(
        "Reports a sender address that no command can contain, without sending",
        arguments: [
            "noreply@example.com\r\nRCPT TO:eve", "A <a b@example.com>", "A <a@b.example\r\nDATA>", "nobody", "a@b@c.example",
            "ñ@example.com", "A <>", "",
        ]
    )
    func sender(_ sender: String) async throws {
        try await MailServer.run { server in
            let error = try await SMTPDelivery(server).failure(try .accented(from: sender))
            #expect(error?.kind == .misconfigured)
            #expect(error?.message.contains("EMAIL_FROM") == true)
            #expect(try server.received().isEmpty)
        }
    }
}
