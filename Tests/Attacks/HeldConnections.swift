public import Foundation

/// Connections that a client keeps open, and whose responses are read only on request.
///
/// Not thread-safe: each test or attack uses its own, from one task.
public final class HeldConnections {
    /// `POLLRDHUP`.
    private static let remoteEnd: Int32 = 0x2000

    private var sockets: [Int32] = []
    private var received: [Int32: Int] = [:]
    private let port: UInt16

    /// - Parameter url: A server on the loopback.
    public init(to url: URL) {
        port = UInt16(url.port ?? 80)
        // Some attacks have more connections than the usual limit of a process.
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
    }

    deinit { for socket in sockets { close(socket) } }

    /// The number of connections, also those that the server has closed.
    public var count: Int { sockets.count }

    /// Opens connections and sends a request over each.
    /// - Parameters:
    ///   - address: The loopback address of the client.
    ///   - receiveBuffer: The size of the kernel's receive buffer in bytes; the kernel's default if `nil`.
    /// - Throws: If a connection can't be opened within two seconds.
    public func open(
        _ count: Int,
        from address: String = "127.0.0.1",
        receiveBuffer: Int32? = nil,
        sending request: String = ""
    ) throws {
        for _ in 0..<count {
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0 else { throw AttackedServer.Failure(description: "no socket: \(errno)") }
            sockets.append(socket)
            var patience = timeval(tv_sec: 2, tv_usec: 0)
            setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            if var receiveBuffer {
                setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
            }
            let isOpen =
                Self.withAddress(address, port: 0) { bind(socket, $0, $1) } == 0
                && Self.withAddress("127.0.0.1", port: port) { connect(socket, $0, $1) } == 0
            guard isOpen else { throw AttackedServer.Failure(description: "no connection from \(address): \(errno)") }
            if !request.isEmpty { _ = send(request, over: socket) }
        }
    }

    /// Sends bytes over each connection that accepts them without blocking.
    public func send(_ text: String) {
        for socket in sockets { _ = send(text, over: socket) }
    }

    /// Returns the number of connections that have received something so far, and reads all available bytes.
    public func answered() -> Int {
        read()
        return received.count
    }

    /// Reads from each connection.
    /// - Parameter limit: The maximum of bytes to read from each.
    /// - Returns: The number of bytes.
    @discardableResult
    public func read(atMost limit: Int = .max) -> Int {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var total = 0
        for socket in sockets {
            var rest = limit
            while rest > 0, case let count = recv(socket, &buffer, min(rest, buffer.count), Int32(MSG_DONTWAIT)), count > 0 {
                received[socket, default: 0] += count
                rest -= count
                total += count
            }
        }
        return total
    }

    /// Returns the number of connections that the server has closed, also if there are unread bytes before the end.
    public func closedByServer() -> Int {
        sockets.count { socket in
            var entry = pollfd(fd: socket, events: Int16(Self.remoteEnd), revents: 0)
            return poll(&entry, 1, 0) > 0 && Int32(entry.revents) & (Self.remoteEnd | POLLHUP | POLLERR) != 0
        }
    }

    private func send(_ text: String, over socket: Int32) -> Int {
        Array(text.utf8).withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) }
    }

    private static func withAddress<Result>(
        _ text: String,
        port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr(text)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
