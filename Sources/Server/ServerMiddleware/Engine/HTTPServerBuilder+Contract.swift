public import HummingbirdCore

extension HTTPServerBuilder {
    /// HTTP/1.1 whose responses to what is no HTTP follow the contract, too: 400 `REQUEST_MALFORMED` in the standard form.
    ///
    /// A request must have one valid `Host`. A body that no route reads is not taken without end. Clients that send or read too
    /// slowly, and connections beyond the limits, are closed (see ``Connections``). Each connection is served on its event loop
    /// (see docs/decisions/0055-requests-stay-on-their-event-loop.md): run what blocks a thread for long on another one.
    ///
    /// ```swift
    /// Application(router: router, server: .contractHTTP1())
    /// ```
    /// - Parameters:
    ///   - renderer: Renders errors.
    ///   - configuration: The decoder's limits, and handlers that stand before the engine. Its `idleTimeout` is not used:
    ///     ``ConnectionLimits/idleTime`` is.
    ///   - connections: The open connections and their limits.
    ///   - securityHeaders: The headers of responses to what is no HTTP.
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
