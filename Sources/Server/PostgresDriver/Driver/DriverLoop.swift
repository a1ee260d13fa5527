import Foundation
import Logging
import Timekeeping

/// The loop that the driver's thread runs. Only this thread uses the state of the loop.
///
/// Each iteration waits for a message, a ready socket or a deadline. It then handles messages, sockets, expired deadlines and the pool's
/// timers, in this order. The pool (``ConnectionPool``) decides which connections to open, close and lease, and the loop executes these
/// actions. When a job gets a connection, the loop removes the job from `waiting`. The loop resumes the continuation of each job exactly
/// once: after a response, a lost connection, a deadline, a cancellation, or a refusal by the pool.
final class DriverLoop {
    /// The text of the error with which the loop refuses jobs after the client was closed.
    static let closed = "the client is closed"
    /// The longest time for the rollback of an abandoned transaction. After this time, the loop closes the connection.
    private static let rollbackTimeout = Duration.seconds(2)
    /// The time within which a host must respond if it did not respond to the last attempt. This limit applies only if there are other
    /// hosts.
    private static let silentHostTimeout = Duration.seconds(1)

    private let settings: PostgresSettings
    private let mailbox: Mailbox<Driver.Message>
    private let clock: MonotonicClock
    private let shared: DriverStatus
    private let logger: Logger
    private let metrics: PostgresMetrics
    /// The threads that resolve names, one for each host, because a lookup that hangs must not delay the other hosts. Cancellations have
    /// another thread, because a cancellation can hang as long as its server hangs.
    private let resolvers: [BlockingWork]
    /// Returns the addresses of a name. Blocks the thread.
    private let resolve: @Sendable (String) -> [String]
    /// The thread that sends cancellations.
    private let canceler = BlockingWork("holdfast.postgres.cancel", limit: 64)

    private var pool: ConnectionPool
    /// The connections that exist in the pool, including connections that are being opened.
    private var connections: [ConnectionPool.ConnectionID: DriverConnection] = [:]
    /// The jobs that wait for a connection, by their ids. In the pool, the same number is the id of the waiter.
    private var waiting: [UInt64: DriverJob] = [:]
    /// The events that the pool has not handled yet. Actions can cause further events. The loop handles them after the current events.
    private var events: [ConnectionPool.Event] = []
    /// Whether ``notify(_:)`` is running. If it is, a nested call only appends its event.
    private var isHandling = false
    /// The version of the prepared plans. It increases when prepared plans have become invalid.
    private var plans = 0
    /// The hosts that did not respond within the deadline. New connections try them last. Otherwise, each new connection would first wait
    /// for an unreachable machine.
    private var silentHosts: Set<Int> = []
    /// The reason why the last attempt to connect failed; `nil` after a success. The loop logs the first failure and the next success, so
    /// an outage causes two log entries.
    private var failure: String?
    /// The tasks that wait until the client is closed.
    private var closings: [CheckedContinuation<Void, Never>] = []
    /// The time at which the loop also closes connections in use; `nil` if the client has not been closed.
    private var end: Duration?

    init(
        settings: PostgresSettings,
        mailbox: Mailbox<Driver.Message>,
        clock: MonotonicClock,
        shared: DriverStatus,
        logger: Logger,
        metrics: PostgresMetrics,
        resolve: @escaping @Sendable (String) -> [String] = { HostAddresses.resolve($0) }
    ) {
        (self.settings, self.mailbox, self.clock, self.shared) = (settings, mailbox, clock, shared)
        (self.logger, self.metrics) = (logger, metrics)
        resolvers = settings.hosts.map { _ in BlockingWork("holdfast.postgres.names", limit: 64) }
        self.resolve = resolve
        let limits = ConnectionPool.Limits(
            minimum: settings.minimum,
            maximum: settings.maximum,
            idle: settings.idleLimit,
            lifetime: settings.lifetime
        )
        pool = ConnectionPool(limits: limits, generator: SystemRandomNumberGenerator())
    }

    /// Runs until the client is closed.
    func run() {
        notify(.tick)
        while end == nil || !connections.isEmpty {
            let ready = waitForSockets()
            for message in mailbox.takeAll() { handle(message) }
            for id in ready { connections[id].map(advance) }
            let now = clock.now
            for connection in connections.values where connection.deadline.map({ $0 <= now }) ?? false { expire(connection) }
            if pool.nextTick.map({ $0 <= now }) ?? false { notify(.tick) }
            if let end, end <= now { closeAll() }
            publish()
        }
        for message in mailbox.end() { refuse(message) }
        for closing in closings { closing.resume() }
    }
}

// MARK: - Waiting

