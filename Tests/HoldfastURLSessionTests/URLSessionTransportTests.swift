import HTTPTypes
import HoldfastTesting
import HoldfastURLSession
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(10))) struct URLSessionTransportTests {
    @Test(
        "The transport passes every check",
        arguments: TransportCheck.all.filter { URLSessionTransport.canPause || !$0.needsPausing }
    )
    func passes(_ check: TransportCheck) async throws {
        try await check.run(URLSessionTransport())
    }

    #if canImport(FoundationNetworking)
        @Test("A paused reader blocks no other session and gets the whole body from a file")
        func slowReader() async throws {
            let size = 48 * 1_024 * 1_024
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(size)\r\n\r\n"
            try await withServer(.generate(head, count: size)) { server in
                let request = server.request()
                let (_, body) = try await URLSessionTransport().stream(
                    request,
                    body: nil,
                    timeout: .seconds(300),
                    idleTimeout: .seconds(300)
                )
                var chunks = body.makeAsyncIterator()
                var count = try await chunks.next()?.count ?? 0
                // The server is never paused, and another session works meanwhile.
                while server.written < size { try await Task.sleep(for: .milliseconds(5)) }
                try await withServer(response("204 X")) { other in
                    let (response, _) = try await URLSessionTransport().send(other.request(), body: nil, timeout: .seconds(300))
                    #expect(response.status.code == 204)
                }
                while let chunk = try await chunks.next() { count += chunk.count }
                #expect(count == size)
            }
        }

        @Test("A late body or the body of a canceled call is not sent")
        func stalledBody() async throws {
            let stalled = RequestBody(
                .stream(length: nil) { write in
                    try await write([1])
                    try await Task.sleep(for: .seconds(600))
                },
                contentType: "a/b"
            )
            try await withServer(response("204 X")) { server in
                let request = server.request(method: .post)
                let transport = URLSessionTransport()
                await #expect {
                    _ = try await transport.stream(request, body: stalled, timeout: .seconds(300), idleTimeout: .milliseconds(50))
                } throws: {
                    ($0 as? TransportError)?.code == .timeout && ($0 as? TransportError)?.wasSent == false
                }
                let task = Task {
                    _ = try await transport.stream(request, body: stalled, timeout: .seconds(300), idleTimeout: .seconds(300))
                }
                task.cancel()
                await #expect { try await task.value } throws: { ($0 as? TransportError)?.code == .cancelled }
                #expect(server.received.isEmpty)
            }
        }

        @Test("Sends a body that is a stream with the longest timeout")
        func longestTimeout() async throws {
            let body = RequestBody(
                .stream(length: nil) { write in
                    // Meanwhile, the transport begins to wait for the deadline.
                    for _ in 0..<1_000 { await Task.yield() }
                    try await write([1])
                },
                contentType: "a/b"
            )
            try await withServer(response("204 X")) { server in
                let request = server.request(method: .post)
                let (response, _) = try await URLSessionTransport().send(request, body: body, timeout: .seconds(Int64.max))
                #expect(response.status.code == 204)
            }
        }
    #endif

    @Test("Returns a redirect as the response if redirects are not followed")
    func unfollowed() async throws {
        try await withServer(response("302 X", ["Location: /b"]), response("200 OK")) { server in
            let transport = URLSessionTransport(followsRedirects: false)
            let (response, _) = try await transport.send(server.request(), body: nil, timeout: .seconds(300))
            #expect(response.status.code == 302 && response.headerFields[.location] == "/b")
            #expect(server.received.count == 1)
        }
    }

    @Test("Joins the values of a repeated request header")
    func repeated() async throws {
        try await withServer(response("204 X")) { server in
            var request = server.request(headers: [.accept: "application/json"])
            for (name, value) in [("X-One", "a"), ("x-one", "b"), ("Cookie", "c=1"), ("Cookie", "d=2")] {
                request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
            }
            _ = try await URLSessionTransport().send(request, body: nil, timeout: .seconds(300))
            let received = try #require(server.received.first)
            #expect(received.header("X-One") == "a, b")
            #expect(received.header("Cookie") == "c=1; d=2")
            #expect(received.header("Accept") == "application/json")
        }
    }

    @Test("A static member creates the transport")
    func factory() async throws {
        func make(_ transport: some HTTPTransport) -> any HTTPTransport { transport }
        try await withServer(response("204 X")) { server in
            let (response, _) = try await make(.urlSession()).send(server.request(), body: nil, timeout: .seconds(300))
            #expect(response.status.code == 204)
        }
    }
}
