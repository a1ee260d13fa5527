import NIOCore
import NIOHTTPTypes

/// Closes a connection if its client continues to send a large or slow body after the response. No route reads this body. Without this
/// handler, the engine (Hummingbird) would accept any number of bytes for any time.
///
/// If the rest of the body exceeds 64 KiB, the connection closes 1 s later, so that the client can read the response. If the rest has not
/// arrived completely after 15 s, the connection also closes. If the body ends within these limits, the connection stays open for the next
/// request.
final class UnreadBodyLimit: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The largest size, in bytes, of the rest of a body.
    private static let size = 65_536
    /// The time within which the rest of a body must arrive.
    private static let time = TimeAmount.seconds(15)

    private var outstanding = 0
    private var isInBody = false
    /// The number of bytes of the body that have arrived since the response; `nil` while no limit applies.
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

    /// Schedules the end of the connection.
    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
        rest = nil
        end?.cancel()
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
