import HTTPTypes
import ResilientHTTP

extension TransportCheck {
    /// Checks of deadlines, cancellation and readers that stop early. In each case, the transport must close the connection. Otherwise, a
    /// server could continue to send forever. The deadlines are 0.3 s, and longer on a busy machine.
    ///
    /// The deadline of an exchange includes connecting, all redirects, the head and the body. Common causes of failures:
    /// - *Times out if the server never responds*: the engine reports `wasSent: false`, although the server may have received the request.
    /// - *Keeps a deadline while a later one is pending*: the engine has one timer for all exchanges, and sets it to the latest deadline.
    /// - *Trap: ends a body that arrives byte by byte*: the engine's timeout restarts with each byte.
    /// - *Trap: applies one deadline to all redirects*: each redirect is a new exchange with a new deadline.
    /// - *Reports cancellation if canceled before the start*: the cancellation handler runs before the request exists, so it cancels
    ///   nothing.
    /// - *Closes the connection of a response that is never read*: the connection is closed only when its body ends.
    static let endings: [TransportCheck] = [
        TransportCheck("Times out if the server never responds, and reports that it may have been sent") { transport in
            try await withDeadlines { deadline in
                try await withServer(.stall("")) { server in
                    let error = try await failure { _ = try await exchange(transport, server.request(), timeout: deadline) }
                    try expect(error.code == .timeout, "\(error)")
                    try expectArrival(at: server)
                    try expect(error.wasSent, "reported as not sent")
                    try await expectClosed(server)
                }
            }
        },
        TransportCheck("Times out if a body stops arriving") { transport in
            try await withDeadlines { deadline in
                try await withServer(.stall(head("200 OK", ["Content-Length: 9"]) + "half")) { server in
                    let error = try await failure { _ = try await exchange(transport, server.request(), timeout: deadline) }
                    try expect(error.code == .timeout, "\(error)")
                    try expectArrival(at: server)
                    try expect(error.wasSent, "reported as not sent")
                    try await expectClosed(server)
                }
            }
        },
        TransportCheck("Returns the status of a response whose body never arrives") { transport in
            try await withDeadlines { deadline in
                try await withServer(.stall(head("503 X", ["Content-Length: 9", "Retry-After: 30"]))) { server in
                    let request = server.request()
                    let (response, body) = try await inTime {
                        try await transport.send(request, body: nil, timeout: deadline)
                    }
                    try expect(response.status.code == 503 && field("Retry-After", response) == "30", "read \(response)")
                    let error = try await failure { _ = try await body.collect(upTo: 9) }
                    try expect(error.code == .timeout && error.wasSent, "\(error), sent: \(error.wasSent)")
                }
            }
        },
        TransportCheck("Keeps a deadline while a later one is pending") { transport in
            try await withServer(.stall("")) { patient in
                try await withServer(.stall("")) { server in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { _ = try await exchange(transport, patient.request(), timeout: .seconds(600)) }
                        for await _ in patient.arrivals { break }
                        let error = try await failure {
                            _ = try await exchange(transport, server.request(), timeout: .milliseconds(300))
                        }
                        try expect(error.code == .timeout, "\(error)")
                        group.cancelAll()
                        _ = await group.nextResult()
                    }
                }
            }
        },
        TransportCheck("Trap: ends a body that arrives byte by byte at the deadline of the exchange") {
            transport in
            try await withDeadlines { deadline in
                try await withServer(.dribble(head("200 OK", ["Content-Length: 900000"]))) { server in
                    let error = try await failure { _ = try await exchange(transport, server.request(), timeout: deadline) }
                    try expect(error.code == .timeout, "\(error)")
                    try expectArrival(at: server)
                    try expect(error.wasSent, "reported as not sent")
                }
            }
        },
        TransportCheck("Trap: applies one deadline to all redirects") { transport in
            let slow = LoopbackServer.Step.stall("")
            try await withServer(connections: [[respond("302 X", ["Location: /b"])], [slow]]) { server in
                let error = try await failure { _ = try await exchange(transport, server.request(), timeout: .milliseconds(300)) }
                try expect(error.code == .timeout, "\(error)")
            }
        },
        TransportCheck("Trap: times out at any moment between two redirects") { transport in
            for round in 1...40 {
                let circle = Array(repeating: [respond("302 X", ["Location: /a"])], count: Redirection.most + 1)
                try await withServer(connections: circle) { server in
                    do {
                        let timeout = Duration.microseconds(round * 500)
                        let (response, _) = try await exchange(transport, server.request(), timeout: timeout)
                        try expect(response.status.code == 302, "read \(response)")
                    } catch let error as TransportError {
                        try expect(error.code == .timeout, "\(error)")
                    }
                }
            }
        },
        TransportCheck("Closes the connection when canceled before the response") { transport in
            try await withServer(.stall("")) { server in
                try await expectCancelled(server) { _ = try await exchange(transport, server.request(), timeout: .seconds(600)) }
                try await expectClosed(server)
            }
        },
        TransportCheck("Closes the connection when canceled while the body arrives") { transport in
            try await withServer(.stall(head("200 OK", ["Content-Length: 9"]) + "half")) { server in
                try await expectCancelled(server) { _ = try await exchange(transport, server.request(), timeout: .seconds(600)) }
                try await expectClosed(server)
            }
        },
        TransportCheck("Reports cancellation if canceled before the start") { transport in
            try await withServer(.stall("")) { server in
                for _ in 0..<50 {
                    let error = await withTaskGroup(of: TransportError?.self) { group in
                        group.cancelAll()
                        group.addTask {
                            do throws(TransportError) {
                                _ = try await transport.send(server.request(), body: nil, timeout: .seconds(600))
                                return nil
                            } catch {
                                return error
                            }
                        }
                        return await group.next() ?? nil
                    }
                    try expect(error?.code == .cancelled, "\(error.map(\.description) ?? "succeeded")")
                }
            }
        },
        TransportCheck("Closes the connection when the reader stops early") { transport in
            try await withServer(.stall(head("200 OK", ["Content-Length: 900"]) + "half")) { server in
                do {
                    let (_, body) = try await transport.send(server.request(), body: nil, timeout: .seconds(600))
                    let isTruncated = try await body.collect(upTo: 2).isTruncated
                    try expect(isTruncated, "read it all")
                }
                try await expectClosed(server)
            }
        },
        TransportCheck("Closes the connection of a response that is never read") { transport in
            try await withServer(.stall(head("200 OK", ["Content-Length: 900"]) + "half")) { server in
                _ = try await transport.send(server.request(), body: nil, timeout: .seconds(600))
                try await expectClosed(server)
            }
        },
    ]

    /// Waits until the client has closed a connection.
    /// - Throws: ``Violation`` after 120 s.
    static func expectClosed(_ server: LoopbackServer) async throws {
        let isClosed = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in server.departures { return true }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(120))
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        try expect(isClosed, "left the connection open")
    }

    /// Cancels a call after its request has arrived, and requires that the call ends with a cancellation error.
    /// - Parameters:
    ///   - server: The server that receives the request.
    ///   - call: The call, which would otherwise wait for a long time.
    /// - Throws: ``Violation`` if the call ends in another way.
    static func expectCancelled(
        _ server: LoopbackServer,
        _ call: @escaping @Sendable () async throws -> Void
    ) async throws {
        let end = await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                do {
                    try await call()
                    return nil
                } catch {
                    return error
                }
            }
            for await _ in server.arrivals { break }
            group.cancelAll()
            return await group.next() ?? nil
        }
        // Reading a body may also throw Swift's cancellation error.
        let isCancelled = end is CancellationError || (end as? TransportError)?.code == .cancelled
        try expect(isCancelled, "ended with \(end.map { "\($0)" } ?? "a response")")
    }
}
