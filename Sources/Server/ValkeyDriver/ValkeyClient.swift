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
/// Commands of concurrent callers share the connection as a pipeline. The client sends commands from the same iteration of the event loop
/// in one write.
///
/// A command without a reply fails at its deadline. If the reply is also missing 10 ms after the client sent the command, or if 256
/// commands are in flight at the deadline, the client closes the connection. All commands then fail immediately until another connection is
/// ready. After a failed attempt, the client waits 100 to 250 ms before the next attempt, or 2 to 5 s if the settings are wrong.
///
/// A busy process can delay a command until shortly before its deadline, so the reply of a healthy server can be too late. The client then
/// discards the reply, and the connection remains. If a deadline passes before the client has sent the command, the command fails with
/// ``ValkeyError/unavailable``, and the connection also remains.
///
/// So a slow or missing server delays a caller at most until its deadline, and usually not at all. The client doesn't repeat a command,
/// because the server may have executed it. If a task is canceled, the call still returns with the reply or at the deadline.
///
/// All methods can be called by several tasks at the same time. At most 256 commands are in flight, and at most 16,384 commands wait.
/// Further commands fail with ``ValkeyError/unavailable``.
public final class ValkeyClient: Sendable {
    private let loop: any EventLoop
    private let link: ValkeyLink
    private let inbox = InboxBox()
    private let metrics: ValkeyMetrics

    /// The largest number of commands that wait because the pipeline is full.
    private static let mostWaiting = 16_384

    /// Creates a client. The client immediately begins to connect.
    ///
    /// The initializer doesn't fail if the client can't connect. To detect wrong settings at the start, use ``waitUntilReady(within:)``.
    /// - Parameters:
    ///   - address: The address of the server.
    ///   - name: The name of the connection in `CLIENT LIST`.
    ///   - scripts: The scripts that the client loads with each connection.
    ///   - group: The event loops. The client uses one of them.
    ///   - metrics: The factory of the metrics.
    ///   - logger: The logger, to which the client reports when the connection becomes ready and when it is lost.
    public convenience init(
        address: ValkeyAddress,
        name: String = "holdfast",
        scripts: [ValkeyScript] = [],
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        metrics: any MetricsFactory = MetricsSystem.factory,
        logger: Logger
    ) {
        self.init(
            address: address,
            name: name,
            scripts: scripts,
            group: group,
            metrics: metrics,
            logger: logger,
            resolver: nil
        )
    }

    /// Creates a client with a resolver for tests. The other parameters are the parameters of the public initializer.
    /// - Parameter resolver: Resolves the name of the server; `nil` for the system's resolver.
    init(
        address: ValkeyAddress,
        name: String = "holdfast",
        scripts: [ValkeyScript] = [],
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        metrics: any MetricsFactory = MetricsSystem.factory,
        logger: Logger,
        resolver: (any Resolver & Sendable)?
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
            logger: logger,
            resolver: resolver
        )
        loop.execute { [link] in link.connect() }
    }

    deinit { loop.execute { [link] in link.close() } }

    /// Whether a connection is ready. If not, commands fail immediately. The value may change at any time.
    public var isReady: Bool { inbox.value.withLock { $0.isReady } }

    /// The number of times that the client reached another process of the server than with the connection before. This happens after a
    /// restart of the server, or after a failover to another server. The new process can have older data than the process before.
    ///
    /// After a command has returned with a reply, the number includes the connection of this command. If the server refuses `INFO`, for
    /// example because the user has no permission, the number doesn't change.
    package var restarts: Int { inbox.restarts.load(ordering: .acquiring) }

    /// Sends a command and returns its reply.
    /// - Parameters:
    ///   - command: The command. Other callers share the connection, so don't send commands that change its mode, such as `SUBSCRIBE` or
    ///     `MULTI`.
    ///   - time: The time after which the command fails. If the server has not replied then, the client can also close the connection.
    /// - Throws: ``ValkeyError``, also if the reply is an error.
    public func send(_ command: ValkeyCommand, within time: Duration) async throws(ValkeyError) -> ValkeyReply {
        try await send(command, by: .now() + TimeAmount(time))
    }

    /// Executes a script in one round trip. If the server no longer stores the script, two round trips are needed.
    /// - Parameters:
    ///   - script: The script.
    ///   - keys: All keys that the script uses.
    ///   - arguments: The arguments.
    ///   - time: The time after which the command fails. If the server has not replied then, the client can also close the connection.
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

    /// Waits until a connection is ready. The method checks this every 5 ms.
    /// - Parameter time: The longest time to wait.
    /// - Throws: ``ValkeyError``. If no connection is ready in time, the error is the reason why the last connection ended. If the task is
    ///   canceled, the error is ``ValkeyError/unavailable``.
    public func waitUntilReady(within time: Duration) async throws(ValkeyError) {
        let deadline = ContinuousClock.now + time
        while true {
            let (isReady, failure) = inbox.value.withLock { ($0.isReady, $0.lastFailure) }
            if isReady { return }
            guard failure != .closed, ContinuousClock.now < deadline else { throw failure }
            // The event loop connects in real time.
            do { try await Task.sleep(for: .milliseconds(5)) } catch { throw .unavailable }
        }
    }

    /// Closes the connection. Commands without a reply fail, and all later commands fail, too. If a program releases a client without this
    /// call, the client closes its connection in the background.
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
