import HTTPTypes
import HoldfastTesting
import HoldfastURLSession
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(10))) struct URLSessionTransportTests {
    // snippet: client-transport-checks
    @Test("The transport passes every check", arguments: TransportCheck.all)
    func passes(_ check: TransportCheck) async throws {
        try await check.run(URLSessionTransport())
    }
    // snippet end

    @Test("A redirect is the answer if redirects are not followed")
    func unfollowed() async throws {
        try await withServer(answer("302 X", ["Location: /b"]), answer("200 OK")) { server in
            let transport = URLSessionTransport(followsRedirects: false)
            let (response, _) = try await transport.send(server.request(), body: nil, timeout: .seconds(300))
            #expect(response.status.code == 302 && response.headerFields[.location] == "/b")
            #expect(server.received.count == 1)
        }
    }

    @Test("Joins the values of a repeated request header")
    func repeated() async throws {
        try await withServer(answer("204 X")) { server in
            var request = server.request(headers: [.accept: "application/json"])
            for (name, value) in [("X-One", "a"), ("x-one", "b"), ("Cookie", "c=1"), ("Cookie", "d=2")] {
                request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
            }
            _ = try await URLSessionTransport().send(request, body: nil, timeout: .seconds(300))
            let received = try #require(server.received.first)
            #expect(received.header("X-One") == "a, b")
            #expect(received.header("Cookie") == "c=1; d=2")
            #expect(received.header("Accept") == "application/json")
        }
    }

    @Test("The transport is made in a word")
    func factory() async throws {
        func make(_ transport: some HTTPTransport) -> any HTTPTransport { transport }
        try await withServer(answer("204 X")) { server in
            let (response, _) = try await make(.urlSession()).send(server.request(), body: nil, timeout: .seconds(300))
            #expect(response.status.code == 204)
        }
    }
}
