public import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// HTTP/1.1 connections that are served on their event loops, within the limits of ``Connections``.
///
/// The handlers of a connection are, from the socket to the router: ``ConnectionGuard``, ``InboundSlices``, NIO's decoder and encoder,
/// ``RequestGuard``, the codec of HTTP types, the configured handlers, ``UnparsableRequestResponder``, ``ContinueResponder``, and
/// ``UnreadBodyLimit``.
struct EventLoopHTTP1Channel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// The routes.
    let responder: HTTPChannelHandler.Responder
    /// The limits of the decoder, and additional handlers.
    let configuration: HTTP1Channel.Configuration
    let connections: Connections
    let renderer: ContractErrorRenderer
    let securityHeaders: SecurityHeaders

    /// Sets the options of a connection and adds its handlers.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            // One read fills a few slices; the kernel keeps bytes that the engine doesn't take.
            let buffers = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: InboundSlices.size, maximum: 16_384)
            try channel.syncOptions?.setOption(.recvAllocator, value: buffers)
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            // The kernel buffers at most this many unsent bytes, so that the progress of the client is visible. Not every system or socket
            // supports the option.
            try? channel.syncOptions?.setOption(.tcpOption(.unsentLimit), value: 32_768)
            try addHandlers(to: channel.pipeline.syncOperations)
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
        }
    }

    /// Adds the handlers between the connection and the engine.
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

    /// Serves the requests of a connection on its event loop until it closes.
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
    /// Returns a server for HTTP/1.1 that also responds to invalid HTTP with an error of the contract: 400 `REQUEST_MALFORMED` in the
    /// standard form.
    ///
    /// ```swift
    /// Application(router: router, server: .contractHTTP1())
    /// ```
    ///
    /// A request must have one valid `Host`. The size of a body that no route reads is limited. Clients that send or read too slowly, and
    /// connections beyond the limits, are closed (see ``Connections``).
    ///
    /// Each connection is served on its event loop (see docs/decisions/0055-run-requests-on-their-event-loop.md). So run code that blocks
    /// its thread elsewhere: it would delay all connections of the loop.
    /// - Parameters:
    ///   - renderer: Renders errors.
    ///   - configuration: The limits of the decoder, and handlers before the engine. Its `idleTimeout` is ignored:
    ///     ``ConnectionLimits/idleTime`` applies.
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
