import ErrorLabContract
import Foundation
import NIOCore
import ServiceLifecycle
import Timekeeping

/// The clocks of the lab: a monotonic clock and the wall clock.
///
/// A test passes a manual clock, so that it doesn't wait for long delays.
struct LabTime: Sendable {
    /// The clock of delays and lifetimes, which starts at zero when the lab is created.
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

    /// Returns the time since the lab was created.
    func elapsed() -> Duration { clock.now }

    /// Sleeps for a time.
    /// - Throws: `CancellationError`.
    func sleep(_ time: Duration) async throws { try await clock.sleep(until: clock.now + time) }
}

/// A channel handler that detects that the client has closed the connection, or only its own sending side.
///
/// This handler is in the pipeline of the connection while the lab waits. Without it, Hummingbird notices a closed connection only when it
/// writes.
final class DepartureHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = Any
    /// A stream without elements, which ends when the client has disconnected.
    private let presence: AsyncStream<Never>
    /// Ends ``presence``. A second call has no effect.
    private let end: AsyncStream<Never>.Continuation

    /// Creates a handler for one wait.
    init() {
        (presence, end) = AsyncStream.makeStream()
    }

    /// Returns when the client has disconnected, when the lab has removed the handler, or when the task is canceled. Call the method only
    /// once.
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
    /// An error that a wait throws if the client has disconnected, or if the server is shutting down.
    struct Gone: Error {}

    /// The channel of the connection.
    let channel: any Channel
    /// The clocks.
    let time: LabTime

    /// The server's port; `nil` if the server doesn't listen on a port.
    var localPort: Int? { channel.localAddress?.port }

    /// Sleeps for a time. The sleep ends early if the client disconnects or the server shuts down.
    ///
    /// - Parameter milliseconds: The time; 0 returns immediately.
    /// - Throws: ``Gone`` if the sleep ended early.
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
        // The removal fails if the connection is closed, because the handler is then already removed.
        try? await channel.pipeline.removeHandler(watch).get()
        guard hasSlept else { throw Gone() }
    }

    /// Closes the connection with a TCP reset, or in an orderly way.
    ///
    /// The method returns when the channel is closed. After a reset, bytes that the lab has written before can be lost, because the
    /// client's operating system discards the bytes that the app has not read yet.
    /// - Parameter close: The way in which the connection is closed.
    func drop(_ close: LabClose) async {
        if close == .reset, let socket = channel as? any SocketOptionProvider {
            // A socket that closes with a linger time of zero sends a reset.
            try? await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try? await channel.close().get()
    }
}