extension DriverLoop {
    /// Waits for a message, for a socket, or for the next deadline.
    /// - Returns: The connections whose sockets are ready.
    private func waitForSockets() -> [ConnectionPool.ConnectionID] {
        var descriptors = [pollfd(fd: mailbox.readEnd, events: Int16(POLLIN), revents: 0)]
        var owners: [ConnectionPool.ConnectionID] = []
        // While libpq connects, it can replace a socket by another socket with the same number. So the loop reads the sockets again in each
        // iteration.
        for (id, connection) in connections {
            guard let pg = connection.pg, pg.socket >= 0 else { continue }
            descriptors.append(pollfd(fd: pg.socket, events: Int16(connection.events), revents: 0))
            owners.append(id)
        }
        let deadlines = connections.values.map(\.deadline) + [pool.nextTick, end]
        guard poll(&descriptors, nfds_t(descriptors.count), milliseconds(until: deadlines.compactMap(\.self).min())) > 0 else {
            return []
        }
        return zip(owners, descriptors.dropFirst()).filter { $1.revents != 0 }.map(\.0)
    }

    /// Returns the timeout for `poll`; -1 without a deadline. The timeout is rounded up, so that the deadline has passed when `poll`
    /// returns.
    private func milliseconds(until deadline: Duration?) -> Int32 {
        guard let deadline else { return -1 }
        return Int32(clamping: max(0, (deadline - clock.now).wholeMilliseconds + 1))
    }

    /// Publishes the state of the pool for metrics and status, if it has changed.
    private func publish() {
        let status = PostgresStatus(
            open: pool.count,
            idle: pool.idleCount,
            opening: pool.opening,
            waiting: pool.waiting,
            maximum: settings.maximum,
            failure: failure
        )
        guard status != shared.current else { return }
        shared.current = status
        metrics.record(status)
    }
}

extension DriverConnection {
    /// The events that `poll` waits for.
    fileprivate var events: Int32 {
        switch stage {
        case .resolving: 0
        case .opening(_, let waitsForReading): Int32(waitsForReading ? POLLIN : POLLOUT)
        case .open(let pg): Int32(pg.wantsToWrite ? POLLIN | POLLOUT : POLLIN)
        }
    }
}

// MARK: - Messages and the pool

extension DriverLoop {
    /// Handles a message.
    private func handle(_ message: Driver.Message) {
        switch message {
        case .run(let job): accept(job)
        case .cancel(let id): cancel(id)
        case .rollBack(let id):
            if let connection = connections[id], connection.job == nil { rollBack(connection) }
        case .resolved(let id, let host, let addresses):
            // If the deadline of a host has passed, its addresses arrive while the connection resolves the name of the next host.
            guard let connection = connections[id], connection.host == host, case .resolving = connection.stage else { return }
            connection.addresses = addresses
            tryNextAddress(connection, after: "name not resolved")
        case .close(let continuation):
            if let continuation { closings.append(continuation) }
            guard end == nil else { return }
            end = clock.now + settings.queryTimeout
            notify(.shutDown)
            for connection in connections.values where !connection.isOpen { fail(connection, Self.closed) }
        }
    }

    /// Refuses a message that arrived after the client was closed.
    private func refuse(_ message: Driver.Message) {
        switch message {
        case .run(let job): job.continuation.resume(returning: .failed(.noConnection(Self.closed)))
        case .close(let continuation): continuation?.resume()
        case .cancel, .rollBack, .resolved: break
        }
    }

    private func accept(_ job: DriverJob) {
        guard !job.cancellation.isCancelled else {
            if let id = job.connection, let connection = connections[id] { rollBack(connection) }
            job.continuation.resume(returning: .failed(.cancelled(wasSent: false)))
            return
        }
        guard let id = job.connection else {
            waiting[job.id] = job
            return notify(.acquire(job.id, deadline: job.acquireDeadline))
        }
        guard let connection = connections[id] else {
            // The connection was lost between two statements.
            job.continuation.resume(returning: .failed(.lost(sqlState: nil)))
            return
        }
        start(job, on: connection)
    }

    private func cancel(_ id: UInt64) {
        if let job = waiting.removeValue(forKey: id) {
            notify(.cancel(id))
            job.continuation.resume(returning: .failed(.cancelled(wasSent: false)))
        } else if let connection = connections.values.first(where: { $0.job?.id == id }) {
            abandon(connection, .cancelled(wasSent: true))
        }
    }

