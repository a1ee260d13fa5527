import ErrorContract
import Foundation
import HoldfastTesting
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Runs `holdfast call` as a process against a server that writes its responses byte by byte.
@Suite(.timeLimit(.minutes(10))) struct CallTests {
    @Test("Waits for the delay of a 503, retries and prints each step")
    func waits() async throws {
        let steps: [LoopbackServer.Step] = [
            .response("503 X", ["Retry-After: 1", "X-Error-Code: SERVER_SERVICE_UNAVAILABLE"]),
            .response("200 OK", ["Content-Type: application/json"], body: #"{"name":"Ana"}"#),
        ]
        try await LoopbackServer.run(steps) { server, folder in
            let run = try await Binary.run(["call", "GET", server.origin + "/a?x=1"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("attempt 1: 503 SERVER_SERVICE_UNAVAILABLE after"))
            #expect(run.output.contains(/waits [34]\.\d\d\d s: the server requested a pause/))
            #expect(run.output.contains("attempt 2: 200 after"))
            #expect(run.output.contains("200, 14 bytes, application/json\n\n{\"name\":\"Ana\"}"))
            #expect(!run.output.contains("\u{1B}"), "colours are for terminals")
            #expect(server.received.map(\.head.first) == ["GET /a?x=1 HTTP/1.1", "GET /a?x=1 HTTP/1.1"])
            #expect(server.received.last?.header("X-Retry-Attempt") != nil)
        }
    }

    @Test("A 429 with a delay over the client's maximum ends the call and prints the time")
    func limited() async throws {
        let body =
            #"{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Slow down.","details":{"retry_after":3600},"request_id":"r7"}}"#
        try await LoopbackServer.run([.response("429 X", ["Retry-After: 3600"], body: body)]) { server, folder in
            let run = try await Binary.run(["call", "GET", server.origin], in: folder)
            #expect(run.status == 1)
            #expect(run.output.contains("not repeated: the server requests a longer delay than the client waits"))
            #expect(run.output.contains("429 RATE_LIMIT_EXCEEDED\n"))
            #expect(run.output.contains(/message +Slow down\./) && run.output.contains(/request id +r7/))
            #expect(run.output.contains(/retry at +\d{4}-\d\d-\d\dT[0-9:]+Z, in 3600 s/))
        }
    }

    @Test("Prints each problem with a field")
    func fields() async throws {
        let body =
            #"{"error":{"code":"VALIDATION_INVALID_INPUT","message":"Bad.","details":{"validation_errors":["#
            + #"{"field":"email","code":"VALIDATION_INVALID_EMAIL","message":"No address."},{"field":"name","message":"Empty."}]}}}"#
        try await LoopbackServer.run([.response("400 X", body: body)]) { server, folder in
            let run = try await Binary.run(["call", "POST", server.origin + "/x", "-d", #"{"a":1}"#], in: folder)
            #expect(run.status == 1)
            #expect(run.output.contains(/field +email \(VALIDATION_INVALID_EMAIL\): No address\./))
            #expect(run.output.contains(/field +name .*: Empty\./))
            #expect(server.received.first?.header("Content-Type") == "application/json")
            #expect(server.received.first?.body == Array(#"{"a":1}"#.utf8))
        }
    }

    @Test("Sends a body that is read from a pipe")
    func pipedBody() async throws {
        try await LoopbackServer.run([.response("200 OK")]) { server, folder in
            let command = #"printf %s '{"a":1}' | "$0" call POST "$1" -d @/dev/stdin"#
            let arguments = ["-c", command, try Binary.path(of: "holdfast"), server.origin]
            let run = try await Binary.run(arguments, at: "/bin/sh", in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(server.received.first?.body == Array(#"{"a":1}"#.utf8))
            #expect(server.received.first?.header("Content-Type") == "application/json")
        }
    }

    @Test("A refused connection ends with exit code 2")
    func refused() async throws {
        try await withFolder { folder in
            let address = "http://127.0.0.1:\(try freePort())"
            let run = try await Binary.run(["call", "GET", address, "--retries", "0"], in: folder)
            #expect(run.status == 2)
            #expect(run.output.contains("NETWORK_ERROR") && run.output.contains(/cause +unreachable/))
        }
    }

    @Test("Sends a POST without a key once and reports an unknown outcome if it is lost")
    func unknown() async throws {
        try await LoopbackServer.run([.reset(""), .reset("")]) { server, folder in
            let run = try await Binary.run(["call", "POST", server.origin + "/orders", "-d", "x"], in: folder)
            #expect(run.status == 3)
            #expect(run.output.contains("UNKNOWN_OUTCOME") && run.output.contains("repeating it is not safe without --key"))
            #expect(server.received.count == 1)
        }
    }

    @Test("Retries a POST with a key under the same key")
    func keyed() async throws {
        try await LoopbackServer.run([.response("502 X"), .response("201 X")]) { server, folder in
            let arguments = ["call", "POST", server.origin + "/orders", "-d", "x", "--key", "random"]
            let run = try await Binary.run(arguments, in: folder)
            #expect(run.status == 0, "\(run.output)")
            let keys = server.received.map { $0.header("Idempotency-Key") }
            #expect(keys.count == 2 && keys[0] == keys[1] && keys[0]?.count == 34)
        }
    }

    @Test("Sends the token and never prints it, not even if the server echoes it", arguments: [[], ["--json"]])
    func token(flags: [String]) async throws {
        let token = "secret-token-123"
        let body = #"{"error":{"code":"API_KEY_INVALID","message":"No \#(token) here."}}"#
        try await LoopbackServer.run([.response("401 X", body: body)]) { server, folder in
            let run = try await Binary.run(
                ["call", "GET", server.origin] + flags,
                environment: ["HOLDFAST_TOKEN": token],
                in: folder
            )
            #expect(run.status == 1)
            #expect(server.received.first?.header("Authorization") == "Bearer \(token)")
            #expect(run.output.contains("No [token] here."))
            #expect(!run.output.contains(token) && !run.errors.contains(token))
        }
    }

    @Test("JSON contains the events and the result")
    func json() async throws {
        try await LoopbackServer.run([.response("404 X", body: #"{"detail":"Not found."}"#)]) { server, folder in
            let run = try await Binary.run(["call", "GET", server.origin, "--json", "-H", "Accept: text/x"], in: folder)
            #expect(run.status == 1)
            let object = try #require(try JSONParser().parse(run.output.utf8.dropLast()).objectValue)
            let events = try #require(object["events"]?.arrayValue).compactMap { $0.objectValue?["event"]?.stringValue }
            #expect(events == ["attempt_started", "attempt_finished", "gave_up"])
            let error = try #require(object["error"]?.objectValue)
            #expect(error["status"] == 404 && error["message"] == "Not found." && error["kind"] == "notFound")
            #expect(server.received.first?.header("Accept") == "text/x")
        }
    }

    @Test("Colors only a terminal's output, and prints the token nowhere")
    func style() {
        let (colored, plain) = (TextStyle(isColored: true, secret: "abc"), TextStyle(isColored: false, secret: nil))
        #expect(colored.good("200") == "\u{1B}[32m200\u{1B}[0m" && plain.bad("500") == "500")
        #expect(colored.redacted("1 abc 2 abc") == "1 [token] 2 [token]" && plain.redacted("abc") == "abc")
    }

    @Test("A server's text can't send control sequences to the terminal")
    func control() async throws {
        let body = "{\"error\":{\"code\":\"RESOURCE_NOT_FOUND\",\"message\":\"a\\u001b[31mb\"}}"
        let steps: [LoopbackServer.Step] = [.response("404 X", body: body), .response("200 OK", body: "a\u{1B}[2J")]
        try await LoopbackServer.run(steps) { server, folder in
            for _ in 0..<2 {
                let run = try await Binary.run(["call", "GET", server.origin], in: folder)
                #expect(!run.output.contains("\u{1B}"))
            }
        }
    }

    @Test(
        "Refuses an invalid request with exit code 64 and a hint",
        arguments: [
            ["GET", "nonsense"], ["GET", "ftp://127.0.0.1/"], ["GET", "http://"], ["GET", "http://127.0.0.1:99999/"],
            ["GET", ""],
            ["GET", "http://user:pass@127.0.0.1/"], ["BREW", "http://127.0.0.1/"], ["GET"], [],
            ["GET", "http://127.0.0.1/", "-H", "no colon"], ["GET", "http://127.0.0.1/", "--timeout", "-1"],
            ["GET", "http://127.0.0.1/", "--timeout", "nan"], ["GET", "http://127.0.0.1/", "--retries", "101"],
            ["POST", "http://127.0.0.1/", "--key", "a\"b"], ["POST", "http://127.0.0.1/", "-d", "@missing-file"],
            ["GET", "http://127.0.0.1/", "--token", "a b"],
        ]
    )
    func garbage(arguments: [String]) async throws {
        try await withFolder { folder in
            let run = try await Binary.run(["call"] + arguments, in: folder)
            #expect(run.status == 64, "\(run.output)")
            #expect(run.errors.contains("Error:") && run.errors.contains("call"))
        }
    }
}
