import NIOCore
import NIOHTTPTypes

/// Closes a connection if its client continues to send a large or slow body after the response. No route reads the rest of this body.
/// Without this handler, the engine (Hummingbird) would accept any number of bytes for any time.
///
/// If more than 64 KiB of the body arrive after the response, the connection closes 1 s later, so that the client can read the response. If
/// the body has not arrived completely 15 s after the response, the connection also closes. If the body ends within these limits, the
/// connection stays open for the next request.
final class UnreadBodyLimit: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The largest number of bytes of a body that can arrive after the response.
    private static let size = 65_536
    /// The time after the response within which the rest of a body must arrive.
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

    /// Closes the connection after a delay, and cancels an earlier schedule.
    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
        rest = nil
        end?.cancel()
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
