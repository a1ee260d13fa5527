import NIOCore

/// Tells when the client has gone: it closed the connection, or its half of it.
final class DepartureHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = Any
    private let presence: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    init() {
        (presence, end) = AsyncStream.makeStream()
    }

    /// Returns when the client has gone, the handler has been removed, or the task is cancelled. To be waited for once.
    func departure() async {
        for await _ in presence {}
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { end.finish() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end.finish()
        context.fireErrorCaught(error)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end.finish()
    }
}
