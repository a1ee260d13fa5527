import ErrorContract
import ErrorLabContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct LabReadingTests {
    private func read(_ server: TestServer, _ json: String, language: String = "en") async throws -> JSONBody {
        try await server.post("/dev/lab/read", json, headers: ["Accept-Language: \(language)"]).json()
    }

    @Test("Describes the facts of a response, the client's reaction and the user's text")
    func reading() async throws {
        try await withServer { server in
            let json =
                #"{"status":429,"headers":{"Retry-After":"3","X-Request-Id":"r-1"},"body":"{\"message\":\"Too Many Attempts.\"}"}"#
            let read = try await read(server, json, language: "es")
            #expect(read["family"] == "laravel-throttle")
            #expect(read["kind"] == "rateLimited")
            #expect(read["retry"] == "after_delay")
            #expect(read["retry_after"] == 3)
            #expect(read["request_id"] == "r-1")
            #expect(read["title"] == "Demasiados intentos")
            #expect(read["primary"] == "Reintentar")
            #expect(read["advice"]?.stringValue?.hasPrefix("Waits for the server's delay") == true)
        }
    }

    @Test("Reads a success, a refusal under 200 and a body that is not text")
    func others() async throws {
        try await withServer { server in
            let success = try await read(server, #"{"status":200,"body":"{}"}"#)
            #expect(success["outcome"] == "success")
            let refusal = try await read(server, #"{"status":200,"body":"{\"ok\":false,\"error\":\"ratelimited\"}"}"#)
            #expect(refusal["status"] == 429)
            let bytes = Data([0xFF, 0xFE, 0x7B]).base64EncodedString()
            let unreadable = try await read(server, #"{"status":500,"body_base64":"\#(bytes)"}"#)
            #expect(unreadable["family"] == "unreadable")
            let page = try await read(server, #"{"status":200,"body":"<html>"}"#)
            #expect(page["kind"] == "notAPI")
        }
    }

    @Test(
        "Refuses a response that can't exist",
        arguments: [
            #"{"status":42}"#, #"{"status":600}"#, #"{"body":"x"}"#, #"{"status":"200"}"#, "[]",
            #"{"status":500,"body_base64":"*"}"#,
            #"{"status":500,"headers":{"A":5}}"#,
        ]
    )
    func refused(json: String) async throws {
        try await withServer { server in
            let response = try await server.post("/dev/lab/read", json)
            #expect(response.status == 400)
            #expect(response["X-Error-Code"]?.hasPrefix("VALIDATION_") == true)
        }
    }

    @Test("Omits invalid headers")
    func oddHeaders() async throws {
        try await withServer { server in
            let json =
                #"{"status":429,"headers":{"":"x","a b":"y","Retry-After":"3\r\nX: y","X-Error-Code":"RATE_LIMIT_EXCEEDED"}}"#
            let read = try await read(server, json)
            #expect(read["code"] == "RATE_LIMIT_EXCEEDED")
            #expect(read["retry_after"] == nil)
        }
    }

    @Test("Reads the body of each family as that family")
    func families() async throws {
        try await LabServer.run { server in
            for family in LabFamily.all {
                let response = try await server.get("/answer?family=\(family.name)")
                let read = try await RawHTTP.send(
                    "POST",
                    "\(LabServer.root)/read",
                    to: server.url,
                    headers: ["Content-Type: application/json"],
                    body: received(response).encoded()
                ).json()
                #expect(read["family"]?.stringValue == family.name)
            }
        }
    }

    /// Returns a response in the form in which a client sends it to the lab.
    private func received(_ response: RawHTTP.Answer) -> JSONValue {
        var headers: JSONObject = [:]
        for line in response.headerLines {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.count == 2 { headers[parts[0]] = .string(parts[1]) }
        }
        return ["status": .integer(Int64(response.status)), "headers": .object(headers), "body": .string(response.text)]
    }
}
