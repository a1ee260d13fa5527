import ErrorContract
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Replaces Hummingbird's responses to invalid HTTP with responses in the same error format as all other responses (see ``ContractError``).
/// Invalid HTTP is, for example, an unknown method, 80 KB of headers, or random bytes.
///
/// Such a request never reaches the router. The engine (Hummingbird) itself responds with an empty 400, after the responses to all earlier
/// requests on the connection. This handler is between the codec and the engine. It adds the body and the header `Connection: close`, so
/// that ``RequestGuard`` closes the connection after the response.
final class UnparsableRequestResponder: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let renderer: ContractErrorRenderer
    private let securityHeaders: SecurityHeaders
    private var hasFailed = false

    init(renderer: ContractErrorRenderer, securityHeaders: SecurityHeaders) {
        self.renderer = renderer
        self.securityHeaders = securityHeaders
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError:
            hasFailed = true
            context.fireErrorCaught(error)
        case is HTTP1TypeConversionError:
            // The parser has accepted the request, but the codec has refused it. The engine responds only to errors of the parser, so pass
            // on a parser error instead.
            hasFailed = true
            context.fireErrorCaught(HTTPParserError.unknown)
        default: context.fireErrorCaught(error)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // If the head of a request was refused, ignore the rest of the request.
        guard !hasFailed else { return }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard hasFailed, case .head(let head) = unwrapOutboundIn(data), Self.isEngineResponse(head) else {
            context.write(data, promise: promise)
            return
        }
        var (response, body) = renderer.responseToUnparsable()
        securityHeaders.add(to: &response.headerFields)
        context.write(wrapOutboundOut(.head(response)), promise: promise)
        context.write(wrapOutboundOut(.body(context.channel.allocator.buffer(bytes: body))), promise: nil)
    }

    /// Returns whether a response is the empty 400 of the engine. Responses of routes have an error code in a header.
    private static func isEngineResponse(_ head: HTTPResponse) -> Bool {
        head.status == .badRequest && head.headerFields[.contentLength] == "0" && head.headerFields[.errorCode] == nil
    }
}

extension ContractErrorRenderer {
    /// Returns the response to invalid HTTP. The client's preferred language and format are unknown.
    fileprivate func responseToUnparsable() -> (head: HTTPResponse, body: [UInt8]) {
        let id = NewRequestID.make()
        var (head, body) = responseParts(
            for: ContractError(.requestMalformed),
            in: localization.fallback,
            form: .standard,
            requestID: id
        )
        head.headerFields[.contentLength] = "\(body.count)"
        head.headerFields[.connection] = "close"
        return (head, body)
    }
}
