public import CoreMetrics
public import Logging
public import NIOCore
public import NIOPosix
import Synchronization

/// A client of one Valkey or Redis server over one connection.
///
/// ```swift
/// let client = ValkeyClient(address: try ValkeyAddress(url: "valkey://localhost:6379"), logger: logger)
/// try await client.waitUntilReady(within: .seconds(2))
/// let reply = try await client.send(ValkeyCommand("INCR", "visits"), within: .milliseconds(10))
/// await client.close()
/// ```
///
/// Commands of concurrent callers share the connection as a pipeline: commands of one turn of the event loop are sent in one write. Each
/// command has a deadline. The first command that misses it closes the connection, because its reply could be late, and all commands fail
/// immediately until another connection is ready. The client tries to connect every 100 to 250 ms.
///
/// So a slow or missing server costs a caller at most its deadline, and usually nothing. No command is repeated, because it may have been
/// executed. Canceling a task doesn't cancel its command: the call returns with the reply or at the deadline.
///
/// All methods can be called by several tasks at the same time. At most 256 commands are in flight, and 16,384 wait; further ones fail as
/// unavailable.
public final class ValkeyClient: Sendable {
    private let loop: any EventLoop
    private let link: ValkeyLink
    private let inbox = InboxBox()
    private let metrics: ValkeyMetrics

    /// The largest number of commands that wait for room in the pipeline.
    private static let mostWaiting = 16_384

    /// Creates a client, which begins to connect.
    ///
    /// A connection that can't be established is not an error here. Use ``waitUntilReady(within:)`` to detect wrong settings at the start.
    /// - Parameters:
    ///   - address: The address of the server.
    ///   - name: The name of the connection in `CLIENT LIST`.
    ///   - scripts: The scripts that the client loads with each connection.
    ///   - group: The event loops, of which the client uses one.
    ///   - metrics: The factory of the metrics.
    ///   - logger: Reports when the connection is ready or lost.
    public init(
        address: ValkeyAddress,
        name: String = "holdfast",
        scripts: [ValkeyScript] = [],
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        metrics: any MetricsFactory = MetricsSystem.factory,
        logger: Logger
    ) {
        loop = group.next()
        self.metrics = ValkeyMetrics(factory: metrics)
        link = ValkeyLink(
            address: address,
            name: name,
            scripts: scripts,
            loop: loop,
            inbox: inbox,
            metrics: self.metrics,
            logger: logger
        )
        loop.execute { [link] in link.connect() }
    }

    deinit { loop.execute { [link] in link.close() } }

    /// Whether a connection is ready. Otherwise, commands fail immediately. It may change at any time.
    public var isReady: Bool { inbox.value.withLock { $0.isReady } }

    /// Sends a command and returns its reply.
    /// - Parameters:
    ///   - command: The command. Don't send commands that change the mode of the connection, such as `SUBSCRIBE` or `MULTI`: other callers
    ///     share it.
    ///   - time: The time until the command fails and the connection is closed.
    /// - Throws: ``ValkeyError``, also if the reply is an error.
    public func send(_ command: ValkeyCommand, within time: Duration) async throws(ValkeyError) -> ValkeyReply {
        try await send(command, by: .now() + TimeAmount(time))
    }

    /// Executes a script, in one round trip, or in two if the server no longer stores the script.
    /// - Parameters:
    ///   - script: The script.
    ///   - keys: All keys that the script uses.
    ///   - arguments: The arguments.
    ///   - time: The time until the command fails and the connection is closed.
    /// - Throws: ``ValkeyError``, also if the reply is an error.
    public func evaluate(
        _ script: ValkeyScript,
        keys: [[UInt8]],
        arguments: [[UInt8]],
        within time: Duration
    ) async throws(ValkeyError) -> ValkeyReply {
        let deadline = NIODeadline.now() + TimeAmount(time)
        let digest = script.digest
        do {
            return try await send(script.call(by: digest, keys: keys, arguments: arguments), by: deadline)
        } catch .refused(code: "NOSCRIPT") where digest != nil {
            return try await send(script.call(by: nil, keys: keys, arguments: arguments), by: deadline)
        }
    }

    /// Returns when a connection is ready, which is checked every 5 ms.
    /// - Parameter time: The longest time to wait.
    /// - Throws: ``ValkeyError``: the reason for which the last connection ended, if none is ready in time; ``ValkeyError/unavailable`` if
    ///   the task is canceled.
    public func waitUntilReady(within time: Duration) async throws(ValkeyError) {
        let deadline = ContinuousClock.now + time
        while true {
            let (isReady, failure) = inbox.value.withLock { ($0.isReady, $0.lastFailure) }
            if isReady { return }
            guard failure != .closed, ContinuousClock.now < deadline else { throw failure }
            do { try await Task.sleep(for: .milliseconds(5)) } catch { throw .unavailable }
        }
    }

    /// Closes the connection. Commands without a reply fail, and so do all later ones. A client that is released without a call closes its
    /// connection in the background.
    public func close() async {
        let done = loop.submit { [link, inbox] in
            link.close()
            inbox.value.withLock { $0.lastFailure = .closed }
        }
        try? await done.get()
    }

    /// Enqueues a command and waits for its reply.
    private func send(_ command: ValkeyCommand, by deadline: NIODeadline) async throws(ValkeyError) -> ValkeyReply {
        let start = NIODeadline.now()
        let bytes = command.encoded()
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<ValkeyReply, ValkeyError>, Never>) in
            let pending = PendingCommand(bytes: bytes, deadline: deadline) { continuation.resume(returning: $0) }
            let isFirst: Bool? = inbox.value.withLock { inbox in
                guard inbox.isReady, inbox.commands.count < Self.mostWaiting else { return nil }
                inbox.commands.append(pending)
                defer { inbox.isScheduled = true }
                return !inbox.isScheduled
            }
            guard let isFirst else { return continuation.resume(returning: .failure(.unavailable)) }
            if isFirst { loop.execute { [link] in link.send() } }
        }
        switch result {
        case .success(let reply):
            metrics.finished(after: start, failure: nil)
            return reply
        case .failure(let error):
            metrics.finished(after: start, failure: error)
            throw error
        }
    }
}
