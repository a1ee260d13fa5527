import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Sends `100 Continue` to a client that waits for this response before it sends its body (RFC 9110 §10.1.1). Without this response, the
/// client would wait for its own timeout.
///
/// HTTP/1.1 responses must be sent in the order of the requests. The handler therefore sends `100 Continue` only after the responses to all
/// earlier requests on the connection.
final class ContinueResponder: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The number of requests without a complete response.
    private var outstanding = 0
    /// Whether the handler must still send `100 Continue` for the last request. It waits for the responses to earlier requests.
    private var isOwed = false

    /// Passes on a part of a request. If the client expects `100 Continue`, the handler sends the response now or later.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            outstanding += 1
            if let expectation = head.headerFields[.expect], expectation.lowercased() == "100-continue" {
                if outstanding == 1 { sayContinue(context) } else { isOwed = true }
            }
        // The client has sent its body without waiting, so `100 Continue` is no longer needed.
        case .body, .end: isOwed = false
        }
        context.fireChannelRead(data)
    }

    /// Passes on a part of a response. If `100 Continue` is due after this part, the handler sends it.
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
