import AccountContract
import AccountKit
import ErrorContract
import Foundation
import GRDB
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(10))) struct ServerLogTests {
    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

    /// Returns the lines that `serve` logs during a closure.
    private func log(_ environment: [String: String], in folder: URL, _ body: (URL) async throws -> Void) async throws -> [String]
    {
        let process = try Binary.make(
            ["serve", "--port", "0"],
            environment: ["ENVIRONMENT": "development"].merging(environment) { $1 },
            in: folder
        )
        let file = folder.appending(path: "log")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let output = Pipe.make()
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: file)
        try process.start()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        var first: String?
        for await line in output.fileHandleForReading.lines {
            first = first ?? line
            if line.contains("Stop with") { break }
        }
        try await body(try #require(first.flatMap(URL.init(string:))))
        kill(process.processIdentifier, SIGTERM)
        #expect(await process.ended() == 0)
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { String($0) }
    }

    @Test(
        "A database failure is logged with its cause and request id, but not in responses",
        .readsDatabaseFile
    )
    func databaseFailure() async throws {
        try await withServer { server in
            let database = try DatabaseQueue(beside: server.server)
            try await database.write { try $0.execute(sql: "ALTER TABLE account RENAME TO lost") }
            let response = try await server.login("ana@example.com", "correct horse battery")
            #expect(response.status == 500 && response["X-Error-Code"] == "SERVER_DATABASE_ERROR")
            #expect(!response.text.contains("SQLite"))
            let line = try #require(server.log.text.split(separator: "\n").first { $0.contains("Request failed") })
            #expect(line.contains("SQLite error 1 (") && line.contains("SERVER_DATABASE_ERROR") && line.contains("StoreFailure"))
            #expect(!line.contains("ana@"))
        }
    }

    @Test(
        "The story at LOG_LEVEL=trace logs no address, token, password or link",
        arguments: ["json", "text"]
    )
    func story(format: String) async throws {
        try await withFolder { folder in
            var secrets = [
                "ana@example.com", "ana%40example.com", "correct horse battery", "another horse battery", "nobody@example.com",
            ]
            var id = ""
            let lines = try await log(["LOG_LEVEL": "trace", "LOG_FORMAT": format], in: folder) { url in
                let (account, tokens) = try await story(at: url)
                id = account
                secrets += tokens
            }
            #expect(secrets.count > 7)
            let all = lines.joined(separator: "\n")
            #expect(all.contains("Email delivered") && all.contains("/api/auth/login"))
            for secret in secrets { #expect(!all.contains(secret), "\(secret)") }
            let events = lines.filter { $0.contains("Account event") }
            for kind in ["registered", "reset_link_sent", "password_reset", "sign_in_failed", "signed_in"] {
                #expect(events.contains { $0.contains(kind) && $0.contains(id) && $0.contains("request_id") }, "\(kind)")
            }
            guard format == "json" else { return }
            for line in lines {
                let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
                for key in ["time", "level", "message", "label"] { #expect(object[key] is String, "\(line)") }
            }
        }
    }

    /// Registers, resets, confirms, signs in, and sends unusual paths.
    /// - Returns: The account's id, and every token that occurred.
    private func story(at url: URL) async throws -> (account: String, tokens: [String]) {
        func post(_ path: String, _ json: String) async throws -> RawHTTP.Answer {
            try await RawHTTP.send("POST", path, to: url, headers: ["Content-Type: application/json"], body: Array(json.utf8))
        }
        _ = try await post(
            AccountPath.register,
            #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
        )
        for email in ["ana@example.com", "nobody@example.com"] {
            _ = try await post(AccountPath.requestPasswordReset, #"{"email":"\#(email)"}"#)
        }
        var link: ResetLink?
        try await eventually {
            let response = try await RawHTTP.send("GET", "/dev/mailbox", to: url, headers: ["Accept: application/json"])
            let links = try response.json()["messages"]?.arrayValue?.compactMap { $0.objectValue?["link"]?.stringValue }
            link = links?.compactMap { URL(string: $0) }.compactMap { try? ResetLink($0, hosts: ["127.0.0.1"]) }.first
            return link != nil
        }
        let token = try #require(link).token.rawValue
        _ = try await RawHTTP.send("GET", "/reset-password?token=\(token)&email=ana%40example.com", to: url)
        _ = try await RawHTTP.send("GET", "/odd/\(token)/ana@example.com?token=\(token)", to: url)
        _ = try await post(AccountPath.validateResetToken, #"{"token":"\#(token)"}"#)
        _ = try await post(AccountPath.confirmPasswordReset, #"{"token":"\#(token)","new_password":"another horse battery"}"#)
        _ = try await post(AccountPath.login, #"{"email":"ana@example.com","password":"correct horse battery"}"#)
        let opened = try await post(AccountPath.login, #"{"email":"ana@example.com","password":"another horse battery"}"#).json()
        let access = try #require(opened["access_token"]?.stringValue)
        let refresh = try #require(opened["refresh_token"]?.stringValue)
        _ = try await RawHTTP.send("GET", AccountPath.me, to: url, headers: ["Authorization: Bearer \(access)"])
        _ = try await RawHTTP.send("GET", AccountPath.me, to: url, headers: ["Authorization: Bearer \(refresh)"])
        return (try #require(opened["user.id"]?.stringValue), [token, access, refresh])
    }

    @Test("Each request is one info line with route, status, time, id and trace")
    func access() async throws {
        try await withServer { server in
            let traceparent = "00-\(Self.traceID)-00f067aa0ba902b7-01"
            let response = try await RawHTTP.send(
                "POST",
                "/api/auth/login?secret=1",
                to: server.url,
                headers: ["Content-Type: application/json", "X-Request-Id: r-1", "traceparent: \(traceparent)"],
                body: Array(#"{"email":"ana@example.com","password":"wrong"}"#.utf8)
            )
            #expect(response["traceresponse"]?.hasPrefix("00-\(Self.traceID)-") == true)
            #expect(response["traceresponse"] != traceparent)
            let lines = server.log.text.split(separator: "\n").filter { $0.hasPrefix("info Request ") }
            #expect(lines.count == 1)
            let line = String(try #require(lines.first))
            for part in ["/api/auth/login\"", "\"401\"", "r-1", Self.traceID, "http.ms"]
            where !line.contains(part.replacing("\"", with: "")) {
                Issue.record("\(part) is not in \(line)")
            }
            #expect(!line.contains("secret"))
        }
    }

    @Test(
        "Ignores an invalid or duplicate traceparent and starts a trace",
        arguments: [["garbage"], ["00-x-y-01"], [good, good]]
    )
    func garbage(values: [String]) async throws {
        try await withServer { server in
            let response = try await RawHTTP.send("GET", "/docs", to: server.url, headers: values.map { "traceparent: \($0)" })
            #expect(response.status == 200)
            #expect(response["traceresponse"] == nil)
            #expect(!server.log.text.contains(Self.traceID))
            #expect(server.log.text.contains("trace_id"))
        }
    }

    private static let good = "00-\(traceID)-00f067aa0ba902b7-01"

    @Test("Does not log successful health checks and metrics requests at info")
    func quiet() async throws {
        try await withServer { server in
            for path in ["/health/live", "/health/ready", "/metrics"] {
                let response = try await RawHTTP.send("GET", path, to: server.url)
                #expect(response.status == 200)
            }
            #expect(!server.log.text.contains("info Request "))
        }
    }
}
