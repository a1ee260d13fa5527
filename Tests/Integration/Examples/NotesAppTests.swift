import AccountServer
import ErrorContract
import Foundation
import HoldfastTesting
import ServerMiddleware
import StrictJSON
import TestSupport
import Testing

@testable import holdfast_notes_app

/// Runs the app on a free port for the duration of a closure.
func withNotes(
    clock: ManualClock = ManualClock(),
    log: CapturedLog = CapturedLog(),
    _ body: (URL) async throws -> Void
) async throws {
    let deadline = RequestDeadline(.seconds(30), clock: clock)
    try await withFolder { folder in
        var accounts = AccountServerConfiguration(dataFolder: folder.appending(path: "data"))
        accounts.environment = .development
        let configuration = accounts
        try await withApplication(log: log) { logger, listening in
            try await makeApplication(
                port: 0,
                deadline: deadline,
                accounts: configuration,
                logger: logger,
                onListening: listening
            )
        } _: { url in
            try await body(url)
        }
    }
}

@Suite struct NotesAppTests {
    private func post(_ json: String, to url: URL, headers: [String] = []) async throws -> RawHTTP.Answer {
        let headers = ["Content-Type: application/json"] + headers
        return try await RawHTTP.send("POST", "/notes", to: url, headers: headers, body: Array(json.utf8))
    }

    @Test("The app defines its successful responses")
    func success() async throws {
        try await withNotes { url in
            let note = #"{"title":"Shopping","items":[{"text":"Milk","due":"2026-11-21T10:30:00Z","tags":["food"]}]}"#
            let created = try await post(note, to: url)
            #expect(created.status == 201)
            #expect(try created.json()["id"] == 2)
            let read = try await RawHTTP.send("GET", "/notes/2", to: url)
            #expect(try read.json()["items.0.text"] == "Milk")
            #expect(read["X-Error-Code"] == nil && read["X-Request-Id"] != nil)
        }
    }

    @Test("Only the signed-in owner can read a note")
    func ownNotes() async throws {
        try await withNotes { url in
            let json = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
            let registered = try await RawHTTP.send(
                "POST",
                "/api/auth/register",
                to: url,
                headers: ["Content-Type: application/json"],
                body: Array(json.utf8)
            )
            #expect(registered.status == 201)
            let authorization = "Authorization: Bearer \(try registered.json()["access_token"]?.stringValue ?? "")"
            #expect(try await post(#"{"title":"Diary","items":[]}"#, to: url, headers: [authorization]).status == 201)
            let own = try await RawHTTP.send("GET", "/notes/mine", to: url, headers: [authorization])
            #expect(own.status == 200 && own.text.contains("Diary"))
            #expect(try await RawHTTP.send("GET", "/notes/2", to: url, headers: [authorization]).status == 200)
            let foreign = try await RawHTTP.send("GET", "/notes/2", to: url)
            #expect(foreign.status == 404 && foreign["X-Error-Code"] == "RESOURCE_NOT_FOUND")
            let anonymous = try await RawHTTP.send("GET", "/notes/mine", to: url)
            #expect(anonymous.status == 401 && anonymous["X-Error-Code"] == "AUTH_TOKEN_MISSING")
        }
    }

