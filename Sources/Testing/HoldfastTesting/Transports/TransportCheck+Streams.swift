import Foundation
import HTTPTypes
import ResilientHTTP
import Synchronization

extension TransportCheck {
    /// The length of the pattern in bytes: a bit more than 3 MiB, so that it exceeds the buffers of sockets and is no multiple of a block.
    private static let size = 3 * 1_024 * 1_024 + 7
    /// The bytes of the body. Neighboring bytes differ, so that the comparison detects a lost or repeated block.
    private static let pattern = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    /// A deadline so long that no successful check reaches it.
    private static let long = Duration.seconds(600)

    /// Returns a body that yields the pattern in chunks of at most 100,000 bytes.
    /// - Parameter length: The announced length in bytes; `nil` for an unknown length. If the announced length is wrong, sending must fail.
    private static func streamed(length: Int64?) -> RequestBody {
        RequestBody(length: length, contentType: "application/octet-stream") {
            AsyncStream<[UInt8]> { chunks in
                for start in stride(from: 0, to: size, by: 100_000) {
                    chunks.yield(Array(pattern[start..<min(start + 100_000, size)]))
                }
                chunks.finish()
            }
        }
    }

    /// Sends the pattern as a body twice: first with `send`, then with `stream`.
    /// - Parameters:
    ///   - body: The body, which can be read twice.
    ///   - transport: The transport under test.
    ///   - length: The `Content-Length` that the server must receive; `nil` for a chunked body.
    private static func send(_ body: RequestBody, over transport: any HTTPTransport, expect length: String?) async throws {
        for isStream in [false, true] {
            try await withServer(respond("201 Created", body: "ok")) { server in
                let request = server.request(method: isStream ? .put : .post, headers: [.contentType: body.contentType])
                let (response, responseBody) =
                    isStream
                    ? try await transport.stream(request, body: body, timeout: long, idleTimeout: long)
                    : try await transport.send(request, body: body, timeout: long)
                let bytes = try await responseBody.collect(upTo: 100).bytes
                let received = server.received.first
                try expect(response.status.code == 201 && bytes == Array("ok".utf8), "read \(response)")
                try expect(received?.body == pattern, "sent \(received?.body.count ?? -1) of \(size) bytes")
                try expect(received?.header("Content-Length") == length, "sent \(received?.head ?? [])")
                let coding = received?.header("Transfer-Encoding")
                try expect(coding == (length == nil ? "chunked" : nil), "sent \(received?.head ?? [])")
            }
        }
    }

