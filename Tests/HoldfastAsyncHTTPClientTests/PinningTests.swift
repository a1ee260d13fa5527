import AsyncHTTPClient
import HTTPTypes
import HoldfastAsyncHTTPClient
import NIOSSL
import ResilientHTTP
import Testing

@Suite("Pinning over AsyncHTTPClient", .timeLimit(.minutes(10))) struct PinningTests {
    @Test("Trusts a pinned certificate without a trusted issuer")
    func pinned() async throws {
        let server = try await UntrustedServer()
        let pem = UntrustedServer.certificate
        // snippet: task-pinning-server
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem)])
        configuration.tlsConfiguration = tls
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        // snippet end
        let request = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/a")
        let (response, _) = try await transport.send(request, body: nil, timeout: .seconds(300))
        #expect(response.status == .ok && server.requestCount == 1)
        try await server.close()
    }
}
