import HTTPTypes
import HoldfastURLSession
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(1))) struct RedirectTests {
    private let transport = URLSessionTransport()

    @Test(
        "A GET follows a redirect to the same origin, with its authorization",
        arguments: ["301 X", "302 X", "303 X", "307 X", "308 X"]
    )
    func sameOrigin(status: String) async throws {
        try await withServer(answer(status, ["Location: /b?x=1"]), answer("200 OK", body: "b")) { server in
            let request = server.request(headers: [.authorization: "Bearer t", .accept: "application/json"])
            let (response, body) = try await transport.send(request, body: nil, timeout: .seconds(20))
            #expect(response.status.code == 200)
            #expect(try await body.collect(upTo: 9).bytes == Array("b".utf8))
            #expect(server.received.map(\.head.first) == ["GET /a HTTP/1.1", "GET /b?x=1 HTTP/1.1"])
            #expect(server.received.last?.header("Authorization") == "Bearer t")
            #expect(server.received.last?.header("Accept") == "application/json")
        }
    }

    @Test("A redirect to another origin carries no authorization", arguments: ["301 X", "302 X", "307 X", "308 X"])
    func otherOrigin(status: String) async throws {
        try await withServer(answer("200 OK", body: "other")) { other in
            try await withServer(answer(status, ["Location: \(other.origin)/c"])) { server in
                let request = server.request(headers: [.authorization: "Bearer t"])
                let (response, _) = try await transport.send(request, body: nil, timeout: .seconds(20))
                #expect(response.status.code == 200)
                #expect(server.received.first?.header("Authorization") == "Bearer t")
                #expect(other.received.first?.head.first == "GET /c HTTP/1.1")
                #expect(other.received.first?.header("Authorization") == nil)
            }
        }
    }

    @Test(
        "A redirect of a POST is not followed: the answer is the redirect",
        arguments: ["301 X", "302 X", "303 X", "307 X", "308 X"]
    )
    func post(status: String) async throws {
        try await withServer(answer("200 OK")) { other in
            try await withServer(answer(status, ["Location: \(other.origin)/c"], body: "moved")) { server in
                let body = RequestBody(Array("secret".utf8), contentType: "text/plain")
                let request = server.request(method: .post, headers: [.contentType: "text/plain"])
                let (response, answer) = try await transport.send(request, body: body, timeout: .seconds(20))
                #expect("\(response.status.code) X" == status)
                #expect(response.headerFields[.location] == "\(other.origin)/c")
                _ = try await answer.collect(upTo: 100)
                #expect(server.received.count == 1 && other.received.isEmpty)
            }
        }
    }

    @Test("A redirect that leads nowhere is an answer", arguments: [[], ["Location: "]])
    func noLocation(lines: [String]) async throws {
        try await withServer(answer("302 X", lines)) { server in
            let (response, _) = try await transport.send(server.request(), body: nil, timeout: .seconds(20))
            #expect(response.status.code == 302)
        }
    }
}
