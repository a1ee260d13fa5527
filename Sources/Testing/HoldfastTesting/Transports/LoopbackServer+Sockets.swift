import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension LoopbackServer {
    /// Creates a TCP socket. Child processes don't inherit the socket. Otherwise, a child could keep a connection open that the server has
    /// closed.
    /// - Returns: The descriptor, which the caller closes; negative on an error.
    static func makeSocket() -> Int32 {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            return descriptor
        #else
            return socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
    }

    /// Calls the system function `close`. The function is necessary because ``LoopbackServer/close()`` hides the name of the system
    /// function inside ``LoopbackServer``.
    static func closeSocket(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            Darwin.close(descriptor)
        #else
            Glibc.close(descriptor)
        #endif
    }

    /// Binds a socket to any free port of the loopback and listens on it, with a queue of 16 connections.
    /// - Parameter descriptor: The socket, which the caller closes after an error.
    /// - Returns: The port.
    /// - Throws: ``SetupFailure`` with the system call that failed.
    static func listen(_ descriptor: Int32) throws -> Int {
        let port = try takePort(for: descriptor)
        #if canImport(Darwin)
            let listening = Darwin.listen(descriptor, 16)
        #else
            let listening = Glibc.listen(descriptor, 16)
        #endif
        guard listening == 0 else { throw SetupFailure(call: "listen", number: errno) }
        return port
    }

    /// Runs a closure with a port of the loopback that refuses connections. A socket that doesn't listen has the port until the closure
    /// ends, so no other server gets it.
    package static func withClosedPort(_ body: (_ port: Int) async throws -> Void) async throws {
        let descriptor = makeSocket()
        guard descriptor >= 0 else { throw SetupFailure(call: "socket", number: errno) }
        defer { _ = closeSocket(descriptor) }
        try await body(try takePort(for: descriptor))
    }

    /// Binds a socket to any free port of the loopback.
    /// - Parameter descriptor: The socket, which the caller closes after an error.
    /// - Returns: The port.
    /// - Throws: ``SetupFailure`` with the system call that failed.
    private static func takePort(for descriptor: Int32) throws -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0 else { throw SetupFailure(call: "bind", number: errno) }
        let named = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard named == 0 else { throw SetupFailure(call: "getsockname", number: errno) }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The part of a request to read: only the head, with the body left in the socket; the whole request; or the whole request without
    /// storing its body.
    enum Part {
        case head, whole
        /// The function reads the body, but only counts its bytes.
        case counted
    }

    /// Reads one request: the head, and a body with a `Content-Length` or in chunks (RFC 9112 §6 and §7.1). Trailers after the last chunk
    /// are not supported.
    ///
    /// The function is not a complete parser: it doesn't check the request line, and accepts header fields of any length.
    /// - Parameters:
    ///   - connection: The descriptor. The call blocks until the request is complete or the connection ends.
    ///   - part: The part to read.
    /// - Returns: The request. `nil` if the connection ends or fails before the end of the request, or if a chunk is malformed.
    static func readRequest(_ connection: Int32, part: Part = .whole) -> Received? {
        var input = Input(connection: connection)
        var lines: [String] = []
        while true {
            guard let line = input.line() else { return nil }
            if line.isEmpty { break }
            lines.append(line)
        }
        var request = Received(head: lines, body: [])
        guard part != .head else { return request }
        let take: ([UInt8]) -> Void = { bytes in
            request.bodyLength += bytes.count
            if part == .whole { request.body += bytes }
        }
        guard request.header("Transfer-Encoding")?.lowercased() == "chunked" else {
            return input.take(request.header("Content-Length").flatMap { Int($0) } ?? 0, take) ? request : nil
        }
        while true {
            guard let line = input.line(), let size = Int(line.prefix { $0 != ";" }, radix: 16), input.take(size, take),
                input.line()?.isEmpty == true
            else { return nil }
            if size == 0 { return request }
        }
    }

    /// A buffer for the bytes that the server has read from a connection for one request. The buffer reads at most 64 KiB at once. After
    /// the request, the server discards the remaining bytes of the buffer. So if a client sends its next request before it has received the
    /// response, the server can lose that request. Clients that wait for each response are not affected.
    private struct Input {
        /// The descriptor of the connection.
        let connection: Int32
        /// The last block that was read.
        private var bytes: [UInt8] = []
        /// The index of the next unused byte of the block.
        private var position = 0

        init(connection: Int32) {
            self.connection = connection
        }

        /// Reads more bytes if there are none left.
        /// - Returns: Whether there is at least one byte; `false` at the end of the connection.
        private mutating func fill() -> Bool {
            guard position == bytes.count else { return true }
            guard let more = readSome(connection), !more.isEmpty else { return false }
            (bytes, position) = (more, 0)
            return true
        }

        /// Reads a line, without its CRLF. A line feed alone doesn't end a line. Returns `nil` if the connection ends first.
        mutating func line() -> String? {
            var line: [UInt8] = []
            while fill() {
                let byte = bytes[position]
                position += 1
                if byte == UInt8(ascii: "\n"), line.last == UInt8(ascii: "\r") {
                    return String(decoding: line.dropLast(), as: UTF8.self)
                }
                line.append(byte)
            }
            return nil
        }

        /// Reads a number of bytes and passes them on in blocks.
        ///
        /// - Parameters:
        ///   - count: The number of bytes.
        ///   - take: Receives the blocks in order; at most 64 KiB each.
        /// - Returns: Whether the connection had this number of bytes.
        mutating func take(_ count: Int, _ take: ([UInt8]) -> Void) -> Bool {
            var left = count
            while left > 0 {
                guard fill() else { return false }
                let size = min(left, bytes.count - position)
                take(Array(bytes[position..<position + size]))
                (position, left) = (position + size, left - size)
            }
            return true
        }
    }

    /// Reads at most 64 KiB, and blocks until there is at least one byte.
    /// - Returns: The bytes; empty if the other side has closed the connection, `nil` on an error.
    static func readSome(_ connection: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer.prefix(count))
    }

    /// Returns `true` while the connection is open and no unread bytes have arrived. The function doesn't block, and leaves the bytes in
    /// the socket.
    static func isOpen(_ connection: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(connection, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
    }

    /// Waits for a connection. Child processes don't inherit it.
    /// - Returns: Its descriptor; negative on an error, or if the listener was shut down.
    static func accept(_ listener: Int32) -> Int32 {
        #if canImport(Darwin)
            let connection = Darwin.accept(listener, nil, nil)
        #else
            let connection = Glibc.accept(listener, nil, nil)
        #endif
        if connection >= 0 { _ = fcntl(connection, F_SETFD, FD_CLOEXEC) }
        return connection
    }

    /// Sets `SO_LINGER` with a time of zero. When the server then closes the connection, the system resets it (TCP RST).
    static func prepareReset(_ connection: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Writes bytes, and blocks while the buffers of the connection are full.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - connection: The descriptor.
    /// - Returns: `true` if the kernel accepted all bytes; `false` if the client or the server has closed the connection. On Linux,
    ///   `MSG_NOSIGNAL` prevents the signal `SIGPIPE`, which would end the process.
    static func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
                let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
            #else
                let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            #endif
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
