import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite struct ScriptedTransportTests {
    private func request(_ path: String) -> HTTPRequest {
        HTTPRequest(method: .post, scheme: "https", authority: "api.example.org", path: path)
    }

    @Test("Returns the steps in order and stores the requests")
    func order() async throws {
        let transport = ScriptedTransport([
            .response(status: 201, headers: [.date: "now"], body: "one"), .response(status: 204),
        ])
        let body = RequestBody([1, 2], contentType: "text/plain")
        let (response, responseBody) = try await transport.send(request("/a"), body: body, timeout: .seconds(1))
        #expect(response.status.code == 201)
        #expect(response.headerFields[.date] == "now")
        #expect(try await responseBody.collect(upTo: 100).bytes == Array("one".utf8))
        let (second, _) = try await transport.send(request("/b"), body: nil, timeout: .seconds(1))
        #expect(second.status.code == 204)
        #expect(transport.sent.map(\.request.path) == ["/a", "/b"])
        #expect(transport.sent.map(\.body) == [[1, 2], nil])
    }

    @Test("Throws a failure as written in the script")
    func failure() async {
        let transport = ScriptedTransport([.failure(TransportError(.noInternet, message: "off", wasSent: false))])
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(request("/"), body: nil, timeout: .seconds(1))
        }
        #expect(error?.code == .noInternet)
        #expect(error?.description == "noInternet: off")
        #expect(transport.sent.count == 1)
    }

    @Test("A script without remaining steps fails and reports that nothing was sent")
    func exhausted() async {
        let transport = ScriptedTransport([])
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(request("/"), body: nil, timeout: .seconds(1))
        }
        #expect(error?.code == .other)
        #expect(error?.wasSent == false)
    }
}
