public import HummingbirdCore

extension HTTPServerBuilder {
    /// HTTP/1.1 that answers in the contract also what is no HTTP: 400 `REQUEST_MALFORMED` in the standard form, and takes no bodies without end
    /// that no route reads. Each connection is
    /// served on its event loop (see docs/decisions/0055-requests-stay-on-their-event-loop.md): what blocks a thread for long belongs on one of its own.
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
        configuration.additionalChannelHandlers = {
            others() + [UnparsableRequestResponder(renderer: renderer), ContinueResponder(), UnreadBodyLimit()]
        }
        let answering = configuration
        return HTTPServerBuilder { EventLoopHTTP1Channel(base: HTTP1Channel(responder: $0, configuration: answering)) }
    }
}
