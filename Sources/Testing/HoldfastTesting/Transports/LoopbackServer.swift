import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An HTTP server for tests, which listens on the loopback interface and follows a script. The script decides which bytes the server sends
/// and how it ends a connection, so a test can cause any failure of a connection.
///
/// ```swift
/// let server = try LoopbackServer([
///     .respond("HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n"),
///     .reset("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
/// ])
/// let api = APIClient(baseURL: URL(string: server.origin)!, transport: transport)
/// // Make calls and check `server.received`.
/// await server.close()
/// ```
///
/// With ``init(_:)``, each connection has one request. The server uses the first ``Step`` for the first connection, the second step for the
/// second connection, and so on. After the last step, the server accepts no more connections. Use ``init(connections:)`` for several
/// requests on one connection. The client decides which request it sends on which connection. Therefore, if a test makes concurrent
/// requests, use ``init(storesBodies:responding:)``. Its closure chooses the step for each request.
///
/// For tests of a client or an app, use ``ScriptedTransport``, which needs no sockets.
///
/// The server has one thread that waits for connections, and one thread for each open connection, so it doesn't block the threads of the
/// tests. Close the server at the end of a test. Otherwise, these threads remain until the process ends.
public final class LoopbackServer: Sendable {
    /// The reaction to one request.
    public enum Step: Sendable {
        /// Reads the request, sends these bytes, and closes the connection. The text is the complete response, with its status line, header
        /// lines that end with CRLF, and the body.
        case respond(String)
        /// Like ``respond(_:)``, for bytes that are not text.
        case bytes([UInt8])
        /// Reads the request, sends these bytes, and waits for the next request on the connection.
        case keep(String)
        /// Reads the request, sends these bytes, and keeps the connection open until the client or the test ends it. If the text is empty,
        /// the client receives nothing.
        case stall(String)
        /// Reads the request, sends these bytes, and then one byte every 50 ms until the client ends the connection. Use this step to test
        /// that a deadline doesn't restart with each byte.
        case dribble(String)
        /// Reads the request, sends these bytes, and resets the connection (TCP RST), as after a crash of a server.
        case reset(String)
        /// Reads the request, and sends a head and `count` bytes `x` in blocks of 64 KiB. The server doesn't store these bytes, but
        /// ``LoopbackServer/written`` counts them. Use this step to test bodies that are larger than memory.
        case generate(String, count: Int)
        /// Reads the head, sends these bytes, and discards the body until the client ends the connection. Use this step to test a client
        /// that sends a large body to a server that has already refused the request.
        case early(String)
        /// Reads the head, sends these bytes, and closes the connection without reading the body. The client's system may discard the
        /// response, because unread bytes cause a reset.
        case hangUpAfter(String)
        /// Closes the connection without reading. ``LoopbackServer/received`` doesn't contain the request.
        case hangUp
    }

    /// A request as it was received.
    public struct Received: Sendable {
        /// The request line and the header lines, without CRLF.
        public var head: [String]
        /// The body; empty if the server stores none.
        public var body: [UInt8]
        /// The number of bytes of the body.
        public var bodyLength = 0

