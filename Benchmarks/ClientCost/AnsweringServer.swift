import CAllocations
import NIOCore
import NIOHTTP1
import NIOPosix

/// A server on the loopback interface that sends the same response to every request immediately. It runs on its own thread, whose
/// allocations are not counted.
enum AnsweringServer {
    static let body = #"{"id":17,"name":"Tehillim"}"#

    /// Listens on a free port.
    static func start(on group: any EventLoopGroup) async throws -> any Channel {
        for loop in group.makeIterator() { try await loop.submit { exclude_this_thread() }.get() }
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try channel.pipeline.syncOperations.addHandler(Answer())
                }
            }
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0).get()
    }
}

private final class Answer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let head = HTTPResponseHead(
        version: .http1_1,
        status: .ok,
        headers: ["Content-Type": "application/json", "Content-Length": "\(AnsweringServer.body.utf8.count)"]
    )

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: AnsweringServer.body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
