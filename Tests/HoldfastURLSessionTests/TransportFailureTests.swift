import HTTPTypes
import HoldfastURLSession
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(1))) struct TransportFailureTests {
    private let transport = URLSessionTransport()

    @Test("A refused connection is unreachable, and surely nothing was sent", arguments: ["GET", "POST"])
    func refused(name: String) async throws {
        let method = try #require(HTTPRequest.Method(name))
        let request = try await withServer { $0.request(method: method) }
        let error = await failure { _ = try await transport.send(request, body: nil, timeout: .seconds(20)) }
        #expect(error?.code == .unreachable)
        #expect(error?.wasSent == false)
        #expect(error?.cause != nil)
    }

    @Test("A connection that is closed before the head is lost, and the request may have been sent")
    func hangUp() async throws {
        try await withServer(.answer("")) { server in
            let error = await failure { _ = try await transport.send(server.request(), body: nil, timeout: .seconds(20)) }
            #expect(error?.code == .connectionLost)
            #expect(error?.wasSent == true)
        }
    }

    @Test(
        "What is not HTTP is an error",
        arguments: ["SMTP ready\r\n", "HTTP/1.1 200", "HTTP/1.1 1200 X\r\n\r\n", "HTTP/1.1 -20 X\r\n\r\n"]
    )
    func notHTTP(text: String) async throws {
        try await withServer(.answer(text)) { server in
            let error = await failure {
                let (response, _) = try await transport.send(server.request(), body: nil, timeout: .seconds(20))
                Issue.record("took \(text) for an answer of status \(response.status.code)")
            }
            #expect(error?.wasSent == true && error?.code != .invalidRequest)
        }
    }

    @Test("A server that never answers is timed out, and the request may have been sent")
    func timeout() async throws {
        try await withServer(.stall("")) { server in
            let error = await failure { _ = try await transport.send(server.request(), body: nil, timeout: .milliseconds(300)) }
            #expect(error?.code == .timeout)
            #expect(error?.wasSent == true)
        }
    }

    @Test("A body that stops coming is timed out")
    func stalledBody() async throws {
        try await withServer(.stall(head("200 OK", ["Content-Length: 9"]) + "half")) { server in
            let error = await failure {
                let (_, body) = try await transport.send(server.request(), body: nil, timeout: .milliseconds(300))
                _ = try await body.collect(upTo: 100)
            }
            #expect(error?.code == .timeout)
        }
    }

    @Test("Trap: a body that keeps coming, byte by byte, ends when the time of the whole exchange is up")
    func dribblingBody() async throws {
        try await withServer(.dribble(head("200 OK", ["Content-Length: 900000"]))) { server in
            let error = await failure {
                let (_, body) = try await transport.send(server.request(), body: nil, timeout: .milliseconds(400))
                _ = try await body.collect(upTo: 1_000_000)
            }
            #expect(error?.code == .timeout && error?.wasSent == true)
        }
    }

    @Test("A body that breaks off is lost, never taken for a whole one")
    func brokenBody() async throws {
        try await withServer(.answer(head("200 OK", ["Content-Length: 9"]) + "half")) { server in
            let error = await failure {
                let (_, body) = try await transport.send(server.request(), body: nil, timeout: .seconds(20))
                _ = try await body.collect(upTo: 100)
            }
            #expect(error?.code == .connectionLost)
            #expect(error?.wasSent == true)
        }
    }

    @Test("Cancelling ends a call at once, also one that waits for its answer")
    func cancellation() async throws {
        try await withServer(.stall("")) { server in
            let call = Task {
                await failure { _ = try await transport.send(server.request(), body: nil, timeout: .seconds(50)) }
            }
            for await _ in server.arrivals { break }
            call.cancel()
            #expect(await call.value?.code == .cancelled)
        }
    }

    @Test("A call that is cancelled before it starts ends, and ends as cancelled")
    func cancelledBefore() async throws {
        try await withServer(.stall("")) { server in
            for _ in 0..<200 {
                let call = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await failure { _ = try await transport.send(server.request(), body: nil, timeout: .seconds(50)) }
                }
                #expect(await call.value?.code == .cancelled)
            }
        }
    }

    @Test("A reader that stops early ends the transfer")
    func stopsEarly() async throws {
        try await withServer(.stall(head("200 OK", ["Content-Length: 900"]) + "half")) { server in
            let (_, body) = try await transport.send(server.request(), body: nil, timeout: .seconds(50))
            #expect(try await body.collect(upTo: 2).isTruncated)
        }
    }

    @Test(
        "A request without a web address is refused, and surely nothing was sent",
        arguments: [(nil, nil), ("http", nil), ("http", ""), ("ftp", "127.0.0.1"), ("http", "a b")]
    )
    func invalid(scheme: String?, authority: String?) async {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/a")
        let error = await failure { _ = try await transport.send(request, body: nil, timeout: .seconds(1)) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.wasSent == false)
    }
}