    /// Checks that a transport sends the bodies of requests correctly.
    ///
    /// If the length of a body is known, the body must arrive with this `Content-Length`. Otherwise, it must arrive in chunks
    /// (`Transfer-Encoding: chunked`). If reading the body fails, or if the body is shorter than announced, the transport must end the
    /// request so that the server can't mistake the received bytes for the complete body.
    ///
    /// Several checks are only for transports that read the response while they still send the body; these checks have ``needsPausing``
    /// set.
    ///
    /// Common causes of failures:
    /// - *Never completes a body that fails or is shorter than announced*: the transport sends the final chunk of a failed body, or fills a
    ///   short body up to the announced length.
    /// - *Stops sending and reads the response*: the transport reads the response only after it has sent the whole body.
    /// - *Closes the connection when canceled while the body is sent*: the cancellation ends only the task that reads the response, but not
    ///   the task that sends the body.
    static let uploads: [TransportCheck] = [
        TransportCheck("Sends a complete streamed body of a known length with its length") { transport in
            try await send(streamed(length: Int64(size)), over: transport, expect: String(size))
        },
        TransportCheck("Sends a complete streamed body of an unknown length in chunks") { transport in
            try await send(streamed(length: nil), over: transport, expect: nil)
        },
        TransportCheck("Sends a complete file with its length and progress") { transport in
            let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
            try Data(pattern).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let seen = Mutex<[TransferProgress]>([])
            let body = RequestBody(file: file).reportingProgress { progress in seen.withLock { $0.append(progress) } }
            try await send(body, over: transport, expect: String(size))
            let steps = seen.withLock(\.self)
            try expect(steps.last == TransferProgress(completed: Int64(size), total: Int64(size)), "\(steps.suffix(1))")
            let ends = steps.count { $0.completed == Int64(size) }
            try expect(steps.count > 10 && ends == 2, "reported \(steps.count) times, \(ends) ends")
        },
        TransportCheck("Reports the progress of a body in memory") { transport in
            let seen = Mutex<[Int64]>([])
            let body = RequestBody(pattern, contentType: "a/b").reportingProgress { progress in
                seen.withLock { $0.append(progress.completed) }
            }
            try await send(body, over: transport, expect: String(size))
            try expect(seen.withLock { $0.last } == Int64(size), "reported \(seen.withLock { $0.suffix(1) })")
        },
        TransportCheck("Never completes a body that fails or is shorter than announced") { transport in
            struct Broken: Error {}
            let short = streamed(length: Int64(size) + 1)
            let failing = RequestBody(
                .stream(length: nil) { write in
                    try await write([1, 2, 3])
                    throw Broken()
                },
                contentType: "a/b"
            )
            for body in [short, failing] {
                try await withServer(respond("201 Created")) { server in
                    let error = try await failure {
                        _ = try await transport.send(server.request(method: .post), body: body, timeout: long)
                    }
                    try expect(error.code == .invalidRequest, "\(error)")
                    // A transport that reads the whole body before it connects has not sent anything yet, so there is no connection to
                    // close.
                    if error.wasSent { try await expectClosed(server) }
                    try expect(server.received.isEmpty, "the server read it as complete")
                }
            }
        },
        TransportCheck(
            "Stops sending and reads the response if the server refuses early",
            needsPausing: true
        ) { transport in
            let endless = RequestBody(
                .stream(length: nil) { write in while true { try await write([UInt8](repeating: 1, count: 65_536)) } },
                contentType: "a/b"
            )
            try await withServer(.early(head("413 X", ["Content-Length: 2"]) + "no")) { server in
                let request = server.request(method: .post)
                let (response, _) = try await transport.stream(request, body: endless, timeout: long, idleTimeout: long)
                try expect(response.status.code == 413, "read \(response)")
                try await expectClosed(server)
            }
        },
        TransportCheck("Stops sending if the server responds and closes early", needsPausing: true) {
            transport in
            let stalled = RequestBody(
                .stream(length: nil) { write in
                    try await write([1])
                    try await Task.sleep(for: .milliseconds(300))
                    while true { try await write([UInt8](repeating: 1, count: 65_536)) }
                },
                contentType: "a/b"
            )
            try await withServer(.hangUpAfter(head("200 OK", ["Content-Length: 2"]) + "ok")) { server in
                let request = server.request(method: .post)
                do {
                    let (response, body) = try await transport.stream(request, body: stalled, timeout: long, idleTimeout: long)
                    let bytes = try await body.collect(upTo: 9).bytes
                    try expect(response.status == .ok && bytes == Array("ok".utf8), "read \(response) \(bytes)")
                } catch let error as TransportError {
                    // The connection may be reset before the response is read.
                    try expect(error.code == .connectionLost, "\(error)")
                }
            }
        },
        TransportCheck("Closes the connection when canceled while the body is sent", needsPausing: true) { transport in
            let stalled = RequestBody(
                .stream(length: nil) { write in
                    try await write([1])
                    try await Task.sleep(for: long)
                },
                contentType: "a/b"
            )
            try await withServer(.early("")) { server in
                try await expectCancelled(server) {
                    _ = try await transport.stream(server.request(method: .post), body: stalled, timeout: long, idleTimeout: long)
                }
                try await expectClosed(server)
            }
        },
    ]

