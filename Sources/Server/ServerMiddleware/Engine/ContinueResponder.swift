import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Tells a client that waits before it sends its body that it may (RFC 9110 §10.1.1): else it waits for its own time-out.
///
/// Said as soon as all that was asked before on the connection has been answered.
final class ContinueResponder: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var outstanding = 0
    /// The last request waits, and others before it have no answer yet.
    private var isOwed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            outstanding += 1
            if let expectation = head.headerFields[.expect], expectation.lowercased() == "100-continue" {
                if outstanding == 1 { sayContinue(context) } else { isOwed = true }
            }
        // It did not wait, or waits no more.
        case .body, .end: isOwed = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(data, promise: promise)
        guard case .end = unwrapOutboundIn(data) else { return }
        outstanding -= 1
        if isOwed, outstanding == 1 {
            isOwed = false
            sayContinue(context)
        }
    }

    private func sayContinue(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }
}