    /// Passes an event to the pool and executes its actions.
    private func notify(_ event: ConnectionPool.Event) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while !events.isEmpty {
            for action in pool.handle(events.removeFirst(), at: clock.now) { perform(action) }
        }
    }

    /// Executes an action of the pool.
    private func perform(_ action: ConnectionPool.Action) {
        switch action {
        case .open(let id):
            let hosts = settings.hosts.indices
            let order = hosts.filter { !silentHosts.contains($0) } + hosts.filter(silentHosts.contains)
            let connection = DriverConnection(id: id, hosts: order, plans: plans)
            connections[id] = connection
            tryNextHost(connection, after: "")
        case .close(let id): connections[id] = nil
        case .lease(let id, let waiter):
            guard let connection = connections[id], let job = waiting.removeValue(forKey: waiter) else { return }
            metrics.waited(clock.now - job.start)
            start(job, on: connection)
        case .refuse(let waiter, let refusal):
            let reason = refusal == .shutDown ? Self.closed : failure ?? "all connections are in use"
            waiting.removeValue(forKey: waiter)?.continuation.resume(returning: .failed(.noConnection(reason)))
        }
    }

    /// Closes all connections, including connections in use, because the time for closing the client has passed.
    private func closeAll() {
        for connection in connections.values {
            if connection.job == nil { discard(connection) } else { abandon(connection, .deadline) }
        }
    }
}

// MARK: - Opening

extension DriverLoop {
    /// Begins to connect to the next host. If no host is left, the attempt to connect fails.
    /// - Parameter reason: The reason why the last host failed.
    private func tryNextHost(_ connection: DriverConnection, after reason: String) {
        guard !connection.hosts.isEmpty else { return fail(connection, reason) }
        connection.host = connection.hosts.removeFirst()
        let host = settings.hosts[connection.host]
        if host.isUnixSocket || HostAddresses.isAddress(host.name) {
            connection.addresses = [host.isUnixSocket ? nil : host.name]
            return tryNextAddress(connection, after: "")
        }
        connection.stage = .resolving
        connection.deadline = connectDeadline(connection)
        let (id, index, mailbox) = (connection.id, connection.host, mailbox)
        let isSubmitted = resolvers[index].submit { [resolve] in
            _ = mailbox.post(.resolved(id, host: index, addresses: resolve(host.name)))
        }
        if !isSubmitted { tryNextAddress(connection, after: "too many names to resolve") }
    }

    /// Returns the time by which an attempt with one address must succeed. A host that did not respond to the last attempt gets at most a
    /// second, if there are other hosts.
    private func connectDeadline(_ connection: DriverConnection) -> Duration {
        let isSilent = settings.hosts.count > 1 && silentHosts.contains(connection.host)
        return clock.now + (isSilent ? min(settings.connectTimeout, Self.silentHostTimeout) : settings.connectTimeout)
    }

    /// Begins to connect to the next address of the host. If no address is left, the connection tries the next host.
    /// - Parameter reason: The reason why the last address failed.
    private func tryNextAddress(_ connection: DriverConnection, after reason: String) {
        guard !connection.addresses.isEmpty else { return tryNextHost(connection, after: reason) }
        let address = connection.addresses.removeFirst()
        let parameters = settings.parameters(settings.hosts[connection.host], address: address)
        guard let pg = PGConnection(parameters, preparesStatements: settings.preparesStatements) else {
            return fail(connection, "out of memory")
        }
        connection.stage = .opening(pg, waitsForReading: false)
        connection.deadline = connectDeadline(connection)
        // An attempt that has failed already has no socket to wait for.
        if pg.socket < 0 { open(connection, pg) }
    }

    /// Continues to open a connection whose socket is ready.
    private func open(_ connection: DriverConnection, _ pg: PGConnection) {
        switch pg.open() {
        case .waitsForReading: connection.stage = .opening(pg, waitsForReading: true)
        case .waitsForWriting: connection.stage = .opening(pg, waitsForReading: false)
        case .failed(let reason):
            silentHosts.remove(connection.host)
            tryNextAddress(connection, after: reason)
        case .opened:
            silentHosts.remove(connection.host)
            connection.stage = .open(pg)
            connection.deadline = nil
            (connection.addresses, connection.hosts) = ([], [])
            if failure != nil { logger.info("PostgreSQL reachable again") }
            failure = nil
            logger.debug("PostgreSQL connection opened", metadata: ["postgres.connection": "\(connection.id)"])
            notify(.opened(connection.id))
        }
    }

    /// Ends an attempt to connect after all hosts have failed.
    private func fail(_ connection: DriverConnection, _ reason: String) {
        connections[connection.id] = nil
        if end == nil {
            if failure == nil { logger.warning("PostgreSQL unreachable", metadata: ["error.message": "\(reason)"]) }
            failure = reason
        }
        notify(.failed(connection.id))
    }
}

// MARK: - Executing

