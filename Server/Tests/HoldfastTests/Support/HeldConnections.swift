import Foundation

/// Connections that a client keeps open, with requests that are read only when somebody looks.
final class HeldConnections {
    private var sockets: [Int32] = []
    private var received: [Int32: [UInt8]] = [:]
    private let port: UInt16

    /// - Parameter url: A server on the loopback.
    init(to url: URL) { port = UInt16(url.port ?? 80) }

    deinit { for socket in sockets { close(socket) } }

    /// Opens connections and sends a request over each.
    func open(_ count: Int, sending request: String) throws {
        for _ in 0..<count {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard socket >= 0 else { throw RawHTTP.Failure(description: "no socket") }
            sockets.append(socket)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            let connected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard connected == 0 else { throw RawHTTP.Failure(description: "connect: \(errno)") }
            _ = Array(request.utf8).withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
    }

    /// How many have been answered so far.
    func answered() -> Int {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        for socket in sockets {
            while case let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
                received[socket, default: []].append(contentsOf: buffer[..<count])
            }
        }
        return received.count
    }

    /// Closes some of those that were answered.
    func closeAnswered(_ count: Int) {
        for socket in received.keys.prefix(count) {
            close(socket)
            received[socket] = nil
            sockets.removeAll { $0 == socket }
        }
    }
}
