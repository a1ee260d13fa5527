import HTTPTypes
import HoldfastTesting
import HoldfastURLSession
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(10))) struct URLSessionTransportTests {
    private let transport = URLSessionTransport()

    @Test("A GET arrives with its path and headers, and its answer comes back with status, headers and body")
    func get() async throws {
        let body = #"{"name":"ñ"}"#
        let json = answer("200 OK", ["Content-Type: application/json", "X-Request-Id: r1", "x-lower: a, b"], body: body)
        try await withServer(json) { server in
            let request = server.request("/a/b?x=1&y=a%20b%2Fc", headers: [.accept: "application/json", .acceptLanguage: "es"])
            let (response, body) = try await transport.send(request, body: nil, timeout: .seconds(20))
            #expect(response.status.code == 200)
            #expect(response.headerFields[.contentType] == "application/json")
            let (id, lower) = (try #require(HTTPField.Name("X-Request-ID")), try #require(HTTPField.Name("X-Lower")))
            #expect(response.headerFields[values: id] == ["r1"] && response.headerFields[lower] == "a, b")
            #expect(try await body.collect(upTo: 100).bytes == Array(#"{"name":"ñ"}"#.utf8))
            let received = try #require(server.received.first)
            #expect(received.head.first == "GET /a/b?x=1&y=a%20b%2Fc HTTP/1.1")
            #expect(received.header("Host") == "127.0.0.1:\(server.port)")
            #expect(received.header("Accept") == "application/json" && received.header("Accept-Language") == "es")
            #expect(received.body.isEmpty)
        }
    }

    @Test("The bytes of a POST arrive as they are")
    func post() async throws {
        try await withServer(answer("201 Created")) { server in
            let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
            let request = server.request(method: .post, headers: [.contentType: "application/octet-stream"])
            let body = RequestBody(bytes, contentType: "application/octet-stream")
            let (response, _) = try await transport.send(request, body: body, timeout: .seconds(20))
            #expect(response.status.code == 201)
            let received = try #require(server.received.first)
            #expect(received.head.first == "POST /a HTTP/1.1")
            #expect(received.header("Content-Type") == "application/octet-stream")
            #expect(received.header("Content-Length") == "70000")
            #expect(received.body == bytes)
        }
    }

    @Test(
        "Any method and any status is an answer",
        arguments: [("PUT", 204), ("DELETE", 404), ("PATCH", 429), ("GET", 503), ("HEAD", 200)]
    )
    func statuses(name: String, status: Int) async throws {
        try await withServer(answer("\(status) X", ["Retry-After: 30"])) { server in
            let method = try #require(HTTPRequest.Method(name))
            let (response, body) = try await transport.send(server.request(method: method), body: nil, timeout: .seconds(20))
            #expect(response.status.code == status)
            #expect(response.headerFields[.retryAfter] == "30")
            #expect(try await body.collect(upTo: 100).bytes.isEmpty)
            #expect(server.received.first?.head.first == "\(name) /a HTTP/1.1")
        }
    }

    @Test("A header that comes twice keeps both values")
    func repeated() async throws {
        try await withServer(answer("429 X", ["Retry-After: 5", "Retry-After: 30"])) { server in
            let (response, _) = try await transport.send(server.request(), body: nil, timeout: .seconds(20))
            #expect(response.headerFields[values: .retryAfter].joined(separator: ", ") == "5, 30")
        }
    }

    @Test("A body in chunks comes back whole, however large")
    func chunks() async throws {
        let chunk = String(repeating: "x", count: 0x8000)
        let chunked = String(repeating: "8000\r\n\(chunk)\r\n", count: 40) + "0\r\n\r\n"
        try await withServer(.answer(head("200 OK", ["Transfer-Encoding: chunked"]) + chunked)) { server in
            let (_, body) = try await transport.send(server.request(), body: nil, timeout: .seconds(20))
            let collected = try await body.collect(upTo: .max)
            #expect(collected.bytes.count == 40 * 0x8000 && collected.bytes.allSatisfy { $0 == UInt8(ascii: "x") })
        }
    }

    @Test("No cookie is kept")
    func cookies() async throws {
        try await withServer(answer("200 OK", ["Set-Cookie: session=1; Path=/"]), answer("200 OK")) { server in
            for _ in 0..<2 {
                let (_, body) = try await transport.send(server.request(), body: nil, timeout: .seconds(20))
                _ = try await body.collect(upTo: 100)
            }
            #expect(server.received.map { $0.header("Cookie") } == [nil, nil])
        }
    }

    @Test("Two calls at once get each its own answer")
    func concurrent() async throws {
        try await withServer(answer("200 OK", body: "one")) { first in
            try await withServer(answer("200 OK", body: "two")) { second in
                async let one = transport.send(first.request(), body: nil, timeout: .seconds(20)).1.collect(upTo: 9)
                async let two = transport.send(second.request(), body: nil, timeout: .seconds(20)).1.collect(upTo: 9)
                let bytes = try await [one.bytes, two.bytes]
                #expect(bytes == [Array("one".utf8), Array("two".utf8)])
            }
        }
    }

    @Test("The transport is made in a word")
    func factory() async throws {
        func make(_ transport: some HTTPTransport) -> any HTTPTransport { transport }
        try await withServer(answer("204 X")) { server in
            let (response, _) = try await make(.urlSession()).send(server.request(), body: nil, timeout: .seconds(20))
            #expect(response.status.code == 204)
        }
    }
}
