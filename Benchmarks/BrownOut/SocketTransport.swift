import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import ResilientHTTP
import Synchronization

/// A minimal transport that reuses connections. The benchmark measures when requests are sent, not how fast one request is.
final class SocketTransport: HTTPTransport {
    private let group: any EventLoopGroup
    private let port: Int
    private let factor: Int
    /// The largest number of connections of one client, which real clients bound too. Otherwise a server that hangs would cost a
    /// descriptor for each request.
    private static let connections = 350

    private struct State {
        var idle: [any Channel] = []
        var open = 0
    }

    private struct NoConnectionLeft: Error {}

    private let state = Mutex(State())
    /// The number of requests that all transports have sent.
    private let sent: Counter

    init(group: any EventLoopGroup, port: Int, factor: Int, sent: Counter) {
        (self.group, self.port, self.factor, self.sent) = (group, port, factor, sent)
    }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let channel: any Channel
        do {
            channel = try await connection()
        } catch {
            throw TransportError(.unreachable, message: "\(error)", wasSent: false)
        }
        sent.increment()
        do {
            let response = try await exchange(request, on: channel, timeout: timeout)
            state.withLock { $0.idle.append(channel) }
            return (response, ResponseBody(Array("{}".utf8)))
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    /// Closes all unused connections.
    func close() {
        for channel in state.withLock(\.idle) { channel.close(promise: nil) }
    }

    private func connection() async throws -> any Channel {
        while let channel = state.withLock({ $0.idle.popLast() }) {
            if channel.isActive { return channel }
        }
        let isFree = state.withLock { state in
            guard state.open < Self.connections else { return false }
            state.open += 1
            return true
        }
        guard isFree else { throw NoConnectionLeft() }
        do {
            let channel = try await connect()
            channel.closeFuture.whenComplete { _ in self.state.withLock { $0.open -= 1 } }
            return channel
        } catch {
            state.withLock { $0.open -= 1 }
            throw error
        }
    }

    private func connect() async throws -> any Channel {
        try await ClientBootstrap(group: group)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(Exchange())
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    private func exchange(
        _ request: HTTPRequest,
        on channel: any Channel,
        timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        var headers = HTTPHeaders([("Host", "127.0.0.1")])
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: request.path ?? "/", headers: headers)
        let promise = channel.eventLoop.makePromise(of: Int.self)
        let (seconds, attoseconds) = (timeout / factor).components
        let delay = TimeAmount.nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        let alarm = channel.eventLoop.scheduleTask(in: delay) { promise.fail(ChannelError.connectTimeout(delay)) }
        channel.write(Exchange.Order(head: head, promise: promise), promise: nil)
        channel.flush()
        do {
            let status = try await promise.futureResult.get()
            alarm.cancel()
            return HTTPResponse(status: .init(code: status), headerFields: status == 503 ? [.retryAfter: "2"] : [:])
        } catch is ChannelError {
            throw TransportError(.timeout, message: "timed out", wasSent: true)
        } catch {
            alarm.cancel()
            throw TransportError(.connectionLost, message: "\(error)", wasSent: true)
        }
    }
}

/// One request at a time on one connection.
private final class Exchange: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Order
    typealias OutboundOut = HTTPClientRequestPart

    struct Order: Sendable {
        var head: HTTPRequestHead
        var promise: EventLoopPromise<Int>
    }

    private struct Closed: Error {}

    private var promise: EventLoopPromise<Int>?
    private var status = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let order = unwrapOutboundIn(data)
        self.promise = order.promise
        context.write(wrapOutboundOut(.head(order.head)), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body: break
        case .end:
            promise?.succeed(status)
            promise = nil
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise?.fail(Closed())
        promise = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