    @Test("Adds a note once if it is sent twice with one key")
    func repeated() async throws {
        try await withNotes { url in
            let note = #"{"title":"Shopping","items":[]}"#
            let first = try await post(note, to: url, headers: [#"Idempotency-Key: "a""#])
            let again = try await post(note, to: url, headers: ["Idempotency-Key: a"])
            #expect(first.status == 201 && again.status == 201 && again.body == first.body)
            #expect(first["Idempotency-Replayed"] == nil && again["Idempotency-Replayed"] == "true")
            let other = try await post(#"{"title":"Errands","items":[]}"#, to: url, headers: ["Idempotency-Key: a"])
            #expect(other.status == 422 && other["X-Error-Code"] == "REQUEST_KEY_REUSED")
            let next = try await post(note, to: url, headers: ["Idempotency-Key: b"])
            #expect(try next.json()["id"] == 3)
        }
    }

    @Test("An unknown path is 404, and a wrong method 405 with the allowed methods")
    func routes() async throws {
        try await withNotes { url in
            let unknown = try await RawHTTP.send("GET", "/nothing", to: url)
            #expect(unknown.status == 404 && unknown["X-Error-Code"] == "RESOURCE_NOT_FOUND")
            let wrong = try await RawHTTP.send("PUT", "/notes/7", to: url)
            #expect(wrong.status == 405 && wrong["X-Error-Code"] == "REQUEST_METHOD_NOT_ALLOWED")
            #expect(wrong["Allow"] == "DELETE, GET, HEAD")
            let head = try await RawHTTP.send("HEAD", "/nothing", to: url)
            #expect(head.status == 404 && head.body.isEmpty && head["X-Error-Code"] == "RESOURCE_NOT_FOUND")
        }
    }

    @Test("Reports all problems of a nested body at once without code in the route")
    func nestedBody() async throws {
        try await withNotes { url in
            let note = #"{"title":"","items":[{"text":7,"due":"tomorrow","tags":["a",""]},"x",{"text":"ok","tags":{}}]}"#
            let answer = try await post(note, to: url, headers: ["Accept-Language: es"])
            #expect(answer.status == 400)
            #expect(answer["Content-Language"] == "es")
            let problems = try answer.json()["error.details.validation_errors"]?.arrayValue ?? []
            let told = problems.compactMap(\.objectValue).map { item in
                "\(item["field"]?.stringValue ?? "") \(item["pointer"]?.stringValue ?? "") \(item["code"]?.stringValue ?? "")"
            }
            #expect(
                Set(told) == [
                    "title #/title VALIDATION_MISSING_FIELD", "items[0].text #/items/0/text VALIDATION_INVALID_FORMAT",
                    "items[0].due #/items/0/due VALIDATION_INVALID_DATE",
                    "items[0].tags[1] #/items/0/tags/1 VALIDATION_MISSING_FIELD",
                    "items[1] #/items/1 VALIDATION_INVALID_FORMAT", "items[2].tags #/items/2/tags VALIDATION_INVALID_FORMAT",
                ]
            )
            #expect(try answer.json()["error.code"] == "VALIDATION_INVALID_INPUT")
            #expect(!answer.text.contains("tomorrow"))
        }
    }

    @Test("The app's own code has its status and texts, and the client decodes it", arguments: ["en", "es"])
    func ownCode(language: String) async throws {
        try await withNotes { url in
            for accept in ["application/json", "application/problem+json"] {
                let headers = ["Accept-Language: \(language)", "Accept: \(accept)"]
                let answer = try await RawHTTP.send("DELETE", "/notes/1", to: url, headers: headers)
                #expect(answer.status == 423)
                let error = answer.decoded
                #expect(error.code == .noteLocked)
                #expect(error.message == ErrorDefinition.noteLocked.message.text(in: Language(language)))
                #expect(error.details == ["note": 1])
                #expect(error.requestID == answer["X-Request-Id"])
            }
        }
    }

    @Test("Hides a system error from the client and logs only its type")
    func foreignError() async throws {
        let log = CapturedLog()
        try await withNotes(log: log) { url in
            let answer = try await RawHTTP.send("GET", "/notes/archive", to: url)
            #expect(answer.status == 500 && answer["X-Error-Code"] == "SERVER_INTERNAL_ERROR")
            for leak in ["srv", "archive", "ana", "Cocoa", "file"] { #expect(!answer.text.contains(leak)) }
        }
        #expect(log.text.contains("Request failed"))
        #expect(!log.text.contains("archive-of-ana"))
    }

    @Test("A hanging route gets a 504, and the connection ends")
    func hanging() async throws {
        let clock = ManualClock()
        try await withNotes(clock: clock) { url in
            async let pending = RawHTTP.send("GET", "/notes/2/translation", to: url)
            await clock.waitForSleepers()
            clock.advance(by: .seconds(30))
            let answer = try await pending
            #expect(answer.status == 504 && answer["X-Error-Code"] == "SERVER_TIMEOUT")
            #expect(answer["Connection"] == "close")
        }
    }

    @Test("Bytes that are not HTTP get a contract error")
    func garbage() async throws {
        try await withNotes { url in
            let answer = try await RawHTTP.exchange(Array("HELLO\r\n\r\n".utf8), with: url)
            #expect(answer.status == 400 && answer["X-Error-Code"] == "REQUEST_MALFORMED")
        }
    }

    @Test("The app runs as a command and prints its address")
    func command() async throws {
        try await withFolder { folder in
            let help = try await Binary.run(["--help"], of: "holdfast-notes-app", in: folder)
            #expect(help.status == 0 && help.output.contains("504"))
            let usage = try await Binary.run(["--port", "70000"], of: "holdfast-notes-app", in: folder)
            #expect(usage.status == 64)
        }
    }
}
