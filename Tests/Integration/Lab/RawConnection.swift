import Foundation

/// A TCP connection that reports how it ended.
struct RawConnection: Sendable {
    /// How a connection ended.
    enum Ending: Sendable {
        /// The server closed it.
        case closed
        /// The server reset it.
        case reset
        /// Another failure, such as no data for two minutes.
        case failed(Int32)
    }

    private let socket: Int32

    /// Connects and sends a GET.
    init(get target: String, from url: URL, host: String? = nil, headers: [String] = []) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw RawHTTP.Failure(description: "no socket") }
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(url.port ?? 80).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { [socket] in
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw RawHTTP.Failure(description: "connect: \(errno)") }
        let lines = ["GET \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(url.port ?? 80)")"] + headers
        let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw RawHTTP.Failure(description: "send: \(errno)")
        }
    }

    /// Reads until the connection ends.
    func readToEnd() async -> (bytes: [UInt8], ending: Ending) {
        await withCheckedContinuation { continuation in
            Thread { [socket] in
                var received: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while true {
                    let count = recv(socket, &buffer, buffer.count, 0)
                    if count > 0 {
                        received += buffer[..<count]
                        continue
                    }
                    let problem = errno
                    let ending: Ending = count == 0 ? .closed : problem == ECONNRESET ? .reset : .failed(problem)
                    continuation.resume(returning: (received, ending))
                    return
                }
            }.start()
        }
    }

    /// Closes the connection.
    func close() {
        Glibc.close(socket)
    }
}
