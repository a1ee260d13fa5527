import Logging
import NIOCore
import NIOPosix
import Synchronization

/// The commands that wait for the event loop. Callers append commands under a lock, and the event loop takes commands up to the limit of
/// the pipeline.
struct ReplyQueue: Sendable {
    /// Whether a connection is ready. While this is `false`, the client refuses commands.
    var isReady = false
    /// Whether the event loop is scheduled to send the commands.
    var isScheduled = false
    /// The commands that have not been sent yet, oldest first.
    var commands = CircularBuffer<PendingCommand>()
    /// The reason why the last connection ended.
    var lastFailure = ValkeyError.unavailable

    /// Removes and returns the commands to send, oldest first, and the commands before them whose deadlines have passed.
    ///
    /// The client must not send an expired command. Its caller can't use the reply, but the server would execute the command.
    /// - Parameters:
    ///   - room: The largest number of commands to send.
    ///   - now: The present time.
    mutating func take(_ room: Int, at now: NIODeadline) -> (commands: [PendingCommand], expired: [PendingCommand]) {
        var taken: [PendingCommand] = []
        var expired: [PendingCommand] = []
        while taken.count < room, let command = commands.popFirst() {
            if command.deadline <= now { expired.append(command) } else { taken.append(command) }
        }
        return (taken, expired)
    }
}

/// Maintains one connection: connects, signs in, sends the commands of a ``ReplyQueue``, and reconnects when a connection ends.
///
/// A connection is ready when the server has replied to `PING`. An open TCP connection is not enough, because the operating system accepts
/// connections even if the server process hangs. The link sends the commands of the sign-in (password, database, name, scripts, `INFO`,
/// `PING`) in one pipeline.
///
/// The reply to `INFO` contains the run id, a random text that each process of the server creates at its start. With the run id, the link
/// counts in ``InboxBox/restarts`` how often it reached another process.
///
/// During an outage, the link logs only the first failure and the next success. It counts all failures as metrics. The class is `@unchecked
/// Sendable` because it is only used on its event loop.
final class ValkeyLink: @unchecked Sendable {
    private let address: ValkeyAddress
    private let name: String
    private let scripts: [ValkeyScript]
    private let loop: any EventLoop
    private let inbox: InboxBox
    private let metrics: ValkeyMetrics
    private let logger: Logger
    /// Resolves the name of the server; `nil` for the system's resolver.
    private let resolver: (any Resolver & Sendable)?
    /// The current connection; `nil` between attempts.
    private var connection: ValkeyConnection?
    /// Whether the server has replied to `PING` on the current connection.
    private var isReady = false
    /// Whether the client was closed. The link then doesn't connect again.
    private var isClosed = false
    /// Whether the current outage was logged.
    private var hasReported = false
    /// The run id of the server process of the current connection; `nil` if it is unknown.
    private var runID: String?
    /// The last known run id of a connection that was ready; `nil` before the first one.
    private var lastRunID: String?

    /// The maximum time for connecting. If an address doesn't respond within 250 ms, NIO also tries the next address. So each of two
    /// addresses gets 250 ms.
    static let connectTimeout = TimeAmount.milliseconds(500)
    /// The maximum time for the sign-in.
    static let signInTimeout = TimeAmount.milliseconds(250)
    /// The pause between attempts in milliseconds. The pause is random, so that the clients of a restarted server don't all connect at the
    /// same time.
    static let pauses = Int64(100)...250
    /// The pause in milliseconds if the settings are wrong. No attempt can succeed before an operator changes the settings.
    static let longPauses = Int64(2_000)...5_000

    /// Creates a link without a connection.
    /// - Parameter resolver: Resolves the name of the server in tests; `nil` for the system's resolver.
    init(
        address: ValkeyAddress,
        name: String,
        scripts: [ValkeyScript],
        loop: any EventLoop,
        inbox: InboxBox,
        metrics: ValkeyMetrics,
        logger: Logger,
        resolver: (any Resolver & Sendable)? = nil
    ) {
        (self.address, self.name, self.scripts, self.loop) = (address, name, scripts, loop)
        (self.inbox, self.metrics, self.logger, self.resolver) = (inbox, metrics, logger, resolver)
    }

    /// Makes an attempt to connect.
    func connect() {
        guard !isClosed, connection == nil else { return }
        let connection = ValkeyConnection(
            hasRoom: { [weak self] in self?.send(on: $0) },
            hasEnded: { [weak self] in self?.ended($0, $1) }
        )
        self.connection = connection
        ClientBootstrap(group: loop)
            .connectTimeout(Self.connectTimeout)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .resolver(resolver)
            .connect(host: address.host, port: address.port)
            .hop(to: loop)
            .whenComplete { [self] result in
                do {
                    // NIO creates a channel for each address that it tries. Only the channel that has connected gets the handler.
                    try result.get().pipeline.syncOperations.addHandler(connection)
                    signIn(on: connection)
                } catch {
                    connection.end(.unavailable)
                }
            }
    }

