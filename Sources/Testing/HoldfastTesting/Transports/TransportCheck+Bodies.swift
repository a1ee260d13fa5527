import HTTPTypes
import ResilientHTTP

extension TransportCheck {
    private static let sizes = [0, 1, 1_024 * 1_024]

    static let bodies: [TransportCheck] = [
        TransportCheck("A body of a known length comes whole: 0 B, 1 B, 1 MB") { transport in
            for size in sizes {
                let text = String(repeating: "x", count: size)
                try await withServer(answer("200 OK", body: text)) { server in
                    let (_, body) = try await exchange(transport, server.request())
                    try expect(body == Array(text.utf8), "read \(body.count) of \(size) bytes")
                }
            }
        },
        TransportCheck("A body in chunks comes whole, however large") { transport in
            for count in [0, 1, 40] {
                let chunk = String(repeating: "x", count: 0x8000)
                let chunks = String(repeating: "8000\r\n\(chunk)\r\n", count: count) + "0\r\n\r\n"
                try await withServer(.answer(head("200 OK", ["Transfer-Encoding: chunked"]) + chunks)) { server in
                    let (_, body) = try await exchange(transport, server.request())
                    try expect(
                        body.count == count * 0x8000 && body.allSatisfy { $0 == UInt8(ascii: "x") },
                        "read \(body.count) bytes"
                    )
                }
            }
        },
        TransportCheck("A body without a length ends with the connection") { transport in
            try await withServer(.answer(head("200 OK") + "until the end")) { server in
                let (_, body) = try await exchange(transport, server.request())
                try expect(body == Array("until the end".utf8), "read \(body.count) bytes")
            }
        },
        TransportCheck("The bytes of a POST arrive as they are: 0 B, 1 B, 1 MB") { transport in
            for size in sizes {
                try await withServer(answer("201 Created")) { server in
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
        TransportCheck("A body that was packed with gzip is unpacked") { transport in
            let packed = head("200 OK", ["Content-Encoding: gzip", "Content-Length: \(gzip.count)"])
            try await withServer(.bytes(Array(packed.utf8) + gzip)) { server in
                let (_, body) = try await exchange(transport, server.request())
                try expect(body == Array("hold fast, hold fast\n".utf8), "read \(body)")
                try expect(server.received.first?.header("Accept-Encoding")?.contains("gzip") == true, "did not ask for gzip")
            }
        },
        TransportCheck("A body is read as it comes, not when it is whole") { transport in
            try await withServer(.stall(head("200 OK", ["Content-Length: 9"]) + "half")) { server in
                let (_, body) = try await transport.send(server.request(), body: nil, timeout: .seconds(300))
                var chunks = body.makeAsyncIterator()
                let first = try await chunks.next()
                try expect(first == Array("half".utf8), "read \(first ?? [])")
            }
        },
    ]

    /// "hold fast, hold fast\n", packed.
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0xC8, 0xCF, 0x49, 0x51, 0x48, 0x4B, 0x2C,
        0x2E, 0xD1, 0x51, 0xC8, 0x80, 0x31, 0xB9, 0x00, 0xFE, 0x23, 0x12, 0x2D, 0x15, 0x00, 0x00, 0x00,
    ]
}
