import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A scripted HTTP server on the loopback, for tests of failures on the wire: it writes raw bytes.
///
/// Each connection has its own script, in the order in which connections are opened. Connections after the last script are closed. Separate
/// threads wait in the system calls, so that the threads of the tests are not blocked.
public final class LoopbackServer: Sendable {
    /// The reaction to one request.
    public enum Step: Sendable {
        /// Reads the request, sends these bytes, and closes the connection.
        case answer(String)
        /// Like ``answer(_:)``, for bytes that are not text.
        case bytes([UInt8])
        /// Reads the request, sends these bytes, and waits for the next request on the connection.
        case keep(String)
        /// Reads the request, sends these bytes, and keeps the connection open until the client or the test ends it.
        case stall(String)
        /// Reads the request, sends these bytes, and then one byte every 50 ms until the client ends the connection.
        case dribble(String)
        /// Reads the request, sends these bytes, and resets the connection.
        case reset(String)
        /// Reads the request, and sends a head and `count` bytes `x`. The server stores none of them; ``LoopbackServer/written`` counts
        /// them.
        case generate(String, count: Int)
        /// Reads the head, sends these bytes, and discards the body until the client ends the connection.
        case early(String)
        /// Reads the head, sends these bytes, and closes the connection without reading the body.
        case hangUpAfter(String)
        /// Closes the connection without reading.
        case hangUp
    }

    /// A request as it was received.
    public struct Received: Sendable {
        /// The request line and the header lines.
        public var head: [String]
        /// The body; empty if the server stores none.
        public var body: [UInt8]
        /// The number of bytes of the body.
        public var bodyLength = 0

        /// The value of a header, if it was sent.
        public func header(_ name: String) -> String? {
            let line = head.dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            return line.map { $0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces) }
        }
    }

    /// A system call failed.
    public struct SetupFailure: Error {
        /// The call.
        public var call: String
        /// Its `errno`.
        public var number: Int32
    }

    /// The port of the server.
    public let port: Int
    /// Yields once for each request that was read and has a response; ends when the server has ended.
    public let arrivals: AsyncStream<Void>
    /// Yields once for each connection that has ended; ends when the server has ended.
    public let departures: AsyncStream<Void>
    private let state: Mutex<State>
    private let storesBodies: Bool
    private let (arrived, departed): (AsyncStream<Void>.Continuation, AsyncStream<Void>.Continuation)

    /// Only contains open descriptors: the system reuses the numbers of closed ones.
    private struct State {
        var received: [Received] = []
        /// The number of bytes that ``Step/generate(_:count:)`` sent.
        var written = 0
        var listener: Int32?
        var connections: Set<Int32> = []
        var isClosed = false
        /// The number of running threads.
        var threads = 1
    }

    /// The requests so far, in the order in which they were read.
    public var received: [Received] { state.withLock { $0.received } }
    /// The number of bytes of generated bodies that the kernel has accepted.
    public var written: Int { state.withLock { $0.written } }
    /// Scheme, host and port.
    public var origin: String { "http://127.0.0.1:\(port)" }

    /// Starts a server whose connections have one request each.
    /// - Throws: ``SetupFailure`` if no port is available.
    public convenience init(_ steps: [Step]) throws {
        try self.init(connections: steps.map { [$0] })
    }

    /// Starts a server.
    /// - Parameter connections: The reactions to the requests of each connection.
    /// - Throws: ``SetupFailure`` if no port is available.
    public convenience init(connections: [[Step]]) throws {
        try self.init(serving: .scripts(connections))
    }

    /// Starts a server that accepts any number of connections.
    /// - Parameters:
    ///   - storesBodies: Whether the bodies of requests are stored; if not, only their length is known.
    ///   - respond: Returns the step for a request that was read.
    /// - Throws: ``SetupFailure`` if no port is available.
    public convenience init(
        storesBodies: Bool = true,
        responding respond: @escaping @Sendable (Received) -> Step
    ) throws {
        try self.init(serving: .requests(respond), storesBodies: storesBodies)
    }

    private enum Service: Sendable {
        case scripts([[Step]])
        case requests(@Sendable (Received) -> Step)
    }

    private init(serving service: Service, storesBodies: Bool = true) throws {
        self.storesBodies = storesBodies
        let listener = socket(AF_INET, Self.streamType, 0)
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

    /// Ends all waits and returns when the threads have ended.
    public func close() async {
        state.withLock { state in
            state.isClosed = true
            for descriptor in state.connections.union([state.listener].compactMap(\.self)) {
                _ = shutdown(descriptor, Int32(SHUT_RDWR))
            }
        }
        for await _ in arrivals {}
    }

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
    /// - Returns: Whether there was one.
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

    /// - Returns: Whether the connection waits for another request.
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

    /// - Returns: Whether the connection waits for another request.
    private func serve(_ respond: (Received) -> Step, on connection: Int32) -> Bool {
        guard let request = Self.readRequest(connection, part: storesBodies ? .whole : .counted) else { return false }
        state.withLock { $0.received.append(request) }
        let step = respond(request)
        switch step {
        case .answer(let text), .keep(let text), .stall(let text), .dribble(let text), .reset(let text):
            _ = Self.write(Array(text.utf8), to: connection)
        case .bytes(let bytes): _ = Self.write(bytes, to: connection)
        case .generate(let head, let count): generate(head, count: count, on: connection)
        case .early, .hangUpAfter, .hangUp: break
        }
        if case .reset = step { Self.prepareReset(connection) }
        arrived.yield()
        if case .dribble = step {
            // This thread may sleep. If the client has gone, the second byte ends it.
            while Self.isOpen(connection) {
                _ = Self.write([UInt8(ascii: "x")], to: connection)
                usleep(50_000)
            }
        }
        if case .stall = step { while Self.readSome(connection)?.isEmpty == false {} }
        if case .keep = step { return true }
        return false
    }

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
