import HummingbirdCore
import Logging
import NIOCore

/// HTTP/1.1 whose connections are served on their event loops.
struct EventLoopHTTP1Channel: ServerChildChannel {
    let base: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger)
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        let executor = EventLoopExecutor(value.channel.eventLoop)
        await withTaskExecutorPreference(executor) {
            await EventLoopExecutor.$current.withValue(executor) { await base.handle(value: value, logger: logger) }
        }
    }
}
