import ErrorContract
import Foundation
import ResilientHTTP
import Synchronization
import Timekeeping

extension EverydayTasks {
    /// Calls that end at a deadline, are canceled, wait for a rate limit, or wait for a connection.
    ///
    /// The servers of the first two tasks never respond, so these tasks hang if the transport ignores a deadline or a cancellation. Set a
    /// time limit for the test. The task with the rate limit takes at least 2 s of real time.
    static let waits: [TransportCheck] = [
        TransportCheck("Ends a call at its deadline") { transport in
            try await withClient(over: transport, step: .stall("")) { api, _ in
                let error = try await failure {
                    // snippet: task-timeout
                    let notes: [Note] = try await api.get("/notes", options: .timeout(.milliseconds(300)))
                    // snippet end
                    print(notes)
                }
                try TransportCheck.expect(error.kind == .timeout, "ended with \(error)")
            }
        },
        TransportCheck("Cancels a call with its task") { transport in
            try await withClient(over: transport, step: .stall("")) { api, server in
                // snippet: task-cancel
                let search = Task { () async throws(APIError) -> [Note] in try await api.get("/notes?q=a") }
                // The user types on.
                // snippet end
                for await _ in server.arrivals { break }
                // snippet: task-cancel-end
                search.cancel()
                // snippet end
                let error = try await failure { _ = try await search.value }
                try TransportCheck.expect(error.kind == .cancelled, "ended with \(error)")
            }
        },
        TransportCheck("Requests 50 pages, five at a time, under a limit of 10 per 2 s") { transport in
            // The clock is four times as fast as real time, so the limit is 10 per 0.5 s of real time.
            let window = Mutex<[ContinuousClock.Instant]>([])
            let clock = MonotonicClock(QuickClock(factor: 4))
            try await withClient(over: transport, environment: ClientEnvironment(clock: clock)) { request in
                let wait = window.withLock { window -> Duration? in
                    let now = ContinuousClock.now
                    window.removeAll { $0 <= now - .milliseconds(500) }
                    guard window.count >= 10, let oldest = window.first else {
                        window.append(now)
                        return nil
                    }
                    return (oldest + .milliseconds(500) - now) * 4
                }
                guard let wait else { return response(body: "[\(request.line.split(separator: "=").last ?? "")]") }
                return response("429 Too Many Requests", ["Retry-After: \(max(1, Int((wait / .seconds(1)).rounded(.up))))"])
            } body: { api, _ in
                // snippet: task-all-pages
                let pages: [[Int]] = try await api.allPages("/numbers", numbers: 1...50, atOnce: 5)
                // snippet end
                try TransportCheck.expect(pages == (1...50).map { [$0] }, "read \(pages)")
            }
        },
        TransportCheck("Waits for a connection") { transport in
            let connectivity = Connectivity(isOnline: false)
            let (refusals, refused) = AsyncStream<Void>.makeStream()
            let offline = ClosureTransport { request, body, timeout in
                guard connectivity.isOnline else {
                    refused.yield()
                    throw TransportError(.noInternet, message: "offline", wasSent: false)
                }
                return try await transport.send(request, body: body, timeout: timeout)
            }
            let environment = ClientEnvironment(connectivity: connectivity)
            try await withClient(over: offline, environment: environment) { _ in
                response(body: #"{"id":1,"title":"a"}"#)
            } body: { api, server in
                try await withThrowingTaskGroup(of: Note.self) { group in
                    group.addTask {
                        // snippet: task-connectivity
                        let note: Note = try await api.get("/notes/1", options: .waitsForConnectivity)
                        // snippet end
                        return note
                    }
                    for await _ in refusals { break }
                    connectivity.report(isOnline: true)
                    let note = try await group.next()
                    try TransportCheck.expect(
                        note?.id == 1 && server.received.count == 1,
                        "read \(note.map { "\($0)" } ?? "nothing")"
                    )
                }
            }
        },
    ]
}
