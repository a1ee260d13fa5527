public import HummingbirdCore

extension HTTPServerBuilder {
    /// HTTP/1.1 that answers in the contract also what is no HTTP: 400 `REQUEST_MALFORMED` in the standard form.
    ///
    /// ```swift
    /// Application(router: router, server: .contractHTTP1())
    /// ```
    public static func contractHTTP1(
        renderer: ContractErrorRenderer = ContractErrorRenderer(),
        configuration: HTTP1Channel.Configuration = .init()
    ) -> HTTPServerBuilder {
        var configuration = configuration
        let others = configuration.additionalChannelHandlers
        configuration.additionalChannelHandlers = { others() + [UnparsableRequestResponder(renderer: renderer)] }
        return .http1(configuration: configuration)
    }
}
