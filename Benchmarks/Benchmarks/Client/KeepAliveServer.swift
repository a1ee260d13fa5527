import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A server that sends the same bytes in response to every request, with as little work as possible: one thread per connection, which
/// stays open.
enum KeepAliveServer {
    private struct SetupFailure: Error {
        var call: String
        var number: Int32
    }

    private static let response = Array(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n{\"id\":17,\"name\":\"Tehillim\"}".utf8
    )

    /// Starts the server on a free port of the loopback; it ends with the process.
    static func start() throws -> Int {
        #if canImport(Darwin)
            let listener = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard listener >= 0 else { throw SetupFailure(call: "socket", number: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isReady else { throw SetupFailure(call: "bind", number: errno) }
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { serve(connection) }
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Sends one response per request head. The benchmarks send no request bodies.
    private static func serve(_ connection: Int32) {
        var on: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var newest: [UInt8] = []
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            newest = Array((newest + buffer[..<count]).suffix(4))
            if newest == Array("\r\n\r\n".utf8) { _ = response.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) } }
        }
        _ = close(connection)
    }
}
