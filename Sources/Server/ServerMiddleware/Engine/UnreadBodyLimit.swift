import NIOCore
import NIOHTTPTypes

/// Ends a connection on which the body of a request goes on though the request has been answered: no route reads it, and the engine
/// would take all of it, however much that is and however slowly it comes.
///
/// What is more than 64 KiB has another second, so that its client can read the answer; what is less has 15 seconds.
final class UnreadBodyLimit: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private static let size = 65_536
    private static let time = TimeAmount.seconds(15)

    private var outstanding = 0
    private var isInBody = false
    /// How many bytes have come since the answer; `nil` if that does not matter.
    private var rest: Int?
    private var end: Scheduled<Void>?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            outstanding += 1
            isInBody = true
        case .body(let bytes):
            guard let passed = rest else { break }
            rest = passed + bytes.readableBytes
            if passed + bytes.readableBytes > Self.size { close(context, in: .seconds(1)) }
        case .end:
            isInBody = false
            rest = nil
            end?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(data, promise: promise)
        guard case .end = unwrapOutboundIn(data) else { return }
        outstanding -= 1
        guard outstanding == 0, isInBody else { return }
        close(context, in: Self.time)
        rest = 0
    }

    func channelInactive(context: ChannelHandlerContext) {
        end?.cancel()
        context.fireChannelInactive()
    }

    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
        rest = nil
        end?.cancel()
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
