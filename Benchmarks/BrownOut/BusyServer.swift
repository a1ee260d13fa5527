import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A server on the loopback with bounded workers and a bounded queue. It responds to requests that would wait too long with 503 and
/// `Retry-After: 2`, and not at all when refusals alone keep it busy. A silent server never refuses: it doesn't respond to such requests.
final class BusyServer: Sendable {
    private let capacity: Mutex<ServerCapacity>
    private let clock: QuickClock
    private let begin: QuickClock.Instant

    fileprivate let isSilent: Bool

    init(rate: Double, isSilent: Bool, clock: QuickClock) {
        self.isSilent = isSilent
        capacity = Mutex(ServerCapacity(rate: rate))
        self.clock = clock
        begin = clock.now
    }

    /// Listens on a free port.
    func start(on group: any EventLoopGroup) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try channel.pipeline.syncOperations.addHandler(Responder(server: self))
                }
            }
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// Changes the rate at which the server works.
    func change(rate: Double) {
        capacity.withLock { $0.change(rate: rate, at: begin.duration(to: clock.now)) }
    }

    /// Returns the outcome of a request that has just arrived. Its delay is in real time, not in the time of the accelerated clock.
    fileprivate func take() -> ServerCapacity.Outcome {
        let outcome = capacity.withLock { $0.take(at: begin.duration(to: clock.now)) }
        guard case .served(let wait) = outcome else { return outcome }
        return .served(after: wait / clock.factor)
    }
}

private final class Responder: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let server: BusyServer

    init(server: BusyServer) {
        self.server = server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        switch server.take() {
        case .served(let wait):
            let (seconds, attoseconds) = wait.components
            let delay = TimeAmount.nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
            context.eventLoop.assumeIsolated().scheduleTask(in: delay) { self.respond(.ok, [:], context: context) }
        case .refused where server.isSilent: break
        case .refused: respond(.serviceUnavailable, ["Retry-After": "2"], context: context)
        case .ignored: break
        }
    }

    private func respond(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, context: ChannelHandlerContext) {
        var headers = headers
        headers.add(name: "Content-Length", value: "2")
        context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "{}")))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
