import Configuration
import Email
import Foundation
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct MailSettingsTests {
    private func read(_ environment: [String: String]) throws -> AccountServerConfiguration {
        var configuration = AccountServerConfiguration(dataFolder: FileManager.default.temporaryDirectory)
        let provider = EnvironmentVariablesProvider(environmentVariables: environment)
        try configuration.read(ConfigReader(provider: provider), isServing: false)
        return configuration
    }

    private func problems(_ environment: [String: String]) -> [String: String] {
        do {
            _ = try read(environment)
            return [:]
        } catch let error as InvalidConfiguration {
            return Dictionary(error.problems.map { ($0.setting, $0.text) }) { $0 + "\n" + $1 }
        } catch {
            return ["": "\(error)"]
        }
    }

    private static let server = ["EMAIL_HOST": "smtp.example.com", "EMAIL_FROM": "Crowns <no-reply@example.com>"]

    @Test(
        "Each combination of EMAIL_USE_TLS and EMAIL_USE_SSL has its usual port",
        arguments: [
            ([:], .none, 25), (["EMAIL_USE_TLS": "true"], .startTLS, 587), (["EMAIL_USE_TLS": "Yes"], .startTLS, 587),
            (["EMAIL_USE_SSL": "1"], .tls, 465), (["EMAIL_USE_SSL": "on", "EMAIL_PORT": "2465"], .tls, 2_465),
            (["EMAIL_USE_TLS": "off", "EMAIL_USE_SSL": "no"], .none, 25),
        ] as [([String: String], SMTPSettings.Security, Int)]
    )
    func security(_ environment: [String: String], security: SMTPSettings.Security, port: Int) throws {
        guard case .smtp(let settings) = try read(Self.server.merging(environment) { $1 }).mail else {
            Issue.record("no mail server")
            return
        }
        #expect(settings.host == "smtp.example.com")
        #expect(settings.security == security)
        #expect(settings.port == port)
        #expect(settings.credentials == nil)
    }

    @Test("Without EMAIL_HOST emails go to the local mailbox")
    func mailbox() throws {
        guard case .mailbox = try read([:]).mail else {
            Issue.record("a mail server")
            return
        }
    }

    @Test("The sender is EMAIL_FROM, DEFAULT_FROM_EMAIL or the login with the app's name")
    func sender() throws {
        let login = [
            "EMAIL_HOST": "localhost", "APP_NAME": "Crowns", "EMAIL_HOST_USER": "crowns@example.com", "EMAIL_HOST_PASSWORD": "x",
        ]
        #expect(try read(login).emailFrom == "Crowns <crowns@example.com>")
        let django = login.merging(["DEFAULT_FROM_EMAIL": "a@example.com"]) { $1 }
        #expect(try read(django).emailFrom == "a@example.com")
        #expect(try read(django.merging(["EMAIL_FROM": "b@example.com"]) { $1 }).emailFrom == "b@example.com")
    }

    @Test(
        "Converts the domain of the sender to punycode, because SMTP needs ASCII",
        arguments: [
            ("Bücher <no-reply@bücher.example>", "Bücher <no-reply@xn--bcher-kva.example>"),
            ("no-reply@BÜCHER.example", "no-reply@xn--bcher-kva.example"),
            ("A < a@example.com >", "A <a@example.com>"), ("Crowns <No-Reply@example.com>", "Crowns <No-Reply@example.com>"),
        ]
    )
    func asciiSender(_ text: String, sender: String) throws {
        #expect(try read(["EMAIL_HOST": "localhost", "EMAIL_FROM": text]).emailFrom == sender)
    }

    @Test(
        "Refuses unusable settings and names a valid alternative",
        arguments: [
            (["EMAIL_HOST": "smtp://x"], "EMAIL_HOST", "without scheme and port"),
            (["EMAIL_HOST": "x:25"], "EMAIL_HOST", "without scheme and port"),
            (["EMAIL_HOST": "a\r\nb"], "EMAIL_HOST", "control character"),
            (["EMAIL_PORT": "smtp"], "EMAIL_PORT", "from 1 to 65535"),
            (["EMAIL_USE_TLS": "maybe"], "EMAIL_USE_TLS", "true or false"),
            (["EMAIL_USE_TLS": "true", "EMAIL_USE_SSL": "true"], "EMAIL_USE_TLS", "exclude each other"),
            (["EMAIL_HOST_PASSWORD": "hunter2"], "EMAIL_HOST_PASSWORD", "needs EMAIL_HOST_USER"),
            (["EMAIL_HOST_USER": "hunter2"], "EMAIL_HOST_USER", "needs EMAIL_HOST_PASSWORD"),
            (["EMAIL_HOST_USER": "x", "EMAIL_HOST_PASSWORD": "hunter2"], "EMAIL_HOST_PASSWORD", "unencrypted"),
            (["EMAIL_TIMEOUT": "0"], "EMAIL_TIMEOUT", "from 1 to 300"), (["EMAIL_CA_FILE": "/nowhere"], "EMAIL_CA_FILE", "PEM"),
            (["EMAIL_FROM": "Crowns"], "EMAIL_FROM", "must be the sender of emails"),
            (["EMAIL_FROM": "Crowns <crowns@localhost>"], "EMAIL_FROM", "must be the sender of emails"),
            (["EMAIL_FROM": "A <a@example.com> B"], "EMAIL_FROM", "must be the sender of emails"),
            (["EMAIL_FROM": "A\nB <a@example.com>"], "EMAIL_FROM", "must be the sender of emails"),
            (["EMAIL_FROM": "", "DEFAULT_FROM_EMAIL": "Crowns"], "DEFAULT_FROM_EMAIL", "(is “Crowns”)"),
            (["TEMPLATES_DIR": "/nowhere"], "TEMPLATES_DIR", "must be an existing folder"),
        ]
    )
    func refused(_ environment: [String: String], name: String, text: String) {
        let problems = problems(Self.server.merging(environment) { $1 })
        #expect(problems[name]?.contains(text) == true, "\(problems)")
        #expect(problems.count == 1)
        #expect(!"\(problems)".contains("hunter2"))
    }

    @Test("Requires a sender without quoting the default, and names an unusable login")
    func missingSender() {
        let example = "must be the sender of emails, such as Crowns <no-reply@example.com>"
        #expect(problems(["EMAIL_HOST": "localhost"]) == ["EMAIL_FROM": example])
        let login = problems(["EMAIL_HOST": "localhost", "EMAIL_HOST_USER": "key", "EMAIL_HOST_PASSWORD": "hunter2"])
        #expect(login == ["EMAIL_FROM": example + " (EMAIL_HOST_USER is not an address)"])
    }

    @Test(
        "Refuses settings of the mail server without EMAIL_HOST",
        arguments: ["EMAIL_PORT", "EMAIL_USE_TLS", "EMAIL_USE_SSL", "EMAIL_HOST_PASSWORD", "EMAIL_TIMEOUT", "EMAIL_CA_FILE"]
    )
    func withoutHost(_ name: String) {
        let problems = problems([name: "hunter2"])
        #expect(problems[name]?.contains("needs EMAIL_HOST") == true)
        #expect(!"\(problems)".contains("hunter2"))
    }

    @Test("Accepts a login over an unencrypted connection for this machine only", arguments: ["localhost", "127.0.0.1", "::1"])
    func loopback(host: String) throws {
        let login = ["EMAIL_HOST": host, "EMAIL_HOST_USER": "x", "EMAIL_HOST_PASSWORD": "y", "EMAIL_FROM": "a@example.com"]
        guard case .smtp(let settings) = try read(login).mail else {
            Issue.record("no mail server")
            return
        }
        #expect(settings.credentials == .init(user: "x", password: "y"))
        #expect(!"\(settings)".contains("y\""))
    }

    @Test("Reports unusable templates at the start, each with its file and line")
    func templates() async throws {
        try await withFolder { folder in
            try Data("Hello {{lnk}}".utf8).write(to: folder.appending(path: "mail.html.mustache"))
            try Data("x".utf8).write(to: folder.appending(path: "mial.txt.mustache"))
            let run = try await Binary.run(
                ["serve", "--port", "0"],
                environment: ["ENVIRONMENT": "development", "TEMPLATES_DIR": folder.path],
                in: folder
            )
            #expect(run.status == 78)
            #expect(run.errors.contains("TEMPLATES_DIR mail.html.mustache:1: {{lnk}} names nothing here"), "\(run.errors)")
            #expect(run.errors.contains("mial.txt.mustache: no mail uses this name"))
        }
    }
}
