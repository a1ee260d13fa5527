import Foundation
import Synchronization
import TestSupport

/// A filter that changes the bytes of one proxied connection.
package protocol ProxyFilter: Sendable {
    /// Returns the bytes for the server and the client after the client has sent some.
    func fromClient(_ bytes: ArraySlice<UInt8>) -> ProxyOutput
    /// Returns the bytes for the client after the server has sent some.
    func fromServer(_ bytes: ArraySlice<UInt8>) -> [UInt8]
}

/// The output of a filter.
package struct ProxyOutput: Sendable {
    package var toServer: [UInt8] = []
    package var toClient: [UInt8] = []
    /// Whether the proxy cuts the connection afterwards.
    package var isEnd = false
}

/// A proxy on the loopback between a client and a server, which breaks connections on command.
///
/// Each connection has two threads, one per direction.
package final class TCPProxy: Sendable {
    package enum Direction: Sendable, CaseIterable { case toServer, toClient }

    private struct State {
        var target: Int
        var isStalled = false
        var isRefusing = false
        var isStopped = false
        /// The connection that transfers the byte at this position in a direction is cut.
        var cut: (direction: Direction, bytes: Int)?
        var cuts = 0
        /// The sockets of each connection.
        var connections: [Int: (client: Int32, server: Int32)] = [:]
        var accepted = 0
    }

    /// The port for clients.
    package let port: Int
    private let listener: Int32
    private let state: Mutex<State>
    private let makeFilter: (@Sendable () -> any ProxyFilter)?

    /// Starts a proxy.
    /// - Parameters:
    ///   - target: The server's port.
    ///   - makeFilter: Creates the filter of each connection. If `nil`, the proxy does not change any bytes.
    package init(to target: Int, makeFilter: (@Sendable () -> any ProxyFilter)? = nil) throws {
        self.makeFilter = makeFilter
        state = Mutex(State(target: target))
        listener = Self.makeSocket()
        port = try freePort()
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard Self.withLoopback(port, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
            throw TestFailure("the proxy can't listen: \(errno)")
        }
        let thread = Thread { [self] in acceptAll() }
        thread.start()
    }

    // MARK: - Commands

    /// Cuts the connection that transfers the byte at a position, counted over all connections in a direction.
    package func cut(after bytes: Int, _ direction: Direction) {
        state.withLock { $0.cut = (direction, bytes) }
    }

    /// The number of connections that were cut.
    package var cuts: Int { state.withLock { $0.cuts } }

    /// The number of connections that clients have opened.
    package var accepted: Int { state.withLock { $0.accepted } }

    /// The number of open connections.
    package var open: Int { state.withLock { $0.connections.count } }

    /// Cuts all connections.
    package func cutAll() {
        state.withLock { state in
            for number in Array(state.connections.keys) { Self.cut(number, &state) }
        }
    }

    /// Transfers no bytes until ``resume()``; connections stay open.
    package func stall() { state.withLock { $0.isStalled = true } }

    package func resume() { state.withLock { $0.isStalled = false } }

    /// Sets whether new connections are closed at once.
    package func refuse(_ isRefusing: Bool) { state.withLock { $0.isRefusing = isRefusing } }

    /// Connects new clients to another server.
    package func target(_ port: Int) { state.withLock { $0.target = port } }

    /// Stops the proxy and closes its connections.
    package func stop() {
        cutAll()
        let wasStopped = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped
        }
        guard !wasStopped else { return }
        // Wakes the thread in `accept`, which closes the socket.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    // MARK: - Threads

    private func acceptAll() {
        while true {
            let client = accept(listener, nil, nil)
            // Otherwise, a child process could keep a connection open that the proxy has closed.
            if client >= 0 { _ = fcntl(client, F_SETFD, FD_CLOEXEC) }
            let (target, isRefusing, isStopped) = state.withLock { ($0.target, $0.isRefusing, $0.isStopped) }
            guard !isStopped else {
                if client >= 0 { close(client) }
                close(listener)
                return
            }
            guard client >= 0 else { continue }
            let server = Self.makeSocket()
            guard !isRefusing, Self.withLoopback(target, { connect(server, $0, $1) }) == 0 else {
                close(client)
                close(server)
                continue
            }
            let number = state.withLock { state in
                state.accepted += 1
                state.connections[state.accepted] = (client, server)
                return state.accepted
            }
            let pair = Pair(client: client, server: server)
            let filter = makeFilter?()
            Thread { [self] in carry(number, .toServer, pair, filter) }.start()
            Thread { [self] in carry(number, .toClient, pair, filter) }.start()
        }
    }

    /// Closes both sockets when neither thread uses them any more.
    private final class Pair: Sendable {
        let client, server: Int32
        init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }
        deinit {
            close(client)
            close(server)
        }
    }

    private func carry(_ number: Int, _ direction: Direction, _ pair: Pair, _ filter: (any ProxyFilter)?) {
        let source = direction == .toServer ? pair.client : pair.server
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            while state.withLock({ $0.isStalled && $0.connections[number] != nil }) { usleep(2_000) }
            let allowed = state.withLock { state in
                guard let cut = state.cut, cut.direction == direction else { return count }
                guard cut.bytes < count else {
                    state.cut?.bytes -= count
                    return count
                }
                return cut.bytes
            }
            guard pass(buffer[..<allowed], direction, pair, filter) else { break }
            guard allowed == count else {
                state.withLock { state in
                    state.cut = nil
                    state.cuts += 1
                }
                break
            }
        }
        state.withLock { Self.cut(number, &$0) }
    }

    /// - Returns: Whether the other side accepted the bytes.
    private func pass(_ bytes: ArraySlice<UInt8>, _ direction: Direction, _ pair: Pair, _ filter: (any ProxyFilter)?) -> Bool {
        switch (direction, filter) {
        case (.toServer, nil): return Self.sendAll(bytes, to: pair.server)
        case (.toClient, nil): return Self.sendAll(bytes, to: pair.client)
        case (.toServer, let filter?):
            let output = filter.fromClient(bytes)
            return Self.sendAll(output.toServer[...], to: pair.server) && Self.sendAll(output.toClient[...], to: pair.client)
                && !output.isEnd
        case (.toClient, let filter?): return Self.sendAll(filter.fromServer(bytes)[...], to: pair.client)
        }
    }

    private static func cut(_ number: Int, _ state: inout State) {
        guard let (client, server) = state.connections.removeValue(forKey: number) else { return }
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
    }

    // MARK: - Sockets

    private static func makeSocket() -> Int32 {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    private static func withLoopback(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    private static func sendAll(_ bytes: ArraySlice<UInt8>, to destination: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            #if canImport(Darwin)
                let count = rest.withUnsafeBytes { send(destination, $0.baseAddress, $0.count, 0) }
            #else
                let count = rest.withUnsafeBytes { send(destination, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            #endif
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
