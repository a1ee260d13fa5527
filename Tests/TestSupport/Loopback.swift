#if os(Linux) || os(macOS)
    import Foundation
    import Synchronization

    /// No port of the loopback is free.
    private struct NoFreePort: Error {}

    /// Returns a port of the loopback that is free now.
    ///
    /// A system chooses the ports of connections, and of servers that listen on port 0, from 32768 on. The port is below, so that no other
    /// test takes it before its server starts, or while its server is killed.
    public func freePort() throws -> Int {
        for _ in 0..<1_000 {
            let port = lastPort.withLock { port in
                port = port < 31_999 ? port + 1 : 20_000
                return port
            }
            if withLoopback(port, { bind($0, $1, $2) == 0 }) { return port }
        }
        throw NoFreePort()
    }

    /// The port that the last call returned. The first one is random, because several test processes may run on a machine.
    private let lastPort = Mutex(Int.random(in: 20_000..<32_000))

    /// Returns whether a port of the loopback accepts connections.
    public func isListening(_ port: Int) -> Bool { withLoopback(port) { connect($0, $1, $2) == 0 } }

    /// Calls a closure with a new socket and the address of a port of the loopback, and then closes the socket.
    private func withLoopback(_ port: Int, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
#endif