        /// Returns the value of a header field, without surrounding spaces; `nil` if it was not sent.
        /// - Parameter name: The name. Uppercase and lowercase letters are equal.
        /// - Returns: The first value if the field was sent several times.
        public func header(_ name: String) -> String? {
            let line = head.dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            return line.map { $0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The error of a failed system call, for example because no port or descriptor is available.
    public struct SetupFailure: Error {
        /// The system call, such as `bind`.
        public var call: String
        /// The error number of the system call (`errno`).
        public var number: Int32
    }

    /// The port of the server, which the system has chosen.
    public let port: Int
    /// The arrived requests: the stream yields once for each request, when the server has read the request and sent the bytes of its step.
    /// The stream ends when the server has ended. Only one task may iterate the stream, and ``close()`` consumes the rest.
    public let arrivals: AsyncStream<Void>
    /// The ended connections: the stream yields once for each ended connection. The stream ends when the server has ended. Only one task
    /// may iterate the stream.
    public let departures: AsyncStream<Void>
    /// The state of the server, shared by all its threads.
    private let state: Mutex<State>
    /// Whether the bodies of requests are stored. If `false`, the server only counts their bytes.
    private let storesBodies: Bool
    /// The sending ends of ``arrivals`` and ``departures``. The last thread finishes them.
    private let (arrived, departed): (AsyncStream<Void>.Continuation, AsyncStream<Void>.Continuation)

    /// The state, guarded by a mutex. The state contains only open descriptors, because the system reuses the numbers of closed
    /// descriptors. Each thread removes its descriptor from the state and closes it in one step under the lock, and ``close()`` shuts down
    /// only the descriptors that it finds in the state. So ``close()`` can't shut down a connection of other code.
    private struct State {
        /// The requests, in the order in which they were read.
        var received: [Received] = []
        /// The number of bytes that ``Step/generate(_:count:)`` sent.
        var written = 0
        /// The listening socket; `nil` when it is closed.
        var listener: Int32?
        /// The open connections.
        var connections: Set<Int32> = []
        /// Whether ``close()`` was called. New connections are then closed at once.
        var isClosed = false
        /// The number of running threads, including the thread of the listener. The last thread ends the streams.
        var threads = 1
    }

    /// The requests so far, in the order in which they were read. Requests of ``Step/early(_:)`` and ``Step/hangUpAfter(_:)`` have no body.
    public var received: [Received] { state.withLock { $0.received } }
    /// The number of bytes of generated bodies that the kernel has accepted.
    public var written: Int { state.withLock { $0.written } }
    /// The scheme, the host and the port, such as `http://127.0.0.1:49152`.
    public var origin: String { "http://127.0.0.1:\(port)" }

    /// Starts a server whose connections have one request each.
    /// - Parameter steps: The reaction to the request of each connection, in the order in which they are opened. Without steps, the server
    ///   accepts no connection.
    /// - Throws: ``SetupFailure`` if no port is available.
    public convenience init(_ steps: [Step]) throws {
        try self.init(connections: steps.map { [$0] })
    }

    /// Starts a server.
    ///
    /// A client may open more connections than a test expects, for example after a lost connection. Later connections then get other steps
    /// than the test intended.
    /// - Parameter connections: The steps for each connection, in the order in which connections are opened. Each inner array has one step
    ///   for each request of the connection. The server closes the connection after the last step, and after each step other than
    ///   ``Step/keep(_:)``.
    /// - Throws: ``SetupFailure`` if no port is available.
    public convenience init(connections: [[Step]]) throws {
        try self.init(serving: .scripts(connections))
    }

    /// Starts a server that accepts any number of connections.
    ///
    /// ```swift
    /// let server = try LoopbackServer { request in
    ///     request.header("Authorization") == nil
    ///         ? .keep("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
    ///         : .keep("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    /// }
    /// ```
    ///
    /// The server calls the closure on the thread of the connection. If several connections are open, these calls run concurrently.
    /// - Parameters:
    ///   - storesBodies: Whether the server stores the bodies of requests. If `false`, the server only counts their bytes.
    ///   - respond: Returns the step for a request, after the server has read the whole request. Here, the steps ``Step/early(_:)``,
    ///     ``Step/hangUpAfter(_:)`` and ``Step/hangUp`` only close the connection.
    /// - Throws: ``SetupFailure`` if no port is available.
    public convenience init(
        storesBodies: Bool = true,
        responding respond: @escaping @Sendable (Received) -> Step
    ) throws {
        try self.init(serving: .requests(respond), storesBodies: storesBodies)
    }

    /// The source of the steps.
    private enum Service: Sendable {
        /// One script for each connection.
        case scripts([[Step]])
        /// A function that returns the step for each request of any connection.
        case requests(@Sendable (Received) -> Step)
    }

    /// Binds the listener and starts its thread.
    /// - Parameters:
    ///   - service: The source of the steps.
    ///   - storesBodies: Whether the bodies of requests are stored.
    /// - Throws: ``SetupFailure`` if no port or descriptor is available.
    private init(serving service: Service, storesBodies: Bool = true) throws {
        self.storesBodies = storesBodies
        let listener = Self.makeSocket()
        guard listener >= 0 else { throw SetupFailure(call: "socket", number: errno) }
        state = Mutex(State(listener: listener))
        do {
            port = try Self.listen(listener)
        } catch {
            _ = Self.closeSocket(listener)
            throw error
        }
        (arrivals, arrived) = AsyncStream<Void>.makeStream()
        (departures, departed) = AsyncStream<Void>.makeStream()
        Thread.detachNewThread { [self] in
            switch service {
            case .scripts(let scripts):
                for script in scripts {
                    let serves = accept(on: listener) { [self] connection in
                        for step in script where !serve(step, on: connection) { break }
                    }
                    if !serves { break }
                }
            case .requests(let respond):
                while accept(on: listener, { [self] in while serve(respond, on: $0) {} }) {}
            }
            state.withLock { state in
                state.listener = nil
                _ = Self.closeSocket(listener)
            }
            threadEnded()
        }
    }

    /// Ends all connections, and returns when the threads of the server have ended. Further calls return immediately.
    ///
    /// The function shuts down all sockets of the server, so blocked system calls return at once, and clients see the end of their
    /// connections. The function reads ``arrivals`` until the threads have ended. No other task may iterate ``arrivals`` meanwhile.
    public func close() async {
        state.withLock { state in
            state.isClosed = true
            for descriptor in state.connections.union([state.listener].compactMap(\.self)) {
                _ = shutdown(descriptor, Int32(SHUT_RDWR))
            }
        }
        for await _ in arrivals {}
    }

    /// Counts the end of a thread. The last thread ends the streams, because ``close()`` waits for their end.
    private func threadEnded() {
        let isLast = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        guard isLast else { return }
        arrived.finish()
        departed.finish()
    }

    /// Accepts a connection, and serves it on a separate thread.
    ///
    /// - Parameters:
    ///   - listener: The listening socket, which ``close()`` shuts down.
    ///   - serve: Serves the connection until it ends. The closure blocks the thread of the connection.
    /// - Returns: Whether the listener accepted a connection.
    private func accept(on listener: Int32, _ serve: @escaping @Sendable (Int32) -> Void) -> Bool {
        let connection = Self.accept(listener)
        guard connection >= 0 else { return false }
        let isClosed = state.withLock { state in
            if state.isClosed { return true }
            state.connections.insert(connection)
            state.threads += 1
            return false
        }
        guard !isClosed else {
            _ = Self.closeSocket(connection)
            return false
        }
        Thread.detachNewThread { [self] in
            serve(connection)
            state.withLock { state in
                state.connections.remove(connection)
                _ = Self.closeSocket(connection)
            }
            departed.yield()
            threadEnded()
        }
        return true
    }

    /// Executes a fixed step for the next request of a connection, including the steps that don't read the whole request.
    /// - Parameters:
    ///   - step: The step.
    ///   - connection: The descriptor, which the caller closes.
    /// - Returns: Whether the caller must wait for another request on the connection.
    private func serve(_ step: Step, on connection: Int32) -> Bool {
        if case .hangUp = step { return false }
        let (text, readsOn): (String, Bool)
        switch step {
        case .early(let early): (text, readsOn) = (early, true)
        case .hangUpAfter(let early): (text, readsOn) = (early, false)
        default: return serve({ _ in step }, on: connection)
        }
        guard let request = Self.readRequest(connection, part: .head) else { return false }
        state.withLock { $0.received.append(request) }
        _ = Self.write(Array(text.utf8), to: connection)
        arrived.yield()
        while readsOn, Self.readSome(connection)?.isEmpty == false {}
        return false
    }

    /// Reads the next request of a connection, and executes the step for it. The function blocks the thread of the connection.
    /// - Parameters:
    ///   - respond: Returns the step for the request.
    ///   - connection: The descriptor, which the caller closes.
    /// - Returns: Whether the caller must wait for another request on the connection.
    private func serve(_ respond: (Received) -> Step, on connection: Int32) -> Bool {
        guard let request = Self.readRequest(connection, part: storesBodies ? .whole : .counted) else { return false }
        state.withLock { $0.received.append(request) }
        let step = respond(request)
        switch step {
        case .respond(let text), .keep(let text), .stall(let text), .dribble(let text), .reset(let text):
            _ = Self.write(Array(text.utf8), to: connection)
        case .bytes(let bytes): _ = Self.write(bytes, to: connection)
        case .generate(let head, let count): generate(head, count: count, on: connection)
        case .early, .hangUpAfter, .hangUp: break
        }
        if case .reset = step { Self.prepareReset(connection) }
        arrived.yield()
        if case .dribble = step {
            // Sleeping is fine here, because the thread serves only this connection. The loop ends when the client has closed the
            // connection.
            while Self.isOpen(connection) {
                _ = Self.write([UInt8(ascii: "x")], to: connection)
                usleep(50_000)
            }
        }
        if case .stall = step { while Self.readSome(connection)?.isEmpty == false {} }
        if case .keep = step { return true }
        return false
    }

    /// Writes a head and `count` bytes `x`, until the other side closes the connection. A block counts after the kernel has accepted it.
    private func generate(_ head: String, count: Int, on connection: Int32) {
        let block = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
        var left = count
        guard Self.write(Array(head.utf8), to: connection) else { return }
        while left > 0 {
            let size = min(left, block.count)
            guard Self.write(size == block.count ? block : Array(block.prefix(size)), to: connection) else { return }
            left -= size
            state.withLock { $0.written += size }
        }
    }
}
