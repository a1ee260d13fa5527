import ErrorLabContract
import Foundation
import NIOCore
import ServiceLifecycle
import Timekeeping

/// The lab's clocks: one that only goes forward, and the wall's.
struct LabTime: Sendable {
    private let clock: MonotonicClock
    /// The time on the wall.
    let wall: @Sendable () -> Date

    init<C: Clock>(_ clock: C, wall: @escaping @Sendable () -> Date) where C.Duration == Duration {
        self.clock = MonotonicClock(clock)
        self.wall = wall
    }

    /// The time since the lab began.
    func elapsed() -> Duration { clock.now }

    /// Sleeps for a time.
    func sleep(_ time: Duration) async throws { try await clock.sleep(until: clock.now + time) }
}

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

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The connection that a request came on.
struct LabConnection: Sendable {
    /// Nobody is there any more who could read an answer, or the server is going down.
    struct Gone: Error {}

    let channel: any Channel
    let time: LabTime

    /// The server's port, if it listens on one.
    var localPort: Int? { channel.localAddress?.port }

    /// Waits, unless the client goes away meanwhile or the server shuts down.
    /// - Throws: ``Gone`` if there is no use in waiting.
    func sleep(milliseconds: Int) async throws {
        guard milliseconds > 0 else { return }
        let watch = DepartureHandler()
        do {
            try await channel.pipeline.addHandler(watch, position: .first).get()
        } catch {
            throw Gone()
        }
        let hasSlept = await withTaskGroup(of: Bool.self) { tasks in
            tasks.addTask {
                let slept: Void? = try? await cancelWhenGracefulShutdown { try await time.sleep(.milliseconds(milliseconds)) }
                return slept != nil
            }
            tasks.addTask {
                await watch.departure()
                return false
            }
            defer { tasks.cancelAll() }
            return await tasks.next() ?? false
        }
        // Fails if the connection is gone, and the handler with it.
        try? await channel.pipeline.removeHandler(watch).get()
        guard hasSlept else { throw Gone() }
    }

    /// Breaks the connection.
    func drop(_ close: LabClose) async {
        if close == .reset, let socket = channel as? any SocketOptionProvider {
            // Closed with nothing to linger for, a socket is reset.
            try? await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try? await channel.close().get()
    }
}
