import Foundation
import Testing

@testable import HoldfastTesting

@Suite struct LoopbackServerTests {
    @Test("Child processes do not inherit the sockets of the server")
    func inheritance() throws {
        let listener = LoopbackServer.makeSocket()
        defer { _ = LoopbackServer.closeSocket(listener) }
        let port = try LoopbackServer.listen(listener)
        let client = LoopbackServer.makeSocket()
        defer { _ = LoopbackServer.closeSocket(client) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        let connection = LoopbackServer.accept(listener)
        defer { _ = LoopbackServer.closeSocket(connection) }
        #expect([listener, connection].allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
    }
}