    /// Checks of the two time limits of `HTTPTransport.stream(_:body:timeout:idleTimeout:)`. Also checks that a slow reader makes the
    /// server pause.
    ///
    /// `timeout` limits the time until the head of a successful response. `idleTimeout` then limits the time between two chunks that the
    /// server sends. The time in which the transport waits for the reader because its buffer is full doesn't count. For an error response,
    /// `timeout` also includes the body, because a client reads this body completely.
    ///
    /// Common causes of failures:
    /// - *Pauses the server for a slow reader*: the engine stores the body in memory without a bound.
    /// - *Does not count a pause of the reader as silence of the server*: the idle timer runs while the transport waits for the reader.
    /// - *Closes the connection of a streamed body that is released early*: the body doesn't cancel its exchange when it is released.
    static let streams: [TransportCheck] = [
        TransportCheck("Does not apply the deadline of the head to a streamed body") { transport in
            try await withDeadlines { deadline in
                try await withServer(.dribble(head("200 OK", ["Content-Length: 900000"]))) { server in
                    let request = server.request()
                    let (_, body) = try await inTime {
                        try await transport.stream(request, body: nil, timeout: deadline, idleTimeout: long)
                    }
                    let begin = ContinuousClock.now
                    for try await _ in body where begin.duration(to: .now) > deadline * 2 { break }
                    try expect(begin.duration(to: .now) > deadline * 2, "the body ended")
                }
            }
        },
        TransportCheck("Times out a streamed exchange whose head never arrives") { transport in
            try await withDeadlines { deadline in
                try await withServer(.stall("")) { server in
                    let error = try await failure {
                        _ = try await transport.stream(server.request(), body: nil, timeout: deadline, idleTimeout: long)
                    }
                    try expect(error.code == .timeout, "\(error)")
                    try expectArrival(at: server)
                    try expect(error.wasSent, "reported as not sent")
                    try await expectClosed(server)
                }
            }
        },
        TransportCheck("Times out a streamed body after the idle time") { transport in
            try await withServer(.stall(head("200 OK", ["Content-Length: 9"]) + "half")) { server in
                let request = server.request()
                let (_, body) = try await transport.stream(request, body: nil, timeout: long, idleTimeout: .milliseconds(300))
                let error = try await failure { _ = try await body.collect(upTo: 9) }
                try expect(error.code == .timeout && error.wasSent, "\(error), sent: \(error.wasSent)")
                try await expectClosed(server)
            }
        },
        TransportCheck("Applies the deadline of the head to the body of a streamed refusal") { transport in
            try await withDeadlines { deadline in
                try await withServer(.dribble(head("500 X", ["Content-Length: 900000"]))) { server in
                    let request = server.request()
                    let (response, body) = try await inTime {
                        try await transport.stream(request, body: nil, timeout: deadline, idleTimeout: long)
                    }
                    let error = try await failure { _ = try await body.collect(upTo: 900_000) }
                    try expect(response.status.code == 500 && error.code == .timeout, "\(error)")
                }
            }
        },
        TransportCheck("Pauses the server for a slow reader, which gets the complete body", needsPausing: true) { transport in
            let size = 48 * 1_024 * 1_024
            try await withServer(.generate(head("200 OK", ["Content-Length: \(size)"]), count: size)) { server in
                let (_, body) = try await transport.stream(server.request(), body: nil, timeout: long, idleTimeout: long)
                var chunks = body.makeAsyncIterator()
                var count = try await chunks.next()?.count ?? 0
                // Waits until the server has stopped sending. The sockets of both sides buffer a few megabytes.
                var (last, rounds) = (-1, 0)
                while rounds < 5, server.written < size {
                    rounds = server.written == last ? rounds + 1 : 0
                    last = server.written
                    try await Task.sleep(for: .milliseconds(50))
                }
                try expect(server.written < size / 2, "\(server.written) bytes were sent to a reader that read \(count)")
                while let chunk = try await chunks.next() { count += chunk.count }
                try expect(count == size, "read \(count) of \(size) bytes")
            }
        },
        TransportCheck("Does not count a pause of the reader as silence of the server") { transport in
            let size = 48 * 1_024 * 1_024
            try await withDeadlines { deadline in
                // The chunks before and after the pause must arrive within this time.
                let idle = max(deadline, .seconds(1))
                try await withServer(.generate(head("200 OK", ["Content-Length: \(size)"]), count: size)) { server in
                    let (_, body) = try await transport.stream(server.request(), body: nil, timeout: long, idleTimeout: idle)
                    let count = try await inTime {
                        var chunks = body.makeAsyncIterator()
                        var count = try await chunks.next()?.count ?? 0
                        try await Task.sleep(for: idle * 1.4)
                        while let chunk = try await chunks.next() { count += chunk.count }
                        return count
                    }
                    try expect(count == size, "read \(count) of \(size) bytes")
                }
            }
        },
        TransportCheck("Closes the connection when canceled while a streamed body arrives") { transport in
            try await withServer(.stall(head("200 OK", ["Content-Length: 9"]) + "half")) { server in
                try await expectCancelled(server) {
                    let (_, body) = try await transport.stream(server.request(), body: nil, timeout: long, idleTimeout: long)
                    _ = try await body.collect(upTo: 9)
                }
                try await expectClosed(server)
            }
        },
        TransportCheck("Closes the connection of a streamed body that is released early") {
            transport in
            let size = 48 * 1_024 * 1_024
            for step in [
                LoopbackServer.Step.stall(head("200 OK", ["Content-Length: 900"]) + "half"),
                .generate(head("200 OK", ["Content-Length: \(size)"]), count: size),
            ] {
                try await withServer(step) { server in
                    do {
                        let (_, body) = try await transport.stream(server.request(), body: nil, timeout: long, idleTimeout: long)
                        var chunks = body.makeAsyncIterator()
                        _ = try await chunks.next()
                    }
                    try await expectClosed(server)
                }
            }
        },
    ]
}
