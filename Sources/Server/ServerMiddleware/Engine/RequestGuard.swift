import NIOCore
import NIOHTTP1

/// Refuses requests that don't have exactly one valid `Host`, and closes a connection after its last response. The response to a request
/// with `Connection: close` is the last one. With HTTP/1.0, a response is also the last one if the request has no `keep-alive`, or if the
/// response has no length.
///
/// The response to a request for another protocol, such as `Upgrade: h2c`, is the last one too. The server ignores the request for the
/// protocol and responds as usual (RFC 9110 §7.8). But after such a request, the decoder parses nothing, and it would store all further
/// bytes without a limit. So the guard also stops reading.
///
/// The guard is the handler directly after the decoder, because the decoder provides the HTTP version and all headers of a request. The
/// guard reports the progress of requests and responses to ``ConnectionGuard``.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: ConnectionGuard
    /// Whether the connection accepts no further request after the current one.
    private var hasLastRequest = false
    /// Whether the last request has arrived completely. The guard ignores all later bytes.
    private var isLastComplete = false
    /// Whether the last request asks for another protocol, so that the decoder parses nothing after it.
    private var endsDecoding = false
    /// Whether the head of a request has arrived, but not its end.
    private var isReadingRequest = false
    /// Whether each request without a complete response uses HTTP/1.0, in the order of the requests. A client can send requests of
    /// different versions before it gets the response to the first one.
    private var usesHTTP10 = CircularBuffer<Bool>()
    /// Whether the connection ends with the response that is being written, even if the client has sent further requests.
    private var endsWithResponse = false
    /// Whether the last response has been written. The guard discards all later responses, which belong to no request.
    private var hasEnded = false

    /// Creates the handler.
    /// - Parameter connection: The guard of the same connection.
    init(connection: ConnectionGuard) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isLastComplete else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard !hasLastRequest else {
                isLastComplete = true
                return
            }
            guard RequestHost.isValid(in: head) else {
                // The parser throws the same error for an unreadable request, so the engine responds in the same way.
                errorCaught(context: context, error: HTTPParserError.invalidHeaderToken)
                return
            }
            usesHTTP10.append(head.version != .http1_1)
            endsDecoding = Self.asksForOtherProtocol(head)
            hasLastRequest = !head.isKeepAlive || connection.endsAfterResponse || endsDecoding
            isReadingRequest = true
            connection.headArrived()
        case .body: break
        case .end:
            isReadingRequest = false
            connection.requestArrived()
            isLastComplete = hasLastRequest
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        if !endsDecoding || !isLastComplete { context.read() }
    }

    /// Returns whether the decoder parses nothing after a request. It may also return `true` for an unusual `Connection` header after which
    /// the decoder continues.
    private static func asksForOtherProtocol(_ head: HTTPRequestHead) -> Bool {
        head.method == .CONNECT
            || head.headers.contains(name: "upgrade")
                && head.headers["connection"].contains { $0.lowercased().contains("upgrade") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError {
            // Bytes after the last request are not parsed.
            guard !isLastComplete else { return }
            // The engine sends the error response, after the responses to all earlier requests.
            hasLastRequest = true
            isLastComplete = true
            if !isReadingRequest {
                usesHTTP10.append(false)
                connection.headArrived()
            } else if connection.outstanding == 0 {
                // The error is in the rest of a body whose request already has its response. Discard the engine's error response. The
                // engine then closes the connection.
                hasEnded = true
            }
            isReadingRequest = false
            connection.requestArrived()
        }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !hasEnded else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        let isHTTP10 = usesHTTP10.first ?? false
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.code < 200:
            // HTTP/1.0 has no informational responses.
            if isHTTP10 { promise?.succeed() } else { context.write(data, promise: promise) }
        case .head(var head):
            let isClosing = !head.isKeepAlive
            // Without a length, the end of the connection marks the end of the body.
            endsWithResponse = isHTTP10 && !head.headers.contains(name: "content-length")
            if connection.endsAfterResponse || isClosing || endsWithResponse { hasLastRequest = true }
            let isLast = endsWithResponse || hasLastRequest && connection.outstanding <= 1
            guard isHTTP10 || isLast && !isClosing else {
                context.write(data, promise: promise)
                return
            }
            head.headers.replaceOrAdd(name: "connection", value: isLast ? "close" : "keep-alive")
            if isHTTP10 { head.version = .http1_0 }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            _ = usesHTTP10.popFirst()
            connection.responseWritten()
            let isLast = connection.outstanding == 0 && (hasLastRequest || connection.endsAfterResponse)
            if isLast || endsWithResponse { end(context) }
        }
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        connection.responsesFlushed()
    }

    /// Closes the connection after the written responses, and ignores all later requests and responses.
    private func end(_ context: ChannelHandlerContext) {
        isLastComplete = true
        hasEnded = true
        context.flush()
        context.close(mode: .output, promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ChannelShouldQuiesceEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        if connection.outstanding > 0 {
            hasLastRequest = true
        } else if connection.hasUnreadBytes {
            end(context)
        } else {
            isLastComplete = true
            context.channel.close(promise: nil)
        }
    }
}
