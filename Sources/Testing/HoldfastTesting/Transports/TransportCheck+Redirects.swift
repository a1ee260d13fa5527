import HTTPTypes
import ResilientHTTP

extension TransportCheck {
    /// The statuses of the redirects that a client follows (RFC 9110 §15.4). A client must not follow 300 and 304.
    private static let statuses = ["301 X", "302 X", "303 X", "307 X", "308 X"]

    /// Checks of the rules of `Redirection`: a transport follows redirects only for GET and HEAD, and never sends `Authorization` to
    /// another origin or `If-None-Match` after a redirect. It reports that a redirect led to another origin. It follows circular redirects
    /// only `Redirection.most` times, and then returns the last redirect.
    ///
    /// A transport returns the redirect of a POST without following it, because the client decides whether to repeat the request. Common
    /// causes of failures:
    /// - *Follows a redirect to another origin without Authorization*: the engine copies all header fields. Or the engine compares only the
    ///   host and not the port.
    /// - *Returns a redirect of POST*: the engine follows a 303 with GET, as browsers do.
    /// - *Reports a request as possibly sent*: the transport reports only whether the request after the redirect was sent.
    /// - *Follows circular redirects*: the engine throws its own error after a number of redirects.
    static let redirects: [TransportCheck] = [
        TransportCheck("Follows a redirect of GET to the same origin with Authorization") { transport in
            for status in statuses {
                try await withServer(respond(status, ["Location: /b?x=1"]), respond("200 OK", body: "b")) { server in
                    let headers: HTTPFields = [.authorization: "Bearer t", .accept: "application/json", .ifNoneMatch: "\"1\""]
                    let (response, body) = try await exchange(transport, server.request(headers: headers))
                    try expect(response.status.code == 200 && body == Array("b".utf8), "\(status) read \(response)")
                    let lines = server.received.map(\.head.first)
                    try expect(lines == ["GET /a HTTP/1.1", "GET /b?x=1 HTTP/1.1"], "\(status) sent \(lines)")
                    try expect(server.received.last?.header("Authorization") == "Bearer t", "\(status) lost the authorization")
                    try expect(server.received.last?.header("Accept") == "application/json", "\(status) lost a header")
                    try expect(server.received.last?.header("If-None-Match") == nil, "\(status) repeated the condition")
                }
            }
        },
        TransportCheck("Follows a relative redirect, and keeps HEAD") { transport in
            try await withServer(respond("303 X", ["Location: ../c"]), respond("200 OK")) { server in
                let (response, _) = try await exchange(transport, server.request("/a/b/x", method: .head))
                try expect(response.status.code == 200, "read \(response)")
                try expect(server.received.last?.head.first == "HEAD /a/c HTTP/1.1", "sent \(server.received.last?.head ?? [])")
            }
        },
        TransportCheck("Follows a redirect to another origin without Authorization") { transport in
            for status in statuses {
                try await withServer(respond("200 OK", body: "other")) { other in
                    try await withServer(respond(status, ["Location: \(other.origin)/c"])) { server in
                        let headers: HTTPFields = [.authorization: "Bearer t", .ifNoneMatch: "\"1\""]
                        let (response, _) = try await exchange(transport, server.request(headers: headers))
                        try expect(response.status.code == 200, "\(status) read \(response)")
                        try expect(server.received.first?.header("Authorization") == "Bearer t", "\(status) sent none at all")
                        try expect(server.received.first?.header("If-None-Match") == "\"1\"", "\(status) sent no condition")
                        try expect(other.received.first?.head.first == "GET /c HTTP/1.1", "\(status) did not come")
                        try expect(other.received.first?.header("Authorization") == nil, "\(status) gave the authorization away")
                        try expect(other.received.first?.header("If-None-Match") == nil, "\(status) gave the condition away")
                    }
                }
            }
        },
        TransportCheck("Reports whether a redirect led to another origin") { transport in
            try await withServer(respond("401 X")) { other in
                let redirects = ["\(other.origin)/c", "/b"].map { respond("302 X", ["Location: \($0)"]) }
                try await withServer(connections: [[redirects[0]], [redirects[1]], [respond("401 X")]]) { server in
                    for isOther in [true, false] {
                        let (response, body) = try await transport.send(server.request(), body: nil, timeout: .seconds(300))
                        _ = try await body.collect(upTo: 1_024)
                        try expect(response.status.code == 401, "read \(response)")
                        try expect(body.isFromOtherOrigin == isOther, "reported \(body.isFromOtherOrigin)")
                    }
                }
            }
        },
        TransportCheck("Returns a redirect of POST without following it") { transport in
            for status in statuses {
                try await withServer(respond("200 OK")) { other in
                    try await withServer(respond(status, ["Location: \(other.origin)/c"], body: "moved")) { server in
                        let (response, _) = try await exchange(transport, server.request(method: .post), Array("secret".utf8))
                        try expect("\(response.status.code) X" == status, "\(status) read \(response)")
                        try expect(field("Location", response) == "\(other.origin)/c", "\(status) read \(response)")
                        try expect(server.received.count == 1 && other.received.isEmpty, "\(status) was followed")
                    }
                }
            }
        },
        TransportCheck("Returns a redirect without a valid target") { transport in
            for lines in [[], ["Location: "]] {
                try await withServer(respond("302 X", lines)) { server in
                    let (response, _) = try await exchange(transport, server.request())
                    try expect(response.status.code == 302, "read \(response)")
                }
            }
        },
        TransportCheck("Reports a request as possibly sent if its redirect leads to a closed port") { transport in
            try await LoopbackServer.withClosedPort { port in
                try await withServer(respond("302 X", ["Location: http://127.0.0.1:\(port)/c"])) { server in
                    let error = try await failure { _ = try await exchange(transport, server.request()) }
                    try expect(error.code == .unreachable && error.wasSent, "\(error), sent: \(error.wasSent)")
                }
            }
        },
        TransportCheck("Follows circular redirects \(Redirection.most) times, and returns the last one") { transport in
            let circle = Array(repeating: [respond("302 X", ["Location: /a"])], count: Redirection.most + 20)
            try await withServer(connections: circle) { server in
                let (response, _) = try await exchange(transport, server.request())
                try expect(response.status.code == 302, "read \(response)")
                try expect(server.received.count == Redirection.most + 1, "sent \(server.received.count) requests")
            }
        },
    ]
}
