import HTTPTypes
import ResilientHTTP

extension TransportCheck {
    /// Checks of plain exchanges. A transport must change neither the request nor the response, and must store no cookies. If a server
    /// requests credentials, the transport must send none. A transport must also reuse connections.
    ///
    /// The default settings of an HTTP engine often break these rules. Common causes of failures:
    /// - *Transfers path, headers and host*: the engine decodes and encodes the path again, which changes `%2F`.
    /// - *Keeps both values of a header on two lines*: the engine returns a dictionary with one value per name.
    /// - *Ends 204 and 304 after the head*: the engine waits for a body that never comes.
    /// - *Skips 100 and 103*: the engine returns an informational response as the final one.
    /// - *Returns a 401 with a challenge*: the engine asks its delegate for credentials, or fails because it has no credentials.
    /// - *Stores no cookies*: the cookie storage of the engine is on.
    static let responses: [TransportCheck] = [
        TransportCheck("Transfers path, headers and host of a request, and all parts of its response") {
            transport in
            try await withServer(respond("200 OK", ["X-Request-Id: r1", "x-lower: a, b"], body: #"{"name":"ñ"}"#)) { server in
                let sent = server.request("/a/b?x=1&y=a%20b%2Fc", headers: [.accept: "application/json", .acceptLanguage: "es"])
                let (response, body) = try await exchange(transport, sent)
                try expect(response.status.code == 200 && body == Array(#"{"name":"ñ"}"#.utf8), "read \(response) \(body)")
                try expect(field("x-request-id", response) == "r1" && field("X-Lower", response) == "a, b", "read \(response)")
                let received = server.received.first
                try expect(received?.head.first == "GET /a/b?x=1&y=a%20b%2Fc HTTP/1.1", "sent \(received?.head ?? [])")
                try expect(received?.header("Host") == "127.0.0.1:\(server.port)", "sent \(received?.head ?? [])")
                try expect(received?.header("Accept") == "application/json", "sent \(received?.head ?? [])")
                try expect(received?.header("Accept-Language") == "es" && received?.body == [], "sent \(received?.head ?? [])")
            }
        },
        TransportCheck("Returns the response for any method and status") { transport in
            let cases: [(HTTPRequest.Method, Int)] = [
                (.put, 204), (.delete, 404), (.patch, 429), (.get, 503), (.options, 200), (.post, 599),
            ]
            for (method, status) in cases {
                try await withServer(respond("\(status) X", ["Retry-After: 30"])) { server in
                    let (response, body) = try await exchange(transport, server.request(method: method))
                    try expect(response.status.code == status && body.isEmpty, "\(method) read \(response)")
                    try expect(field("Retry-After", response) == "30", "read \(response)")
                    try expect(server.received.first?.head.first == "\(method) /a HTTP/1.1", "sent another method than \(method)")
                }
            }
        },
        TransportCheck("Keeps both values of a header on two lines") { transport in
            try await withServer(respond("429 X", ["Retry-After: 5", "Retry-After: 30"])) { server in
                let (response, _) = try await exchange(transport, server.request())
                let values = HTTPField.Name("Retry-After").map { response.headerFields[values: $0] } ?? []
                try expect(values.joined(separator: ", ") == "5, 30", "read \(values)")
            }
        },
        TransportCheck("Returns no body for HEAD, whatever the Content-Length") { transport in
            try await withServer(.stall("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n")) { server in
                let (response, body) = try await exchange(transport, server.request(method: .head))
                try expect(response.status.code == 200 && body.isEmpty, "read \(body.count) bytes")
            }
        },
        TransportCheck("Ends 204 and 304 after the head while the connection stays open") { transport in
            for status in [204, 304] {
                try await withServer(.stall("HTTP/1.1 \(status) X\r\n\r\n")) { server in
                    let (response, body) = try await exchange(transport, server.request())
                    try expect(response.status.code == status && body.isEmpty, "read \(response)")
                }
            }
        },
        TransportCheck("Skips 100 and 103 before the response") { transport in
            let ahead = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n"
            try await withServer(.respond(ahead + head("201 X", ["Content-Length: 2"]) + "ok")) { server in
                let (response, body) = try await exchange(transport, server.request(method: .post), Array("x".utf8))
                try expect(response.status.code == 201 && body == Array("ok".utf8), "read \(response)")
            }
        },
        TransportCheck("Returns a 401 with a challenge without sending credentials") { transport in
            for challenge in ["Bearer", "Basic realm=\"x\"", "Bearer error=\"invalid_token\""] {
                try await withServer(respond("401 X", ["WWW-Authenticate: \(challenge)"], body: "{}"), respond("200 OK")) {
                    server in
                    let (response, body) = try await exchange(transport, server.request())
                    try expect(response.status.code == 401 && body == Array("{}".utf8), "\(challenge): read \(response)")
                    try expect(server.received.count == 1, "\(challenge): sent \(server.received.count) requests")
                }
            }
        },
        TransportCheck("Returns its own response to each of concurrent requests") { transport in
            try await withServer(respond("200 OK", body: "one")) { first in
                try await withServer(respond("200 OK", body: "two")) { second in
                    async let one = exchange(transport, first.request()).body
                    async let two = exchange(transport, second.request()).body
                    let bodies = try await [one, two]
                    try expect(bodies == [Array("one".utf8), Array("two".utf8)], "mixed up \(bodies)")
                }
            }
        },
        TransportCheck("Stores no cookies") { transport in
            try await withServer(respond("200 OK", ["Set-Cookie: session=1; Path=/"]), respond("200 OK")) { server in
                for _ in 0..<2 { _ = try await exchange(transport, server.request()) }
                try expect(server.received.allSatisfy { $0.header("Cookie") == nil }, "sent a cookie back")
            }
        },
        TransportCheck("Reuses an open connection for the next request") { transport in
            let kept = LoopbackServer.Step.keep("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            try await withServer(connections: [[kept, kept], [kept]]) { server in
                for _ in 0..<2 {
                    let (_, body) = try await exchange(transport, server.request())
                    try expect(body == Array("ok".utf8), "read \(body)")
                }
            }
        },
    ]

    /// Returns the value of a header field of a response; `nil` if there is none.
    static func field(_ name: String, _ response: HTTPResponse) -> String? {
        HTTPField.Name(name).flatMap { response.headerFields[$0] }
    }
}

extension TransportCheck {
    /// The sizes of bodies in bytes: empty, one byte, and more than one read of a socket.
    private static let sizes = [0, 1, 1_024 * 1_024]

    /// Checks of the three ways to mark the end of a body (RFC 9112 §6.3): a length, chunks, and the end of the connection. Also checks
    /// gzip.
    ///
    /// A transport must return the bytes while they arrive, because a client that reads events or a large download can't wait for the end.
    /// The transport must also request gzip and decompress it. Other codings are not required.
    static let bodies: [TransportCheck] = [
        TransportCheck("Returns the complete body of a known length: 0 B, 1 B, 1 MB") { transport in
            for size in sizes {
                let text = String(repeating: "x", count: size)
                try await withServer(respond("200 OK", body: text)) { server in
                    let (_, body) = try await exchange(transport, server.request())
                    try expect(body == Array(text.utf8), "read \(body.count) of \(size) bytes")
                }
            }
        },
        TransportCheck("Returns the complete body of a large chunked response") { transport in
            for count in [0, 1, 40] {
                let chunk = String(repeating: "x", count: 0x8000)
                let chunks = String(repeating: "8000\r\n\(chunk)\r\n", count: count) + "0\r\n\r\n"
                try await withServer(.respond(head("200 OK", ["Transfer-Encoding: chunked"]) + chunks)) { server in
                    let (_, body) = try await exchange(transport, server.request())
                    try expect(
                        body.count == count * 0x8000 && body.allSatisfy { $0 == UInt8(ascii: "x") },
                        "read \(body.count) bytes"
                    )
                }
            }
        },
        TransportCheck("Ends a body without a length at the end of the connection") { transport in
            try await withServer(.respond(head("200 OK") + "until the end")) { server in
                let (_, body) = try await exchange(transport, server.request())
                try expect(body == Array("until the end".utf8), "read \(body.count) bytes")
            }
        },
        TransportCheck("Sends the bytes of a POST unchanged: 0 B, 1 B, 1 MB") { transport in
            for size in sizes {
                try await withServer(respond("201 Created")) { server in
                    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
                    let request = server.request(method: .post, headers: [.contentType: "application/octet-stream"])
                    let (response, _) = try await exchange(transport, request, bytes)
                    let received = server.received.first
                    try expect(
                        response.status.code == 201 && received?.body == bytes,
                        "sent \(received?.body.count ?? -1) of \(size)"
                    )
                    try expect(received?.header("Content-Type") == "application/octet-stream", "sent \(received?.head ?? [])")
                }
            }
        },
        TransportCheck("Decompresses a gzip body") { transport in
            let packed = head("200 OK", ["Content-Encoding: gzip", "Content-Length: \(gzip.count)"])
            try await withServer(.bytes(Array(packed.utf8) + gzip)) { server in
                let (_, body) = try await exchange(transport, server.request())
                try expect(body == Array("hold fast, hold fast\n".utf8), "read \(body)")
                try expect(server.received.first?.header("Accept-Encoding")?.contains("gzip") == true, "did not ask for gzip")
            }
        },
        TransportCheck("Reads a body while it arrives") { transport in
            try await withServer(.stall(head("200 OK", ["Content-Length: 9"]) + "half")) { server in
                let (_, body) = try await transport.send(server.request(), body: nil, timeout: .seconds(300))
                var chunks = body.makeAsyncIterator()
                let first = try await chunks.next()
                try expect(first == Array("half".utf8), "read \(first ?? [])")
            }
        },
    ]

    /// "hold fast, hold fast\n", compressed.
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0xC8, 0xCF, 0x49, 0x51, 0x48, 0x4B, 0x2C,
        0x2E, 0xD1, 0x51, 0xC8, 0x80, 0x31, 0xB9, 0x00, 0xFE, 0x23, 0x12, 0x2D, 0x15, 0x00, 0x00, 0x00,
    ]
}
