import Foundation

/// An HTTP/1.1 client that sends exactly the given bytes over its own socket.
enum RawHTTP {
    /// A response as received.
    struct Answer: Sendable {
        let status: Int
        /// The lines of the head after the status line, as received.
        let headerLines: [String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        /// The value of a header; names are compared without case.
        subscript(name: String) -> String? {
            let prefix = name.lowercased() + ":"
            return headerLines.first { $0.lowercased().hasPrefix(prefix) }
                .map { $0.dropFirst(prefix.count).trimmingCharacters(in: .whitespaces) }
        }

        /// The body as JSON.
        func json() throws -> JSONBody { try JSONBody(body) }
    }

    /// The socket failed, or the response was not HTTP.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Sends a request and reads the response until the server closes the connection.
    static func send(
        _ method: String,
        _ target: String,
        to url: URL,
        headers: [String] = [],
        body: [UInt8] = []
    ) async throws -> Answer {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: \(url.host ?? ""):\(url.port ?? 80)", "Connection: close"]
        lines += headers
        let sendsLength = !body.isEmpty || ["POST", "PUT", "PATCH"].contains(method)
        if sendsLength,
            !headers.contains(where: { $0.lowercased().hasPrefix("content-length") || $0.lowercased().hasPrefix("transfer") })
        {
            lines.append("Content-Length: \(body.count)")
        }
        return try await exchange(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body, with: url)
    }

    /// Sends bytes and reads the response until the server closes the connection.
    static func exchange(_ bytes: [UInt8], with url: URL) async throws -> Answer {
        let port = UInt16(url.port ?? 80)
        return try await withCheckedThrowingContinuation { continuation in
            // Blocking calls need a separate thread.
            Thread { continuation.resume(with: Result { try answer(of: try received(sending: bytes, port: port)) }) }.start()
        }
    }

    /// Sends bytes, and sends the others when the received bytes end with a text.
    /// - Returns: The bytes received before the others were sent, and all received bytes.
    static func exchange(_ bytes: [UInt8], until end: String, then others: [UInt8], with url: URL) async throws -> (
        first: String, all: String
    ) {
        let port = UInt16(url.port ?? 80)
        return try await withCheckedThrowingContinuation { continuation in
            Thread {
                let result = Result<(first: String, all: String), any Error> {
                    var first: String?
                    let all = try received(sending: bytes, port: port, untilWhole: false) { socket, received in
                        guard first == nil, received.suffix(end.utf8.count).elementsEqual(end.utf8) else { return }
                        first = String(decoding: received, as: UTF8.self)
                        _ = others.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                        shutdown(socket, Int32(SHUT_WR))
                    }
                    return (first ?? "", String(decoding: all, as: UTF8.self))
                }
                continuation.resume(with: result)
            }.start()
        }
    }

    /// Sends bytes, then others repeatedly, until the server closes the connection.
    /// - Returns: The number of times that the others were sent.
    static func sendUntilRefused(_ bytes: [UInt8], then others: [UInt8], atMost count: Int, to url: URL) async throws -> Int {
        let port = UInt16(url.port ?? 80)
        return try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(
                    with: Result {
                        var sent = 0
                        _ = try received(sending: bytes, port: port, untilWhole: false) { socket, _ in
                            while sent < count, send(all: others, over: socket) { sent += 1 }
                        }
                        return sent
                    }
                )
            }.start()
        }
    }

    /// - Returns: Whether the other side accepted all of them.
    private static func send(all bytes: [UInt8], over socket: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends bytes, closes the sending side, and returns all received bytes until the server closes the connection.
    static func exchangeToEnd(_ bytes: [UInt8], with url: URL) async throws -> String {
        let port = UInt16(url.port ?? 80)
        return try await withCheckedThrowingContinuation { continuation in
            Thread {
                let text = Result { String(decoding: try received(sending: bytes, port: port, untilWhole: false), as: UTF8.self) }
                continuation.resume(with: text)
            }.start()
        }
    }

    /// Returns a socket that is connected to a port of the loopback. The caller closes it.
    static func connected(to port: UInt16) throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Failure(description: "no socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let reason = errno
            close(socket)
            throw Failure(description: "connect: \(reason)")
        }
        return socket
    }

    private static func received(
        sending bytes: [UInt8],
        port: UInt16,
        untilWhole: Bool = true,
        onReceiving: ((Int32, [UInt8]) -> Void)? = nil
    ) throws -> [UInt8] {
        let socket = try connected(to: port)
        defer { close(socket) }
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        // A server that has already refused may close the connection before all bytes are sent.
        _ = send(all: bytes, over: socket)
        if !untilWhole, onReceiving == nil { shutdown(socket, Int32(SHUT_WR)) }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            received.append(contentsOf: buffer[..<count])
            onReceiving?(socket, received)
            if untilWhole, isWhole(received) { break }
        }
        return received
    }

    /// Returns whether the body is complete by its Content-Length, so that a server that keeps the connection open is not waited
    /// for.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let field = lines.first { $0.lowercased().hasPrefix("content-length:") }
        guard let length = field.flatMap({ Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }) else { return false }
        return bytes.count >= end.upperBound + length
    }

    private static func answer(of bytes: [UInt8]) throws -> Answer {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw Failure(description: "no HTTP answer in \(bytes.count) bytes")
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines.first.flatMap({ $0.split(separator: " ").dropFirst().first }).flatMap({ Int($0) }) else {
            throw Failure(description: "no status line")
        }
        let rest = Array(bytes[end.upperBound...])
        let isChunked = lines.contains { $0.lowercased() == "transfer-encoding: chunked" }
        return Answer(status: status, headerLines: Array(lines.dropFirst()), body: isChunked ? unchunked(rest) : rest)
    }

    private static func unchunked(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        var body: [UInt8] = []
        while let line = rest.firstRange(of: Array("\r\n".utf8)),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), size > 0
        {
            body.append(contentsOf: rest[line.upperBound...].prefix(size))
            rest = rest[line.upperBound...].dropFirst(size + 2)
        }
        return body
    }
}
