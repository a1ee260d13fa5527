import Foundation

/// Connections that a client keeps open, with answers that are read only when somebody looks.
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
            let socket = try RawHTTP.connected(to: port)
            sockets.append(socket)
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
