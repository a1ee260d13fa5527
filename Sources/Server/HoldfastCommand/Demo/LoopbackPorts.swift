import Foundation

/// Ports of the loopback interface for servers that are started later, and again after they were killed.
enum LoopbackPorts {
    /// The ports that are tried, in random order.
    ///
    /// Systems choose the ports of connections, and of servers that listen on port 0, from 32768 on. A port from there could be taken
    /// before its server starts.
    static let range = 10_000..<20_000

    /// Returns different free ports.
    /// - Throws: ``DemoStory/Unexpected`` if the range has fewer.
    static func free(_ count: Int, in range: Range<Int> = range) throws -> [Int] {
        var ports: [Int] = []
        for port in range.shuffled() where ports.count < count && isFree(port) { ports.append(port) }
        try expect(ports.count == count, "too few free ports: \(ports.count) of \(count)")
        return ports
    }

    private static func isFree(_ port: Int) -> Bool {
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
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
