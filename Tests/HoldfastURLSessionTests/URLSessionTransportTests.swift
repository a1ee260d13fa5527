import HTTPTypes
import HoldfastTesting
import HoldfastURLSession
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(10))) struct URLSessionTransportTests {
    @Test("URLSession passes every check of a transport", arguments: TransportCheck.all)
    func passes(_ check: TransportCheck) async throws {
        try await check.run(URLSessionTransport())
    }

    @Test("A redirect is the answer if redirects are not followed")
    func unfollowed() async throws {
        try await withServer(answer("302 X", ["Location: /b"]), answer("200 OK")) { server in
            let transport = URLSessionTransport(followsRedirects: false)
            let (response, _) = try await transport.send(server.request(), body: nil, timeout: .seconds(300))
            #expect(response.status.code == 302 && response.headerFields[.location] == "/b")
            #expect(server.received.count == 1)
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
