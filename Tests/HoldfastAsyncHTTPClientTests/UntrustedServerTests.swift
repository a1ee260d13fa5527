import ErrorContract
import HTTPTypes
import HoldfastAsyncHTTPClient
import HoldfastURLSession
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(10))) struct UntrustedServerTests {
    @Test(
        "An untrusted server certificate gets no request and no retry",
        arguments: [AsyncHTTPClientTransport(), URLSessionTransport()] as [any HTTPTransport]
    )
    func untrusted(transport: any HTTPTransport) async throws {
        let server = try await UntrustedServer()
        let request = HTTPRequest(
            method: .post,
            scheme: "https",
            authority: "127.0.0.1:\(server.port)",
            path: "/a",
            headerFields: [.authorization: "Bearer t"]
        )
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(request, body: nil, timeout: .seconds(300))
        }
        #expect(error?.code == .untrusted, "\(error.map { "\($0)" } ?? "")")
        #expect(error?.wasSent == false)
        #expect(error.map { $0.apiError(context: nil).isRetryable } == false)
        #expect(server.requestCount == 0)
        try await server.close()
    }
}
