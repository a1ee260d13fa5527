import NIOCore
import NIOPosix
import Synchronization

/// A TCP proxy between a client and a server that cuts connections at given positions.
final class FaultProxy: Sendable {
    /// The position at which a connection is cut.
    struct Cut: Hashable, Sendable {
        enum Place: Hashable, Sendable, CaseIterable {
            /// As soon as it is accepted.
            case accept
            /// After a number of bytes from the client.
            case request
            /// After a number of bytes from the server.
            case response
        }

        let place: Place
        let bytes: Int
        /// Whether it ends with a reset, as from a middlebox that dropped the connection, instead of in order.
        let isReset: Bool
    }

    /// The traffic from the client since the cuts were set.
    struct Seen: Hashable, Sendable {
        var connections = 0
        /// Requests of which at least one byte arrived.
        var requests = 0
        var cuts = 0
    }

    private struct State {
        var cuts: [Cut] = []
        var passed = 0
        var seen = Seen()

        mutating func takeCut() -> Cut {
            passed = 0
            seen.cuts += 1
            return cuts.removeFirst()
        }
    }

    private let state = Mutex(State())
    /// Whether a cut within the head of a response is moved before the head.
    fileprivate let keepsHeadsWhole: Bool

    private init(keepsHeadsWhole: Bool) {
        self.keepsHeadsWhole = keepsHeadsWhole
    }

    /// Runs a proxy in front of a local port for the duration of a closure, which receives the proxy's port.
    static func run<Result>(
        before target: Int,
        keepsHeadsWhole: Bool,
        _ body: (FaultProxy, Int) async throws -> Result
    ) async throws -> Result {
        let proxy = FaultProxy(keepsHeadsWhole: keepsHeadsWhole)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ClientSide(proxy: proxy, target: target))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let result = try await body(proxy, server.localAddress?.port ?? 0)
            try await server.close()
            return result
        } catch {
            try? await server.close()
            throw error
        }
    }

    /// Replaces the cuts, each of which happens once.
    func arm(_ cuts: [Cut]) {
        state.withLock { $0 = State(cuts: cuts) }
    }

    /// The traffic since the cuts were set.
    var seen: Seen { state.withLock(\.seen) }

    /// Records a new connection.
    /// - Returns: The cut that ends it at once.
    fileprivate func accept() -> Cut? {
        state.withLock { state in
            state.seen.connections += 1
            guard state.cuts.first?.place == .accept else { return nil }
            return state.takeCut()
        }
    }

    /// Records the beginning of a request.
    fileprivate func beginRequest() { state.withLock { $0.seen.requests += 1 } }

    /// Returns how many of some bytes are forwarded, and the cut after them.
    fileprivate func pass(_ count: Int, _ place: Cut.Place) -> (count: Int, cut: Cut?) {
        state.withLock { state in
            guard let cut = state.cuts.first, cut.place == place else { return (count, nil) }
            let allowed = cut.bytes - state.passed
            guard count > allowed else {
                state.passed += count
                return (count, nil)
            }
            return (allowed, state.takeCut())
        }
    }
}

/// Handles the bytes from the client.
private final class ClientSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let proxy: FaultProxy
    private let target: Int
    private var peer: (any Channel)?
    /// Whether the next bytes begin a request. The client waits for a response before it sends another request.
    private let turn = Turn()

    init(proxy: FaultProxy, target: Int) {
        (self.proxy, self.target) = (proxy, target)
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        if let cut = proxy.accept() { return channel.end(cut) }
        let (proxy, turn) = (proxy, turn)
        ClientBootstrap(group: context.eventLoop)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(ServerSide(proxy: proxy, client: channel, turn: turn))
                }
            }
            .connect(host: "127.0.0.1", port: target)
            .assumeIsolated().whenComplete { result in
                switch result {
                case .success(let server):
                    self.peer = server
                    channel.setOption(.autoRead, value: true).whenComplete { _ in channel.read() }
                case .failure: channel.close(promise: nil)
                }
            }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if turn.begin() { proxy.beginRequest() }
        var buffer = unwrapInboundIn(data)
        let (count, cut) = proxy.pass(buffer.readableBytes, .request)
        if let part = buffer.readSlice(length: count), count > 0 { peer?.writeAndFlush(part, promise: nil) }
        guard let cut else { return }
        peer?.close(promise: nil)
        context.channel.end(cut)
    }

    func channelInactive(context: ChannelHandlerContext) {
        peer?.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// Handles the bytes from the server.
private final class ServerSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let proxy: FaultProxy
    private let client: any Channel
    private let turn: Turn
    /// The bytes of an incomplete head.
    private var head = ByteBuffer()
    private var isWithinHead = false

    init(proxy: FaultProxy, client: any Channel, turn: Turn) {
        (self.proxy, self.client, self.turn) = (proxy, client, turn)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        var headLength = 0
        if proxy.keepsHeadsWhole {
            if turn.end() { isWithinHead = true }
            if isWithinHead {
                head.writeBuffer(&buffer)
                guard let end = head.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
                (buffer, head, isWithinHead) = (head, ByteBuffer(), false)
                headLength = end.upperBound - buffer.readerIndex
            }
        } else {
            _ = turn.end()
        }
        var (count, cut) = proxy.pass(buffer.readableBytes, .response)
        if cut != nil, count < headLength { count = 0 }
        if let part = buffer.readSlice(length: count), count > 0 { client.writeAndFlush(part, promise: nil) }
        guard let cut else { return }
        context.close(promise: nil)
        client.end(cut)
    }

    func channelInactive(context: ChannelHandlerContext) {
        client.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// Whether the client or the server sends next on one connection.
private final class Turn: Sendable {
    private let isClients = Mutex(true)

    /// Returns whether bytes of the client begin a request.
    func begin() -> Bool {
        isClients.withLock { isClients in
            defer { isClients = false }
            return isClients
        }
    }

    /// Returns whether bytes of the server begin a response.
    func end() -> Bool {
        isClients.withLock { isClients in
            defer { isClients = true }
            return !isClients
        }
    }
}

extension Channel {
    /// Ends a connection in the way of a cut.
    fileprivate func end(_ cut: FaultProxy.Cut) {
        guard cut.isReset, let options = self as? any SocketOptionProvider else { return close(promise: nil) }
        options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in self.close(promise: nil) }
    }
}
