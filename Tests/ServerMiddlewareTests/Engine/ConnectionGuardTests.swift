import MetricsTestKit
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import ServerMiddleware

/// A connection in memory, without a socket and with a manual clock.
@Suite struct ConnectionGuardTests {
    private let metrics = TestMetrics()

    /// Returns the handlers of a connection up to the HTTP codec. The test acts as the engine.
    private func connect(_ limits: ConnectionLimits = ConnectionLimits()) throws -> EmbeddedChannel {
        try connect(within: Connections(limits: limits, metrics: metrics))
    }

    private func connect(within connections: Connections) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let connection = ConnectionGuard(connections: connections)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([connection, InboundSlices { connection.abort(.pipeline) }])
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try pipeline.addHandler(RequestGuard(connection: connection))
        channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 40_000), promise: nil)
        return channel
    }

    private func closed(_ reason: String) -> Int64? {
        try? metrics.expectCounter("connections_closed", [("reason", reason)]).totalValue
    }

    /// Passes bytes to the pipeline. A real channel then reads again, unless a handler withholds the read.
    private func receive(_ text: String, on channel: EmbeddedChannel) throws {
        try channel.writeInbound(ByteBuffer(string: text))
        channel.read()
    }

    private func respond(on channel: EmbeddedChannel, headers: HTTPHeaders = ["content-length": "0"]) throws {
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        try channel.writeOutbound(HTTPServerResponsePart.head(head))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    private func output(of channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("Closes a connection that sends nothing after 10 seconds")
    func silent() throws {
        let channel = try connect()
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(9_999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        #expect(closed("head") == 1)
    }

    @Test("Closes a head that arrives byte by byte after 10 seconds in total", arguments: [false, true])
    func slowHead(isKeptAlive: Bool) throws {
        let channel = try connect()
        if isKeptAlive {
            try receive(Self.request, on: channel)
            try respond(on: channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(33))
        }
        for byte in "GET / HTTP" {
            #expect(channel.isActive)
            try receive(String(byte), on: channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(!channel.isActive)
        #expect(closed("head") == 1)
    }

    @Test("Closes an idle connection after 60 seconds, counted anew after each request")
    func idle() throws {
        let channel = try connect()
        for _ in 0..<3 {
            try receive(Self.request, on: channel)
            try respond(on: channel)
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(59_999))
            #expect(channel.isActive)
        }
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        #expect(closed("idle") == 1)
    }

    @Test("Near the capacity closes an idle connection after 15 seconds")
    func crowded() throws {
        let connections = Connections(limits: ConnectionLimits(capacity: 4), metrics: metrics)
        let channels = try (0..<3).map { _ in try connect(within: connections) }
        for channel in channels {
            try receive(Self.request, on: channel)
            try respond(on: channel)
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(14_999))
            #expect(channel.isActive)
        }
        channels[0].embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channels[0].isActive)
        // Two of four are not near the capacity.
        channels[1].embeddedEventLoop.advanceTime(by: .seconds(20))
        #expect(channels[1].isActive)
        #expect(connections.count == 2)
    }

    @Test("A request in flight has no deadline of its connection")
    func working() throws {
        let channel = try connect()
        try receive(Self.request, on: channel)
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        try respond(on: channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(!channel.isActive)
    }

    @Test("Abandons a stalled body after the idle time")
    func body() throws {
        let channel = try connect()
        try receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", on: channel)
        for _ in 0..<10 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            #expect(channel.isActive)
            try receive("x", on: channel)
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(!channel.isActive)
        #expect(closed("body") == 1)
    }

    @Test("Counts a pause within a body only while the server reads the body")
    func unreadBody() throws {
        let channel = try connect()
        let reads = ReadGate()
        try channel.pipeline.syncOperations.addHandler(reads)
        try receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx", on: channel)
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        reads.isOpen = true
        channel.read()
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(59_999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        #expect(closed("body") == 1)
    }

    @Test("Evicts a connection whose body the server does not read after its response", arguments: [false, true])
    func evictedInBody(isReading: Bool) throws {
        let connections = Connections(limits: ConnectionLimits(capacity: 1), metrics: metrics)
        let first = try connect(within: connections)
        let reads = ReadGate()
        reads.isOpen = isReading
        try first.pipeline.syncOperations.addHandler(reads)
        try receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nx", on: first)
        let second = try connect(within: connections)
        first.embeddedEventLoop.run()
        #expect(first.isActive == !isReading && second.isActive)
        #expect(closed("capacity") == 1)
        guard !isReading else { return }
        try receive("x", on: first)
        try respond(on: first)
        #expect(try output(of: first).lowercased().contains("connection: close"))
        first.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!first.isActive)
    }

    @Test("Evicts at once a connection whose client does not read, within a body, too")
    func evictedUnreadInBody() throws {
        let connections = Connections(limits: ConnectionLimits(capacity: 1), metrics: metrics)
        let first = try connect(within: connections)
        let reads = ReadGate()
        try first.pipeline.syncOperations.addHandler(reads)
        try receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nx", on: first)
        first.isWritable = false
        first.pipeline.fireChannelWritabilityChanged()
        let second = try connect(within: connections)
        first.embeddedEventLoop.run()
        #expect(!first.isActive && second.isActive)
    }

    @Test("A response that is not read for 30 seconds ends its connection, also pipelined")
    func stalled() throws {
        let channel = try connect()
        try receive(Self.request + Self.request, on: channel)
        // Not flushed, so that the bytes stay like bytes that the kernel does not accept.
        let body = ByteBuffer(repeating: 65, count: 100_000)
        channel.write(
            HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok, headers: ["content-length": "100000"])),
            promise: nil
        )
        channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(!channel.isActive)
        #expect(closed("write") == 1)
    }

    @Test("A shutdown closes a connection only after the bytes of its last response", arguments: [false, true])
    func quiescing(hasUnreadBytes: Bool) throws {
        let channel = try connect()
        try receive(Self.request, on: channel)
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.write(HTTPServerResponsePart.end(nil), promise: nil)
        if !hasUnreadBytes { channel.flush() }
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(try output(of: channel).hasPrefix("HTTP/1.1 200 OK\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("HTTP/1.0 without keep-alive ends the connection with the response")
    func http10() throws {
        let channel = try connect()
        try receive("GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n", on: channel)
        try respond(on: channel)
        let text = try output(of: channel)
        #expect(text.hasPrefix("HTTP/1.0 200 OK\r\n"))
        #expect(text.lowercased().contains("connection: close"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        #expect(closed("idle") == 0)
    }

    @Test("HTTP/1.0 with keep-alive keeps the connection and gets the header for it")
    func http10KeptAlive() throws {
        let channel = try connect()
        try receive("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", on: channel)
        try respond(on: channel)
        #expect(try output(of: channel).lowercased().contains("connection: keep-alive"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(channel.isActive)
    }

    @Test("Pipelined requests of different versions get responses of their versions", arguments: [false, true])
    func mixedVersions(beginsWithHTTP10: Bool) throws {
        let channel = try connect()
        let requests = ["GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Self.request]
        try receive((beginsWithHTTP10 ? requests : requests.reversed()).joined(), on: channel)
        for isHTTP10 in [beginsWithHTTP10, !beginsWithHTTP10] {
            try respond(on: channel, headers: isHTTP10 ? ["content-length": "0"] : [:])
            let text = try output(of: channel).lowercased()
            #expect(text.hasPrefix("http/1.\(isHTTP10 ? 0 : 1) 200 ok\r\n"), "\(text)")
            #expect(text.contains("connection: keep-alive") == isHTTP10, "\(text)")
            #expect(text.contains("transfer-encoding: chunked") == !isHTTP10, "\(text)")
        }
        #expect(channel.isActive)
    }

    @Test("A response to HTTP/1.0 without a length is the last one, also before others")
    func http10WithoutLength() throws {
        let channel = try connect()
        let request = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
        try receive(request + request, on: channel)
        try respond(on: channel, headers: [:])
        #expect(throws: ChannelError.self) { try respond(on: channel) }
        let text = try output(of: channel).lowercased()
        #expect(text.ranges(of: "http/1.0 200 ok").count == 1 && text.contains("connection: close"), "\(text)")
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("A 400 to HTTP/1.0 with a broken body announces the end of the connection")
    func brokenBodyOfHTTP10() throws {
        let channel = try connect()
        let head = "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
        try receive(head, on: channel)
        #expect(throws: HTTPParserError.self) { try receive("ZZ\r\n", on: channel) }
        try respond(on: channel)
        let text = try output(of: channel).lowercased()
        #expect(text.contains("connection: close") && !text.contains("keep-alive"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("A broken rest of a body gets no second response after the first one")
    func brokenBodyAfterResponse() throws {
        let channel = try connect()
        try receive("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", on: channel)
        try respond(on: channel)
        #expect(throws: HTTPParserError.self) { try receive("ZZ\r\n", on: channel) }
        // The engine responds to each error of the parser.
        #expect(throws: ChannelError.self) {
            try respond(on: channel, headers: ["content-length": "0", "connection": "close"])
        }
        #expect(try output(of: channel).ranges(of: "HTTP/1.1 ").count == 1)
    }

    @Test("Connection: close in any spelling ends the connection", arguments: ["close", "Close", "TE, close"])
    func close(_ value: String) throws {
        let channel = try connect()
        try receive("GET / HTTP/1.1\r\nHost: x\r\nConnection: \(value)\r\n\r\n", on: channel)
        try respond(on: channel)
        #expect(try output(of: channel).lowercased().contains("connection: close"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test(
        "A request for another protocol is the last one, and no more bytes are read",
        arguments: [
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\nContent-Length: 2\r\n\r\nxx",
            "CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n",
        ]
    )
    func otherProtocol(_ request: String) throws {
        let channel = try connect()
        let reads = ReadCounter()
        try channel.pipeline.syncOperations.addHandler(reads, position: .first)
        channel.read()
        #expect(reads.count == 1)
        try receive(request, on: channel)
        #expect(reads.count == 1)
        try respond(on: channel)
        #expect(try output(of: channel).lowercased().contains("connection: close"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("A response with Connection: close ends its connection")
    func closedByRoute() throws {
        let channel = try connect()
        try receive(Self.request, on: channel)
        try respond(on: channel, headers: ["content-length": "0", "connection": "close"])
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("After a response with Connection: close, only earlier requests get responses")
    func closedByRoutePipelined() throws {
        let channel = try connect()
        try receive(Self.request + Self.request, on: channel)
        try respond(on: channel, headers: ["content-length": "0", "connection": "close"])
        #expect(channel.isActive)
        try receive(Self.request, on: channel)
        try respond(on: channel)
        #expect(try output(of: channel).ranges(of: "HTTP/1.1 200 OK").count == 2)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("Closes a connection beyond its client's limit at once, and counts it")
    func refused() throws {
        let connections = Connections(limits: ConnectionLimits(perClient: 2), metrics: metrics)
        let channels = try (0..<3).map { _ in try connect(within: connections) }
        #expect(channels.map(\.isActive) == [true, true, false])
        #expect(try metrics.expectCounter("connections_refused", [("reason", "client")]).totalValue == 1)
        #expect(connections.count == 2)
    }

    @Test("Closes an evicted connection at once if it is idle, else after its response")
    func evicted() throws {
        let connections = Connections(limits: ConnectionLimits(capacity: 100, perClient: 1), metrics: metrics)
        let first = try connect(within: connections)
        try receive(Self.request, on: first)
        #expect(try connect(within: connections).isActive == false)
        try respond(on: first)
        let second = try connect(within: connections)
        first.embeddedEventLoop.run()
        #expect(!first.isActive && second.isActive)
        #expect(closed("client") == 1)
    }

    @Test("Evicts no client that still reads its last response before an idle one")
    func evictedWhileReading() throws {
        let connections = Connections(limits: ConnectionLimits(capacity: 1), metrics: metrics)
        let first = try connect(within: connections)
        try receive(Self.request, on: first)
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
        first.write(HTTPServerResponsePart.head(head), promise: nil)
        first.write(HTTPServerResponsePart.end(nil), promise: nil)
        first.embeddedEventLoop.advanceTime(by: .seconds(5))
        _ = try connect(within: connections)
        first.embeddedEventLoop.run()
        #expect(first.isActive)
        first.flush()
        first.embeddedEventLoop.advanceTime(by: .seconds(5))
        _ = try connect(within: connections)
        first.embeddedEventLoop.run()
        #expect(!first.isActive)
        #expect(try output(of: first).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test("A connection is idle as soon as its last response is read, and not earlier", arguments: [false, true])
    func idleAfterReading(isLong: Bool) throws {
        let connections = Connections(limits: ConnectionLimits(capacity: 100, perClient: 1), metrics: metrics)
        let first = try connect(within: connections)
        let socket = FlushGate()
        try first.pipeline.syncOperations.addHandler(socket, position: .first)
        try receive(Self.request, on: first)
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
        first.write(HTTPServerResponsePart.head(head), promise: nil)
        if isLong {
            first.isWritable = false
            first.pipeline.fireChannelWritabilityChanged()
            first.isWritable = true
            first.pipeline.fireChannelWritabilityChanged()
        }
        first.write(HTTPServerResponsePart.end(nil), promise: nil)
        #expect(try !connect(within: connections).isActive)
        first.flush()
        #expect(try !connect(within: connections).isActive)
        socket.open()
        let second = try connect(within: connections)
        first.embeddedEventLoop.run()
        #expect(!first.isActive && second.isActive)
        #expect(try output(of: first).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test("Over TLS, a response whose end adds no bytes leaves its connection idle")
    func idleOverTLS() throws {
        let connections = Connections(limits: ConnectionLimits(capacity: 100, perClient: 1), metrics: metrics)
        let first = try connect(within: connections)
        let guardHandler = try first.pipeline.syncOperations.handler(type: ConnectionGuard.self)
        try first.pipeline.syncOperations.addHandler(RecordFlushes(), position: .after(guardHandler))
        try receive(Self.request, on: first)
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "2"])
        try first.writeOutbound(HTTPServerResponsePart.head(head))
        try first.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "ok"))))
        first.write(HTTPServerResponsePart.end(nil), promise: nil)
        first.flush()
        let second = try connect(within: connections)
        first.embeddedEventLoop.run()
        #expect(!first.isActive && second.isActive)
        #expect(try output(of: first).hasSuffix("\r\n\r\nok"))
    }

    @Test("The idle time begins when the last response is read")
    func idleTimeAfterReading() throws {
        let channel = try connect()
        let socket = FlushGate()
        try channel.pipeline.syncOperations.addHandler(socket, position: .first)
        try receive(Self.request, on: channel)
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.write(HTTPServerResponsePart.end(nil), promise: nil)
        channel.flush()
        channel.embeddedEventLoop.advanceTime(by: .seconds(7))
        socket.open()
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(59_999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        #expect(closed("idle") == 1)
    }

    @Test("Pipelined requests reach the engine in slices")
    func slices() throws {
        let channel = try connect()
        // The shortest possible request.
        let smallest = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
        let reads = ReadGate()
        try channel.pipeline.syncOperations.addHandler(reads)
        try receive(String(repeating: smallest, count: 1_000), on: channel)
        channel.read()
        #expect(reads.heads > 0 && reads.heads < 60)
        var rounds = 0
        while reads.heads < 1_000, rounds < 1_000 {
            reads.isOpen = true
            channel.read()
            rounds += 1
        }
        #expect(reads.heads == 1_000)
        #expect(rounds > 15)
    }
}

/// Withholds flushes until it opens, like a socket whose client doesn't read.
private final class FlushGate: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    private var context: ChannelHandlerContext?
    private var isOpen = false

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func flush(context: ChannelHandlerContext) {
        if isOpen { context.flush() }
    }

    /// Forwards the withheld flush, and all later ones.
    func open() {
        isOpen = true
        context?.flush()
    }
}

/// Forwards a flush only after a write, like TLS.
private final class RecordFlushes: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private var hasBytes = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        hasBytes = true
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        guard hasBytes else { return }
        hasBytes = false
        context.flush()
    }
}

/// Counts the reads from the socket.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

/// Forwards one read when it is open, like the engine when it has consumed its input.
private final class ReadGate: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    var heads = 0
    var isOpen = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { heads += 1 }
    }

    func read(context: ChannelHandlerContext) {
        guard isOpen else { return }
        isOpen = false
        context.read()
    }
}
