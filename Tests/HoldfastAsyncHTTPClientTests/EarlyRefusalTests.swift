import HTTPTypes
import HoldfastAsyncHTTPClient
import NIOCore
import NIOPosix
import ResilientHTTP
import Synchronization
import Testing

/// Uploads to a server that refuses the request and reads no further bytes.
@Suite(.timeLimit(.minutes(10))) struct EarlyRefusalTests {
    private static let long = Duration.seconds(600)
    private static let head = "HTTP/1.1 413 X\r\nContent-Length: 7\r\n\r\n"
    private static let chunked = "HTTP/1.1 413 X\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ntoo big\r\n0\r\n\r\n"

    private static func endless(report: @escaping @Sendable () -> Void) -> RequestBody {
        RequestBody(
            .stream(length: nil) { write in
                while true {
                    try await write([UInt8](repeating: 1, count: 65_536))
                    report()
                }
            },
            contentType: "a/b"
        )
    }

    /// Sends an endless body.
    private func upload(
        to server: RefusingServer,
        method: HTTPRequest.Method = .post,
        report: @escaping @Sendable () -> Void = {}
    ) async throws -> (HTTPResponse, ResponseBody) {
        let request = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/a")
        return try await AsyncHTTPClientTransport().stream(
            request,
            body: Self.endless(report: report),
            timeout: Self.long,
            idleTimeout: Self.long
        )
    }

    @Test("Reads the body of an early refusal", arguments: [[head, "too ", "big"], [head + "too big"]])
    func body(parts: [String]) async throws {
        let server = try await RefusingServer(parts)
        let (response, body) = try await upload(to: server)
        #expect(response.status.code == 413)
        #expect(try await body.collect(upTo: 100).bytes == Array("too big".utf8))
        try await server.close()
    }

    @Test("Returns the status of an early refusal without a length")
    func unknownLength() async throws {
        let server = try await RefusingServer([Self.chunked])
        #expect(try await upload(to: server).0.status.code == 413)
        try await server.close()
    }

    @Test("Returns the status of a refusal in parts while the server still reads")
    func readingServer() async throws {
        let server = try await RefusingServer(["HTTP/1.1 413 X\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n\r\n"], reads: true)
        #expect(try await upload(to: server).0.status.code == 413)
        try await server.close()
    }

    @Test("Waits for no body of a refusal to HEAD")
    func refusalToHead() async throws {
        let server = try await RefusingServer([Self.head])
        let (response, body) = try await upload(to: server, method: .head)
        #expect(response.status.code == 413)
        #expect(try await body.collect(upTo: 100).bytes == [])
        try await server.close()
    }

    @Test("The deadline ends an upload that the server does not read")
    func deadline() async throws {
        let server = try await RefusingServer([])
        let request = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/a")
        let error = await #expect(throws: TransportError.self) {
            _ = try await AsyncHTTPClientTransport().send(request, body: Self.endless {}, timeout: .seconds(1))
        }
        #expect(error?.code == .timeout)
        try await server.close()
    }

    @Test("A cancellation ends an upload that the server does not read")
    func cancellation() async throws {
        let server = try await RefusingServer([])
        let chunks = Mutex(0)
        let task = Task { try await upload(to: server) { chunks.withLock { $0 += 1 } } }
        // The buffers of the connection are full when the number no longer changes.
        var before = 0
        repeat {
            before = chunks.withLock(\.self)
            for _ in 0..<5_000 { await Task.yield() }
        } while before == 0 || before != chunks.withLock(\.self)
        task.cancel()
        let error = await #expect(throws: TransportError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        try await server.close()
    }
}

/// A server that stops reading after the first bytes of a request, or continues to read. It sends its response in parts, so that a client
/// whose bytes are not read can send no further bytes before the response arrives.
private final class RefusingServer: Sendable {
    let port: Int
    private let channel: any Channel
    private let connections: Connections

    private final class Connections: Sendable {
        let open = Mutex<[any Channel]>([])
    }

    private final class Refusal: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let parts: [String]
        private let reads: Bool
        private var hasBegun = false

        init(_ parts: [String], reads: Bool) {
            (self.parts, self.reads) = (parts, reads)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasBegun else { return }
            hasBegun = true
            let channel = context.channel
            if !reads { _ = channel.setOption(ChannelOptions.autoRead, value: false) }
            for (number, part) in parts.enumerated() {
                _ = channel.eventLoop.scheduleTask(in: .milliseconds(Int64(number + 1) * 100)) {
                    channel.writeAndFlush(ByteBuffer(string: part), promise: nil)
                }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }

    /// Starts the server.
    /// - Parameters:
    ///   - parts: The parts of the response to each connection.
    ///   - reads: Whether the server reads the body.
    init(_ parts: [String], reads: Bool = false) async throws {
        let connections = Connections()
        self.connections = connections
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                connections.open.withLock { $0.append(channel) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(Refusal(parts, reads: reads))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    func close() async throws {
        for connection in connections.open.withLock(\.self) { try? await connection.close() }
        try await channel.close()
    }
}
