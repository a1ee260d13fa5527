import ErrorLabContract
import Foundation
import NIOCore
import ServiceLifecycle
import Timekeeping

/// The clocks of the lab: a monotonic one and the wall clock.
///
/// A test passes a manual clock, so that delays of minutes take no time.
struct LabTime: Sendable {
    /// The clock of delays and lifetimes. Starts at zero when the lab is created.
    private let clock: MonotonicClock
    /// The wall clock.
    let wall: @Sendable () -> Date

    /// Creates the clocks.
    /// - Parameters:
    ///   - clock: The clock of delays and lifetimes.
    ///   - wall: The wall clock, for dates in headers.
    init<C: Clock>(_ clock: C, wall: @escaping @Sendable () -> Date) where C.Duration == Duration {
        self.clock = MonotonicClock(clock)
        self.wall = wall
    }

    /// The time since the lab was created.
    func elapsed() -> Duration { clock.now }

    /// Sleeps for a time.
    /// - Throws: `CancellationError`.
    func sleep(_ time: Duration) async throws { try await clock.sleep(until: clock.now + time) }
}

/// Detects that the client has closed the connection, or its sending direction of the connection.
///
/// It is added to the pipeline of a connection while the lab waits. Hummingbird itself notices a closed connection only when it writes.
final class DepartureHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = Any
    /// A stream without elements, which ends when the client has disconnected.
    private let presence: AsyncStream<Never>
    /// Ends ``presence``. Repeated ends have no effect.
    private let end: AsyncStream<Never>.Continuation

    /// Creates a handler for one wait.
    init() {
        (presence, end) = AsyncStream.makeStream()
    }

    /// Returns when the client has disconnected, the handler has been removed, or the task is canceled. May be called only once.
    func departure() async {
        for await _ in presence {}
    }

    /// Ends the wait if the client has closed its half of the connection.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { end.finish() }
        context.fireUserInboundEventTriggered(event)
    }

    /// Ends the wait because the connection is closed.
    func channelInactive(context: ChannelHandlerContext) {
        end.finish()
        context.fireChannelInactive()
    }

    /// Ends the wait because of an error of the connection, such as a reset by the client.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end.finish()
        context.fireErrorCaught(error)
    }

    /// Ends the wait because the handler is no longer in the pipeline.
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

/// The connection of a request.
struct LabConnection: Sendable {
    /// The client has disconnected, or the server is shutting down.
    struct Gone: Error {}

    /// The channel of the connection.
    let channel: any Channel
    /// The clocks.
    let time: LabTime

    /// The server's port, if it listens on one.
    var localPort: Int? { channel.localAddress?.port }

    /// Sleeps, unless the client disconnects or the server shuts down.
    ///
    /// - Parameter milliseconds: The time; 0 returns immediately.
    /// - Throws: ``Gone`` if that happens.
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
        // Fails if the connection, and the handler with it, is gone.
        try? await channel.pipeline.removeHandler(watch).get()
        guard hasSlept else { throw Gone() }
    }

    /// Closes the connection, with a TCP reset or with an orderly end.
    ///
    /// It returns when the channel is closed. Bytes that were written before a reset may be lost, because the other system discards its
    /// buffer.
    /// - Parameter close: The kind of the end.
    func drop(_ close: LabClose) async {
        if close == .reset, let socket = channel as? any SocketOptionProvider {
            // A socket that closes with a linger time of zero sends a reset.
            try? await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try? await channel.close().get()
    }
}
