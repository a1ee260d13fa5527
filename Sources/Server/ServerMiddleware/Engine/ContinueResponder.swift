import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Sends `100 Continue` to a client that waits for it before it sends its body (RFC 9110 §10.1.1). Without this response, the client sends
/// the body only after its own timeout.
///
/// HTTP/1.1 responses must have the order of the requests. So `100 Continue` is sent when all earlier requests on the connection have their
/// responses.
final class ContinueResponder: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The requests without a complete response.
    private var outstanding = 0
    /// Whether the last request waits for `100 Continue` while earlier requests have no response yet.
    private var isOwed = false

    /// Responds to an expectation. If earlier requests have no response yet, the expectation is stored until they have.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            outstanding += 1
            if let expectation = head.headerFields[.expect], expectation.lowercased() == "100-continue" {
                if outstanding == 1 { sayContinue(context) } else { isOwed = true }
            }
        // The client did not wait for the response, or no longer waits.
        case .body, .end: isOwed = false
        }
        context.fireChannelRead(data)
    }

    /// Passes a response, and then sends `100 Continue` if a stored expectation is due.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(data, promise: promise)
        guard case .end = unwrapOutboundIn(data) else { return }
        outstanding -= 1
        if isOwed, outstanding == 1 {
            isOwed = false
            sayContinue(context)
        }
    }

    /// Sends `100 Continue`.
    private func sayContinue(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }
}
