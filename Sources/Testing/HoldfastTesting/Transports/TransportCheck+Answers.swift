import HTTPTypes
import ResilientHTTP

extension TransportCheck {
    static let answers: [TransportCheck] = [
        TransportCheck("Path, headers and host of a request arrive; status, headers and body of its answer come back") {
            transport in
            try await withServer(answer("200 OK", ["X-Request-Id: r1", "x-lower: a, b"], body: #"{"name":"ñ"}"#)) { server in
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
        TransportCheck("Any method and any status is an answer") { transport in
            let cases: [(HTTPRequest.Method, Int)] = [
                (.put, 204), (.delete, 404), (.patch, 429), (.get, 503), (.options, 200), (.post, 599),
            ]
            for (method, status) in cases {
                try await withServer(answer("\(status) X", ["Retry-After: 30"])) { server in
                    let (response, body) = try await exchange(transport, server.request(method: method))
                    try expect(response.status.code == status && body.isEmpty, "\(method) read \(response)")
                    try expect(field("Retry-After", response) == "30", "read \(response)")
                    try expect(server.received.first?.head.first == "\(method) /a HTTP/1.1", "sent another method than \(method)")
                }
            }
        },
        TransportCheck("A header that comes on two lines keeps both values") { transport in
            try await withServer(answer("429 X", ["Retry-After: 5", "Retry-After: 30"])) { server in
                let (response, _) = try await exchange(transport, server.request())
                let values = HTTPField.Name("Retry-After").map { response.headerFields[values: $0] } ?? []
                try expect(values.joined(separator: ", ") == "5, 30", "read \(values)")
            }
        },
        TransportCheck("An answer to HEAD has no body, whatever length it names") { transport in
            try await withServer(.stall("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n")) { server in
                let (response, body) = try await exchange(transport, server.request(method: .head))
                try expect(response.status.code == 200 && body.isEmpty, "read \(body.count) bytes")
            }
        },
        TransportCheck("204 and 304 end with their head, though the connection stays open") { transport in
            for status in [204, 304] {
                try await withServer(.stall("HTTP/1.1 \(status) X\r\n\r\n")) { server in
                    let (response, body) = try await exchange(transport, server.request())
                    try expect(response.status.code == status && body.isEmpty, "read \(response)")
                }
            }
        },
        TransportCheck("What comes ahead of the answer, 100 and 103, is not the answer") { transport in
            let ahead = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n"
            try await withServer(.answer(ahead + head("201 X", ["Content-Length: 2"]) + "ok")) { server in
                let (response, body) = try await exchange(transport, server.request(method: .post), Array("x".utf8))
                try expect(response.status.code == 201 && body == Array("ok".utf8), "read \(response)")
            }
        },
        TransportCheck("A 401 with a challenge is a response, and no credentials are sent") { transport in
            for challenge in ["Bearer", "Basic realm=\"x\"", "Bearer error=\"invalid_token\""] {
                try await withServer(answer("401 X", ["WWW-Authenticate: \(challenge)"], body: "{}"), answer("200 OK")) {
                    server in
                    let (response, body) = try await exchange(transport, server.request(), timeout: .seconds(20))
                    try expect(response.status.code == 401 && body == Array("{}".utf8), "\(challenge): read \(response)")
                    try expect(server.received.count == 1, "\(challenge): sent \(server.received.count) requests")
                }
            }
        },
        TransportCheck("Requests at the same time get each its own answer") { transport in
            try await withServer(answer("200 OK", body: "one")) { first in
                try await withServer(answer("200 OK", body: "two")) { second in
                    async let one = exchange(transport, first.request()).body
                    async let two = exchange(transport, second.request()).body
                    let bodies = try await [one, two]
                    try expect(bodies == [Array("one".utf8), Array("two".utf8)], "mixed up \(bodies)")
                }
            }
        },
        TransportCheck("No cookie is kept") { transport in
            try await withServer(answer("200 OK", ["Set-Cookie: session=1; Path=/"]), answer("200 OK")) { server in
                for _ in 0..<2 { _ = try await exchange(transport, server.request()) }
                try expect(server.received.allSatisfy { $0.header("Cookie") == nil }, "sent a cookie back")
            }
        },
        TransportCheck("A connection that is kept open serves the next request too") { transport in
            let kept = LoopbackServer.Step.keep("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            try await withServer(connections: [[kept, kept], [kept]]) { server in
                for _ in 0..<2 {
                    let (_, body) = try await exchange(transport, server.request())
                    try expect(body == Array("ok".utf8), "read \(body)")
                }
            }
        },
    ]

    static func field(_ name: String, _ response: HTTPResponse) -> String? {
        HTTPField.Name(name).flatMap { response.headerFields[$0] }
    }
}
