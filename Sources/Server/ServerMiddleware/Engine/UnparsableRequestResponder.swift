import ErrorContract
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Puts into the contract what the engine says about bytes that are no HTTP: an unknown method, 80 KB of headers, garbage.
///
/// Such a request never reaches the router. The engine answers it itself, with an empty 400 behind all that was asked before it
/// on the connection; this channel handler stands between the codec and the engine and gives that answer a body. The connection
/// ends with it: ``RequestGuard`` sees its `Connection: close`.
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
            // The parser took it, the codec did not. The engine answers only the parser's errors.
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

    /// Whether this is the empty 400 of the engine; a route's own has the code in a header.
    private static func isEngineResponse(_ head: HTTPResponse) -> Bool {
        head.status == .badRequest && head.headerFields[.contentLength] == "0" && head.headerFields[.errorCode] == nil
    }
}

extension ContractErrorRenderer {
    /// The answer to bytes that are no request: nothing is known of what the client would like to read.
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
