import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A scripted HTTP server on the loopback: one connection at a time, each answered by the next step and closed.
///
/// A thread of its own waits in the system calls, so that nothing blocks the tests' threads.
final class LoopbackServer: Sendable {
    /// What becomes of one connection.
    enum Step: Sendable {
        /// The request is read and these bytes are the answer.
        case answer(String)
        /// The request is read, these bytes are sent, and the connection stays open until the client or the test ends it.
        case stall(String)
        /// The request is read, these bytes are sent, and then one more every 50 ms until the client ends it.
        case dribble(String)
        /// The connection is closed without reading.
        case hangUp
    }

    /// One request as it came over the wire.
    struct Received: Sendable {
        /// The request line and the header lines.
        var head: [String]
        /// The body.
        var body: [UInt8]

        /// The value of a header, if it was sent.
        func header(_ name: String) -> String? {
            let line = head.dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            return line.map { $0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces) }
        }
    }

    struct SetupFailure: Error {
        var call: String
        var number: Int32
    }

    /// The port that was given.
    let port: Int
    /// Yields once for each request that was read; ends when the server has ended.
    let arrivals: AsyncStream<Void>
    private let state: Mutex<State>

    /// The descriptors are there only as long as they are open: a closed one's number soon belongs to somebody else.
    private struct State {
        var received: [Received] = []
        var listener: Int32?
        var connection: Int32?
        var isClosed = false
    }

    var received: [Received] { state.withLock { $0.received } }
    var origin: String { "http://127.0.0.1:\(port)" }

    init(_ steps: [Step]) throws {
        let listener = socket(AF_INET, Self.streamType, 0)
        guard listener >= 0 else { throw SetupFailure(call: "socket", number: errno) }
        state = Mutex(State(listener: listener))
        do {
            port = try Self.listen(listener)
        } catch {
            _ = Self.closeSocket(listener)
            throw error
        }
        let (arrivals, continuation) = AsyncStream<Void>.makeStream()
        self.arrivals = arrivals
        Thread.detachNewThread { [self] in
            run(steps, listener: listener, arrivals: continuation)
            state.withLock { state in
                state.listener = nil
                _ = Self.closeSocket(listener)
            }
            continuation.finish()
        }
    }

    /// Ends every wait and returns when the thread is gone.
    func close() async {
        state.withLock { state in
            state.isClosed = true
            for descriptor in [state.listener, state.connection].compactMap(\.self) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        for await _ in arrivals {}
    }

    private func run(_ steps: [Step], listener: Int32, arrivals: AsyncStream<Void>.Continuation) {
        for step in steps {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            let isClosed = state.withLock { state in
                state.connection = connection
                return state.isClosed
            }
            if !isClosed { serve(step, on: connection, arrivals: arrivals) }
            state.withLock { state in
                state.connection = nil
                _ = Self.closeSocket(connection)
            }
        }
    }

    private func serve(_ step: Step, on connection: Int32, arrivals: AsyncStream<Void>.Continuation) {
        if case .hangUp = step { return }
        guard let request = Self.readRequest(connection) else { return }
        state.withLock { $0.received.append(request) }
        switch step {
        case .answer(let text): Self.write(text, to: connection)
        case .stall(let text), .dribble(let text): Self.write(text, to: connection)
        case .hangUp: break
        }
        arrivals.yield()
        if case .dribble = step {
            // A thread of its own may sleep; a client that has gone ends it by the second byte.
            while Self.isOpen(connection) {
                Self.write("x", to: connection)
                usleep(50_000)
            }
        }
        if case .stall = step { while Self.readSome(connection)?.isEmpty == false {} }
    }
}