    /// Sends the waiting commands, up to the limit of the pipeline.
    func send() {
        guard let connection, isReady else { return inbox.value.withLock { $0.isScheduled = false } }
        send(on: connection)
    }

    /// Closes the connection permanently.
    func close() {
        isClosed = true
        connection?.end(.closed)
    }

    /// Sends the waiting commands on a connection, up to the limit of the pipeline. Expired commands fail instead.
    private func send(on connection: ValkeyConnection) {
        guard isReady else { return }
        let (commands, expired) = inbox.value.withLock { inbox in
            inbox.isScheduled = false
            return inbox.take(connection.room, at: .now())
        }
        connection.send(commands)
        for command in expired { command.finish(.failure(.unavailable)) }
    }

    /// Sends the commands that prepare a connection. If a command fails, the connection ends.
    private func signIn(on connection: ValkeyConnection) {
        // If the link was closed while it was connecting, end the connection.
        guard !isClosed else { return connection.end(.closed) }
        let deadline = NIODeadline.now() + Self.signInTimeout
        func step(_ command: ValkeyCommand, _ done: @escaping @Sendable (ValkeyReply) -> Void = { _ in }) -> PendingCommand {
            PendingCommand(bytes: command.encoded(), deadline: deadline) { result in
                switch result {
                case .success(let reply): done(reply)
                case .failure(let error): connection.end(error)
                }
            }
        }
        var steps: [PendingCommand] = []
        if let password = address.password {
            var command = ValkeyCommand("AUTH")
            if let user = address.user { command.append(user) }
            command.append(password)
            steps.append(step(command))
        }
        if address.database != 0 { steps.append(step(ValkeyCommand("SELECT", "\(address.database)"))) }
        steps.append(step(ValkeyCommand("CLIENT", "SETNAME", name)))
        for script in scripts {
            steps.append(
                step(ValkeyCommand("SCRIPT", "LOAD", script.text)) { reply in
                    if case .text(let digest) = reply { script.digest = String(decoding: digest, as: UTF8.self) }
                }
            )
        }
        runID = nil
        steps.append(
            // A user who may not execute `INFO` can use the connection, too.
            PendingCommand(bytes: ValkeyCommand("INFO", "server").encoded(), deadline: deadline) { [self] result in
                if case .success(.text(let info)) = result { runID = Self.runID(in: info) }
            }
        )
        steps.append(step(ValkeyCommand("PING")) { [self] _ in ready(connection) })
        connection.send(steps)
    }

    /// Marks a connection as ready, so that callers can enqueue commands.
    private func ready(_ connection: ValkeyConnection) {
        guard connection === self.connection, !isClosed else { return }
        if let lastRunID, let runID, runID != lastRunID { inbox.restarts.add(1, ordering: .releasing) }
        lastRunID = runID ?? lastRunID
        isReady = true
        inbox.value.withLock { $0.isReady = true }
        metrics.noteConnection(isReady: true)
        logger.info("Valkey connected")
        hasReported = false
    }

    /// Returns the run id in a reply to `INFO`; `nil` if there is none.
    private static func runID(in info: [UInt8]) -> String? {
        let lines = String(decoding: info, as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.first { $0.hasPrefix("run_id:") }.map { String($0.dropFirst("run_id:".count)) }
    }

    /// Fails the waiting commands, and schedules the next attempt.
    private func ended(_ connection: ValkeyConnection, _ error: ValkeyError) {
        guard connection === self.connection else { return }
        self.connection = nil
        isReady = false
        let waiting = inbox.value.withLock { inbox in
            defer { inbox.commands = [] }
            (inbox.isReady, inbox.lastFailure) = (false, error)
            return inbox.commands
        }
        for command in waiting { command.finish(.failure(error)) }
        guard !isClosed else { return metrics.noteConnection(isReady: false) }
        metrics.noteConnection(isReady: false)
        metrics.noteError(error)
        if !hasReported {
            logger.warning("Valkey unavailable", metadata: ["valkey.reason": "\(error.reason)"])
            hasReported = true
        }
        let isConfiguration = if case .configuration = error { true } else { false }
        let pause = Int64.random(in: isConfiguration ? Self.longPauses : Self.pauses)
        loop.scheduleTask(in: .milliseconds(pause)) { [self] in connect() }
    }
}

/// A queue of commands that a client and its link share. The link can live longer than the client, because the event loop uses the link.
final class InboxBox: Sendable {
    /// The waiting commands, guarded by a mutex.
    let value = Mutex(ReplyQueue())
    /// The number of connections that reached another process of the server than the connection before. The link increases the number
    /// before callers can enqueue commands for the connection.
    let restarts = Atomic<Int>(0)
}