extension DriverLoop {
    /// Sends the segment of a job on the connection that the pool leased to it. If the connection was lost since the last segment of the
    /// transaction, the job fails.
    private func start(_ job: DriverJob, on connection: DriverConnection) {
        guard case .open(let pg) = connection.stage, connection.job == nil, !connection.isRollingBack else {
            job.continuation.resume(returning: .failed(.lost(sqlState: nil)))
            return
        }
        if connection.plans != plans {
            pg.removePrepared()
            connection.plans = plans
        }
        connection.job = job
        connection.deadline = clock.now + settings.queryTimeout
        if !pg.send(job.segment) { finish(connection, .lost(sqlState: nil)) }
    }

    /// Rolls back the open transaction of a connection, so that the connection can be reused. If the rollback takes more than two seconds,
    /// the loop closes the connection.
    private func rollBack(_ connection: DriverConnection) {
        guard case .open(let pg) = connection.stage else { return }
        connection.isRollingBack = true
        connection.deadline = clock.now + Self.rollbackTimeout
        if !pg.send(.rollback) { discard(connection) }
    }

    /// Reads and writes on an open connection whose socket is ready.
    private func advance(_ connection: DriverConnection) {
        switch connection.stage {
        case .resolving: break
        case .opening(let pg, _): open(connection, pg)
        case .open(let pg):
            // The loop reads before it writes, because a server that can't send its results accepts no more statements.
            if let outcome = pg.receive() { return finish(connection, outcome) }
            if pg.wantsToWrite, !pg.flush() { finish(connection, .lost(sqlState: nil)) }
        }
    }

    /// Handles the outcome of a connection's segment: returns the connection to the pool unless the job keeps it, and resumes the job.
    private func finish(_ connection: DriverConnection, _ outcome: PGConnection.Outcome) {
        let job = connection.job
        connection.job = nil
        connection.deadline = nil
        switch outcome {
        case .lost(let state):
            discard(connection)
            job?.continuation.resume(returning: .failed(.lost(sqlState: state)))
        case .finished(let results, let state, let isDoubtful):
            shared.responded = clock.now
            if let state { react(to: state, of: connection) }
            settle(connection, isKept: job?.keepsConnection == true && state == nil)
            if let state {
                job?.continuation.resume(returning: .failed(.refused(state)))
            } else {
                job?.continuation.resume(returning: .done(results: results, connection: connection.id, isDoubtful: isDoubtful))
            }
        }
    }

    /// Returns a connection to the pool, unless its job keeps it. If a transaction is open, the method first rolls it back.
    private func settle(_ connection: DriverConnection, isKept: Bool) {
        guard !isKept, connections[connection.id] != nil else { return }
        if connection.pg?.isIdle == true {
            connection.isRollingBack = false
            notify(.returned(connection.id, isReusable: true))
        } else if connection.isRollingBack {
            discard(connection)
        } else {
            rollBack(connection)
        }
    }

    /// Reacts to errors that affect more than one segment. After 0A000 (prepared plans are invalid), all connections prepare their
    /// statements again. After 25006 (the server is read-only), the pool closes the connections to this server.
    private func react(to state: String, of connection: DriverConnection) {
        switch state {
        case "0A000": plans += 1
        case "25006":
            let others = connections.values.filter { $0.isOpen && $0.host == connection.host }
            logger.notice("PostgreSQL server is read-only", metadata: ["postgres.connections": "\(others.count)"])
            notify(.retire(others.map(\.id)))
        default: break
        }
    }

    /// Closes the connection of a job that exceeded its deadline or was canceled, and resumes the job with the failure. If the segment
    /// can't commit changes, the method also cancels it on the server.
    private func abandon(_ connection: DriverConnection, _ failure: DriverFailure) {
        guard let job = connection.job else { return }
        // The driver never cancels a commit, because PostgreSQL would then report the commit as successful although the standby does not
        // have it.
        if !job.segment.commits, let cancellation = connection.pg?.cancellation() {
            _ = canceler.submit { cancellation.send() }
        }
        connection.job = nil
        // A late response or cancellation must not affect the next job.
        discard(connection)
        job.continuation.resume(returning: .failed(failure))
    }

    /// Ends the current step of a connection because its deadline has passed. An attempt to connect continues with the next address. A job
    /// fails.
    private func expire(_ connection: DriverConnection) {
        connection.deadline = nil
        if !connection.isOpen {
            silentHosts.insert(connection.host)
            tryNextAddress(connection, after: "no response within the deadline")
        } else if connection.job != nil {
            abandon(connection, .deadline)
        } else {
            discard(connection)
        }
    }

    /// Closes a connection that is no longer usable.
    private func discard(_ connection: DriverConnection) {
        connections[connection.id] = nil
        notify(.lost(connection.id))
    }
}
