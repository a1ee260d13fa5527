import AccountContract
import AccountCore
import AccountKit
import Attacks
import Email
import ErrorContract
import Foundation
import ServerMiddleware
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(120))) struct ConcurrentConfirmTests {
    private static let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 20

    @Test(
        "Incident HackerOne #3692149, Kratos: exactly one concurrent confirm succeeds",
        arguments: [50, 200]
    )
    func exactlyOneWins(_ callers: Int) async throws {
        // Without the time of the hashes, more confirms reach the database at once.
        try await withServer(hashing: ReadableHashing()) {
            $0.resetEmailLimit = nil
            $0.connections = ConnectionLimits(perClient: 1_024)
        } _: { server in
            try await server.register("ana@example.com")
            for round in 0..<Self.rounds {
                let link = try await server.resetLink(for: "ana@example.com")
                let outcomes = await outcomes(of: link, callers, round, at: [server.url])
                #expect(outcomes == ["success": 1, "AUTH_RESET_TOKEN_INVALID": callers - 1], "round \(round)")
                try await eventually { try await server.server.accounts.stores.intents.count() == 0 }
                try await oneUpdate(in: server.server.accounts.mailbox, round)
            }
        }
    }

    @Test("On two servers with one database, one of 50 concurrent confirms succeeds")
    func twoProcesses() async throws {
        try await withFolder { folder in
            let environment = [
                "ENVIRONMENT": "development", "LIMIT_TOKEN_IP": "off", "LIMIT_RESET_EMAIL": "off", "LIMIT_RESET_IP": "off",
                "LIMIT_RESET_GLOBAL": "off", "PASSWORD_RESET_MAX_ATTEMPTS_PER_HOUR": "10000", "LOG_LEVEL": "critical",
            ]
            try await withServing(environment: environment, options: ["--shared-data"], in: folder) { first in
                try await withServing(environment: environment, options: ["--shared-data"], in: folder) { second in
                    let body = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
                    let json = ["Content-Type: application/json"]
                    let path = "/api/auth/register"
                    let registered = try await RawHTTP.send("POST", path, to: first, headers: json, body: Array(body.utf8))
                    try #require(registered.status == 201, "\(registered.text)")
                    let mailbox = try MailboxFolder(directory: folder.appending(path: "data/mailbox"), now: { Date() })
                    for round in 0..<Self.rounds {
                        let link = try await resetLink(round % 2 == 0 ? first : second, mailbox)
                        let outcomes = await outcomes(of: link, 50, round, at: [first, second])
                        #expect(outcomes == ["success": 1, "AUTH_RESET_TOKEN_INVALID": 49], "round \(round)")
                        try await eventually { try mailbox.mails().contains { $0.subject.hasPrefix("Password updated") } }
                        try await oneUpdate(in: mailbox, round)
                    }
                }
            }
        }
    }

    /// Expects exactly one email about a change in this round, and empties the mailbox.
    private func oneUpdate(in mailbox: MailboxFolder, _ round: Int) async throws {
        let subjects = try mailbox.mails(limit: 1_000).map(\.subject)
        #expect(subjects.count { $0.hasPrefix("Password updated") } == 1, "round \(round): \(subjects)")
        for file in try FileManager.default.contentsOfDirectory(at: mailbox.directory, includingPropertiesForKeys: nil) {
            try FileManager.default.removeItem(at: file)
        }
    }

    private func resetLink(_ url: URL, _ mailbox: MailboxFolder) async throws -> ResetLink {
        let body = Array(#"{"email":"ana@example.com"}"#.utf8)
        let path = "/api/request-password-reset/"
        _ = try await RawHTTP.send("POST", path, to: url, headers: ["Content-Type: application/json"], body: body)
        try await eventually { try !mailbox.resetLinks(to: "ana@example.com").isEmpty }
        return try #require(try mailbox.resetLinks(to: "ana@example.com").first)
    }

    /// Returns the number of each outcome over all callers, who are spread evenly over the servers.
    private func outcomes(of link: ResetLink, _ callers: Int, _ round: Int, at urls: [URL]) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for number in 0..<callers {
                let url = urls[number % urls.count]
                group.addTask { await outcome(of: link, password: "password \(round) of \(number)", at: url) }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    private func outcome(of link: ResetLink, password: String, at url: URL) async -> String {
        let body = #"{"token":"\#(link.token.rawValue)","new_password":"\#(password)"}"#
        while !Task.isCancelled {
            do {
                let path = "/api/confirm-password-reset/"
                let json = ["Content-Type: application/json"]
                let response = try await RawHTTP.send("POST", path, to: url, headers: json, body: Array(body.utf8))
                // The gate refuses callers past its queue's limit. Such a caller tries again, and leaves the processor to the servers.
                guard response.status == 503 else { return response["X-Error-Code"] ?? "success" }
                try await Task.sleep(for: .milliseconds(20))
            } catch {
                return "\(error)"
            }
        }
        return "cancelled"
    }
}
