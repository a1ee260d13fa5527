import HTTPTypes
import ResilientHTTP

extension TransportCheck {
    /// Checks of the `code` and of `wasSent` of the errors that a transport throws. A transport may report `wasSent: false` only if the
    /// server can't have received the request. After `wasSent: false`, a client repeats the request even if it is not idempotent.
    ///
    /// If a transport doesn't know whether a request was sent, it must report `true`. Common causes of failures:
    /// - *Reports a connection that ends before the head*: the engine sends the request again on a new connection.
    /// - *Reports a truncated body as lost*: the engine returns the part that has arrived as a complete body.
    /// - *Sends no request to a server without TLS*: the engine falls back to plain HTTP.
    /// - *Trap: sends a POST without a key once*: if a reused connection is reset, the engine repeats the request on a new connection. The
    ///   POST could then take effect twice.
    static let failures: [TransportCheck] = [
        TransportCheck("Reports a refused connection as unreachable and not sent") { transport in
            try await LoopbackServer.withClosedPort { port in
                for method in [HTTPRequest.Method.get, .post] {
                    let request = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: "/a")
                    let error = try await failure { _ = try await exchange(transport, request) }
                    let sent = "\(error), sent: \(error.wasSent)"
                    try expect(error.code == .unreachable && !error.wasSent && error.cause != nil, sent)
                }
            }
        },
        TransportCheck("Reports an unknown host name as unreachable and not sent") { transport in
            let request = HTTPRequest(method: .post, scheme: "http", authority: "nobody.invalid", path: "/a")
            let error = try await failure { _ = try await exchange(transport, request) }
            try expect([.unreachable, .noInternet].contains(error.code) && !error.wasSent, "\(error), sent: \(error.wasSent)")
        },
        TransportCheck("Sends no request to a server without TLS") { transport in
            try await withServer(.hangUp, .hangUp, .hangUp) { server in
                let request = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/a")
                let error = try await failure { _ = try await exchange(transport, request) }
                try expect(![.timeout, .cancelled, .invalidRequest].contains(error.code), "\(error)")
                try expect(server.received.isEmpty, "sent it in clear")
            }
        },
        TransportCheck("Reports a connection that ends before the head as lost and possibly sent") {
            transport in
            for step in [LoopbackServer.Step.respond(""), .reset("")] {
                try await withServer(step, step) { server in
                    let error = try await failure { _ = try await exchange(transport, server.request(method: .post), [1]) }
                    try expect(error.code == .connectionLost && error.wasSent, "\(error), sent: \(error.wasSent)")
                    try expect(server.received.count == 1, "was sent \(server.received.count) times")
                }
            }
        },
        TransportCheck("Reports a truncated body as lost") { transport in
            let (length, chunked) = (["Content-Length: 9"], ["Transfer-Encoding: chunked"])
            let steps: [LoopbackServer.Step] = [
                .respond(head("200 OK", length) + "half"), .respond(head("200 OK", chunked) + "5\r\nhalf"),
                .respond(head("200 OK", chunked) + "4\r\nhalf\r\n"), .reset(head("200 OK", length) + "half"),
                .reset(head("200 OK", length)),
            ]
            for (number, step) in steps.enumerated() {
                try await withServer(step) { server in
                    let error = try await failure { _ = try await exchange(transport, server.request()) }
                    try expect(error.code == .connectionLost && error.wasSent, "case \(number): \(error)")
                }
            }
        },
        TransportCheck("Reports invalid HTTP as an error and possibly sent") { transport in
            let texts = ["SMTP ready\r\n", "HTTP/1.1 200", "HTTP/1.1 1200 X\r\n\r\n", "HTTP/1.1 -20 X\r\n\r\n"]
            for text in texts {
                try await withServer(.respond(text), .respond(text)) { server in
                    let error = try await failure { _ = try await exchange(transport, server.request()) }
                    try expect(error.wasSent && error.code != .invalidRequest, "\(text): \(error)")
                }
            }
        },
        TransportCheck("Refuses a request without a web address and sends nothing") { transport in
            let addresses =
                [(nil, nil), ("http", nil), ("http", ""), ("ftp", "127.0.0.1"), ("http", "a b")] as [(String?, String?)]
            for (scheme, authority) in addresses {
                let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/a")
                let error = try await failure { _ = try await exchange(transport, request) }
                try expect(error.code == .invalidRequest && !error.wasSent, "\(scheme ?? "-")://\(authority ?? "-"): \(error)")
            }
        },
        TransportCheck("Trap: sends a POST without a key once if a kept connection is reset") { transport in
            let kept = LoopbackServer.Step.keep("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            for bytes in [nil, [1]] as [[UInt8]?] {
                try await withServer(connections: [[kept, .reset("")], [.reset("")], [kept]]) { server in
                    _ = try await exchange(transport, server.request())
                    let request = server.request(method: .post)
                    let error = try await failure { _ = try await exchange(transport, request, bytes) }
                    let posts = server.received.count { $0.head.first?.hasPrefix("POST") == true }
                    try expect(posts == 1, "\(bytes?.count ?? 0) B arrived \(posts) times")
                    try expect(error.code == .connectionLost && error.wasSent, "\(bytes?.count ?? 0) B: \(error)")
                }
            }
        },
        TransportCheck("Trap: never hangs on a PUT over a kept connection that is reset") {
            transport in
            let kept = LoopbackServer.Step.keep("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            try await withServer(connections: [[kept, .reset("")], [kept], [kept]]) { server in
                _ = try await exchange(transport, server.request())
                do {
                    _ = try await exchange(transport, server.request(method: .put), [1])
                } catch let error as TransportError {
                    try expect(error.code == .connectionLost && error.wasSent, "\(error)")
                }
            }
        },
    ]
}
