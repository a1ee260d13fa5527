public import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Serves HTTP/1.1 connections on their event loops, within the limits of ``Connections``.
///
/// The handlers of a connection, from the socket to the router:
/// 1. ``ConnectionGuard``
/// 2. ``InboundSlices``
/// 3. the decoder and the encoder of NIO
/// 4. ``RequestGuard``
/// 5. the codec of HTTP types
/// 6. the configured handlers
/// 7. ``UnparsableRequestResponder``
/// 8. ``ContinueResponder``
/// 9. ``UnreadBodyLimit``
struct EventLoopHTTP1Channel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// The responder for requests, which contains the routes.
    let responder: HTTPChannelHandler.Responder
    /// The limits of the decoder, and additional handlers.
    let configuration: HTTP1Channel.Configuration
    let connections: Connections
    let renderer: ContractErrorRenderer
    let securityHeaders: SecurityHeaders

    /// Sets the options of a connection and adds its handlers.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            // One read fills a few slices (see `InboundSlices`). Bytes that the engine (Hummingbird) doesn't request stay in the kernel.
            let buffers = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: InboundSlices.size, maximum: 16_384)
            try channel.syncOptions?.setOption(.recvAllocator, value: buffers)
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            // Limit the number of unsent bytes in the kernel, so that `ConnectionGuard` can estimate how much the client has read. Some
            // systems and sockets don't support the option.
            try? channel.syncOptions?.setOption(.tcpOption(.unsentLimit), value: 32_768)
            try addHandlers(to: channel.pipeline.syncOperations)
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
        }
    }

    /// Adds the handlers between the connection and the engine (Hummingbird).
    func addHandlers(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        let connection = ConnectionGuard(connections: connections)
        try pipeline.addHandler(connection, position: .first)
        try pipeline.addHandler(InboundSlices { connection.abort(.pipeline) })
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = configuration.httpDecoder.maxHeaderFieldSize
        limits.maxHeaderListSize = configuration.httpDecoder.maxHeaderListSize
        limits.maxHeaderFieldCount = configuration.httpDecoder.maxHeaderFieldCount
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withErrorHandling: false,
            withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: limits
        )
        try pipeline.addHandler(RequestGuard(connection: connection))
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try pipeline.addHandlers(configuration.additionalChannelHandlers())
        try pipeline.addHandler(UnparsableRequestResponder(renderer: renderer, securityHeaders: securityHeaders))
        try pipeline.addHandler(ContinueResponder())
        try pipeline.addHandler(UnreadBodyLimit())
    }

    /// Serves the requests of a connection on its event loop until the connection closes.
    func handle(value: Value, logger: Logger) async {
        let executor = EventLoopExecutor(value.channel.eventLoop)
        await withTaskExecutorPreference(executor) {
            await EventLoopExecutor.$current.withValue(executor) { await handleHTTP(asyncChannel: value, logger: logger) }
        }
    }
}

extension NIOBSDSocket.Option {
    /// `TCP_NOTSENT_LOWAT`.
    #if os(Linux)
        fileprivate static let unsentLimit = NIOBSDSocket.Option(rawValue: 25)
    #else
        fileprivate static let unsentLimit = NIOBSDSocket.Option(rawValue: 0x201)
    #endif
}

extension HTTPServerBuilder {
    /// Returns a server for HTTP/1.1. It responds to invalid HTTP with a ``ContractError``: 400 `REQUEST_MALFORMED` in the standard format.
    ///
    /// ```swift
    /// Application(router: router, server: .contractHTTP1())
    /// ```
    ///
    /// A request must have one valid `Host`. If no route reads the body of a request, the server accepts only a limited part of this body.
    /// The server closes connections whose clients send or read too slowly, and connections above the limits (see ``Connections``).
    ///
    /// Each connection is served on its event loop (see docs/decisions/0055-run-requests-on-their-event-loop.md). Code that blocks its
    /// thread would delay all connections of the event loop. Run such code on another thread.
    /// - Parameters:
    ///   - renderer: Renders errors.
    ///   - configuration: The limits of the decoder, and handlers before the engine. The server ignores the `idleTimeout` of the
    ///     configuration, and uses ``ConnectionLimits/idleTime`` instead.
    ///   - connections: The open connections and their limits.
    ///   - securityHeaders: The headers of responses to invalid HTTP.
    public static func contractHTTP1(
        renderer: ContractErrorRenderer = ContractErrorRenderer(),
        configuration: HTTP1Channel.Configuration = .init(),
        connections: Connections = Connections(),
        securityHeaders: SecurityHeaders = SecurityHeaders(isStrictTransport: false)
    ) -> HTTPServerBuilder {
        HTTPServerBuilder {
            EventLoopHTTP1Channel(
                responder: $0,
                configuration: configuration,
                connections: connections,
                renderer: renderer,
                securityHeaders: securityHeaders
            )
        }
    }
}
