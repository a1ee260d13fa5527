import AccountCore
import Email
import Foundation
import MailServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct FailureTests {
    private static let secrets = ["example.com", "pass w0rd", "crowns", "noreply", "@"]

    @Test(
        "Classifies refusals as for one or all emails, temporary or permanent",
        arguments: [
            ("busy", .deferred, "450 4.2.0 at RCPT TO"), ("gone", .refused, "550 5.1.1 at RCPT TO"),
            ("closing", .unavailable, "421 4.3.2 at RCPT TO"), ("unproven", .misconfigured, "530 5.7.0 at RCPT TO"),
            ("full", .deferred, "452 4.2.2 at DATA"), ("spam", .refused, "554 5.7.1 at DATA"),
        ] as [(String, MailDeliveryError.Kind, String)]
    )
    func refused(_ name: String, kind: MailDeliveryError.Kind, message: String) async throws {
        try await MailServer.run { server in
            let delivery = SMTPDelivery(server)
            let error = try #require(try await delivery.failure(try .accented(to: "\(name)@example.com")))
            #expect(error.kind == kind)
            #expect(error.message == message)
            #expect(!error.mayHaveArrived)
            for secret in Self.secrets { #expect(!error.message.contains(secret)) }
            try await delivery.deliver(try .accented(to: "next@example.com"))
            #expect(try server.received().map(\.recipients) == [["next@example.com"]], "the next mail is not harmed")
        }
    }

    @Test(
        "A refused sender is a configuration error, not a fault of the email",
        arguments: [("stranger", .misconfigured, "553 5.7.1"), ("hurried", .unavailable, "451 4.7.1")]
            as [(
                String, MailDeliveryError.Kind, String
            )]
    )
    func sender(_ name: String, kind: MailDeliveryError.Kind, message: String) async throws {
        try await MailServer.run { server in
            let error = try await SMTPDelivery(server).failure(try .accented(from: "A <\(name)@example.com>"))
            #expect(error?.kind == kind)
            #expect(error?.message.hasPrefix("\(message) at MAIL FROM") == true)
            #expect(error?.message.contains("EMAIL_FROM") == (kind == .misconfigured))
        }
    }

    @Test(
        "Reports a wrong password as such, without the password",
        arguments: [SMTPSettings.Security.tls, .startTLS]
    )
    func wrongPassword(_ security: SMTPSettings.Security) async throws {
        let option = security == .tls ? "--tls" : "--starttls"
        try await MailServer.run([option, "--auth", "crowns:pass w0rd"]) { server in
            let error = try #require(
                try await SMTPDelivery(server, security: security, login: ("crowns", "wrong pass w0rd")).failure(try .accented())
            )
            #expect(error.kind == .misconfigured)
            #expect(error.message == "535 5.7.8 at AUTH: check EMAIL_HOST_USER and EMAIL_HOST_PASSWORD")
            #expect(try server.received().isEmpty)
        }
    }

    @Test("If STARTTLS is required, a server without it gets no password and no email")
    func noDowngrade() async throws {
        try await MailServer.run(["--auth", "crowns:pass w0rd"]) { server in
            let delivery = SMTPDelivery(server, security: .startTLS, login: ("crowns", "pass w0rd")) { $0.authorities = nil }
            let error = try await delivery.failure(try .accented())
            #expect(error?.kind == .misconfigured)
            #expect(error?.message.contains("STARTTLS") == true)
            let commands = try server.commands()
            #expect(!commands.contains("AUTH") && !commands.contains("MAIL"), "\(commands)")
        }
    }

    @Test(
        "An untrusted or wrong certificate gets no password and no email",
        arguments: [SMTPSettings.Security.tls, .startTLS],
        [true, false]
    )
    func certificate(_ security: SMTPSettings.Security, isTrusted: Bool) async throws {
        let options = [security == .tls ? "--tls" : "--starttls", "--name", isTrusted ? "other.example" : "localhost"]
        try await MailServer.run(options + ["--auth", "crowns:pass w0rd"]) { server in
            let delivery = SMTPDelivery(server, security: security, login: ("crowns", "pass w0rd")) {
                if !isTrusted { $0.authorities = nil }
            }
            let error = try await delivery.failure(try .accented())
            #expect(error?.kind == .misconfigured)
            #expect(error?.message.contains("EMAIL_CA_FILE") == true, "\(error?.message ?? "")")
            #expect(try !server.commands().contains("MAIL"))
        }
    }

    @Test("A mismatch of TLS and plain text ends with an error in time")
    func crossed() async throws {
        try await MailServer.run { server in
            let error = try await SMTPDelivery(server, security: .tls) { $0.authorities = nil }.failure(try .accented())
            #expect(error?.kind == .unavailable)
        }
        try await MailServer.run(["--tls"]) { server in
            let error = try await SMTPDelivery(server, timeout: .seconds(2)).failure(try .accented())
            #expect(error?.kind == .unavailable)
        }
    }

    @Test(
        "A closed port and an unknown host are temporary failures",
        arguments: ["localhost", "no.such.invalid"]
    )
    func nobody(host: String) async throws {
        try await MailServer.run { server in
            await server.stop()
            let error = try await SMTPDelivery(server) { $0.host = host }.failure(try .accented())
            #expect(error?.kind == .unavailable)
            #expect(error?.message.contains("connecting") == true)
        }
    }

    @Test("Abandons a server that hangs in time, without delaying other emails")
    func hanging() async throws {
        try await MailServer.run { server in
            var isDelivered = false
            // On a busy machine, the delivery of the other email can take longer than the first timeout.
            for (number, timeout) in [Duration.seconds(3), .seconds(60)].enumerated() where !isDelivered {
                let delivery = SMTPDelivery(server, timeout: timeout) { $0.connectionLimit = 2 }
                let other = "ana\(number)@example.com"
                async let hung = delivery.failure(try .accented(to: "hang@example.com"))
                if try await delivery.failure(try .accented(to: other)) == nil {
                    isDelivered = try server.received().contains { $0.recipients == [other] }
                }
                let error = try await hung
                #expect(error?.kind == .unavailable)
                #expect(error?.mayHaveArrived == false)
            }
            #expect(isDelivered)
        }
    }

    @Test(
        "If the connection breaks in DATA, the email may have arrived only if complete",
        arguments: ["cut", "lost"]
    )
    func broken(_ name: String) async throws {
        try await MailServer.run { server in
            // Too long for the buffers between the client and a server that stops reading.
            let text = String(repeating: "x", count: name == "cut" ? 20_000_000 : 10)
            let error = try #require(try await SMTPDelivery(server).failure(try .accented(to: "\(name)@example.com", text: text)))
            #expect(error.kind != .refused && error.kind != .misconfigured)
            #expect(error.mayHaveArrived == (name == "lost"))
            #expect(try server.received().count == (name == "lost" ? 1 : 0))
        }
    }

    @Test("A canceled delivery ends, whether queued, in flight or not yet started")
    func cancelled() async throws {
        try await MailServer.run { server in
            let delivery = SMTPDelivery(server, timeout: .seconds(100)) { $0.connectionLimit = 1 }
            func send(to address: String) -> Task<Void, any Error> {
                Task { try await delivery.deliver(try .accented(to: address)) }
            }
            let inHand = send(to: "hang@example.com")
            while !(try server.commands().contains("RCPT")) { try await Task.sleep(for: .milliseconds(20)) }
            let tasks = [inHand, send(to: "ana@example.com"), send(to: "ana@example.com")]
            for task in tasks.reversed() { task.cancel() }
            for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
            try await delivery.deliver(try .accented(to: "bea@example.com"))
            #expect(try server.received().map(\.recipients) == [["bea@example.com"]])
        }
    }

    @Test("An email canceled while it is sent does not arrive in part")
    func cancelledInData() async throws {
        try await MailServer.run { server in
            let text = String(repeating: "0123456789\n", count: 2_500_000)
            let delivery = SMTPDelivery(server)
            let task = Task { try await delivery.deliver(try .accented(to: "stalled@example.com", text: text)) }
            while !(try server.commands().contains("stalled")) { try await Task.sleep(for: .milliseconds(20)) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await delivery.deliver(try .accented(to: "bea@example.com"))
            #expect(try server.received().map(\.recipients) == [["bea@example.com"]])
        }
    }

    @Test("A slow response after DATA delays no other email")
    func slowResponse() async throws {
        try await MailServer.run { server in
            let delivery = SMTPDelivery(server) { $0.connectionLimit = 2 }
            let slow = Task { try await delivery.deliver(try .accented(to: "stuck@example.com")) }
            while !(try server.commands().contains("stuck")) { try await Task.sleep(for: .milliseconds(20)) }
            try await delivery.deliver(try .accented(to: "bea@example.com"))
            #expect(try server.received().map(\.recipients) == [["bea@example.com"]])
            slow.cancel()
            _ = await slow.result
        }
    }
}
