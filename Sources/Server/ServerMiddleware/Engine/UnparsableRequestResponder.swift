import ErrorContract
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Replaces Hummingbird's responses to invalid HTTP (an unknown method, 80 KB of headers, random bytes) with error responses in the format
/// of the error contract.
///
/// Such a request never reaches the router. The engine (Hummingbird) itself responds with an empty 400, after the responses to all earlier
/// requests on the connection. This handler, between the codec and the engine, adds the body and the header `Connection: close`. Because of
/// this header, ``RequestGuard`` closes the connection after the response.
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
            // The parser accepted the request and the codec did not. The engine only responds to errors of the parser.
            hasFailed = true
            context.fireErrorCaught(HTTPParserError.unknown)
        default: context.fireErrorCaught(error)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The rest of a request whose head was refused.
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

    /// Whether this is the empty 400 of the engine. A response of a route has the code in a header.
    private static func isEngineResponse(_ head: HTTPResponse) -> Bool {
        head.status == .badRequest && head.headerFields[.contentLength] == "0" && head.headerFields[.errorCode] == nil
    }
}

extension ContractErrorRenderer {
    /// The response to invalid HTTP. The client's preferred language and format are unknown.
    fileprivate func responseToUnparsable() -> (head: HTTPResponse, body: [UInt8]) {
        let id = NewRequestID.make()
        var (head, body) = answer(
            to: ContractError(.requestMalformed),
            in: localization.fallback,
            form: .standard,
            requestID: id
        )
        head.headerFields[.contentLength] = "\(body.count)"
        head.headerFields[.connection] = "close"
        return (head, body)
    }
}
