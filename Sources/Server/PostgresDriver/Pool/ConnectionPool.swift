/// Decides when connections are opened and closed, and which waiter gets a connection. A waiter is a job that waits for a connection. The
/// pool has no sockets and no clock. The driver passes events with their times, and the pool returns actions for the driver.
///
/// - At most `maximum` connections exist. The pool leases idle connections first. It opens one connection for each remaining waiter.
/// - Waiters are served in the order of their arrival.
/// - After a connection attempt has failed, there is only one attempt at a time (a probe). The delay between attempts doubles with each
///   failure, up to a maximum. Up to half of the delay is subtracted at random.
/// - A connection that is returned in a usable state is reused until its lifetime ends. Up to a tenth of the lifetime is subtracted at
///   random.
///
/// The pool leases the idle connection that was returned last. So the other idle connections reach their idle limit and are closed, and the
/// number of connections decreases when the load decreases. With n connections (at most 64) and w waiters, an event takes at most O(n² + w)
/// time.
struct ConnectionPool {
    /// The number of a connection. Numbers are not reused.
    typealias ConnectionID = Int
    typealias WaiterID = UInt64

    /// The limits of the pool.
    struct Limits {
        /// The number of connections that are opened and stay open without load. The default is 0: the first waiter opens the first
        /// connection.
        var minimum = 0
        /// The largest number of connections, including connections that are being opened.
        var maximum = 16
        /// The time after which an idle connection is closed.
        var idle = Duration.seconds(300)
        /// The time after which a connection is replaced. Up to a tenth of the time is subtracted at random.
        var lifetime = Duration.seconds(1_800)
        /// The delay after the first failure. The delay doubles with each failure. Up to half of it is subtracted at random.
        var firstDelay = Duration.milliseconds(50)
        /// The longest delay between attempts.
        var longestDelay = Duration.seconds(1)
    }

    /// An event that the driver reports.
    enum Event {
        /// A waiter needs a connection until a deadline.
        case acquire(WaiterID, deadline: Duration)
        /// A waiter no longer needs a connection.
        case cancel(WaiterID)
        /// A connection is open.
        case opened(ConnectionID)
        /// An attempt to open a connection has failed.
        case failed(ConnectionID)
        /// A waiter has returned its connection. The driver reports whether the connection can be reused.
        case returned(ConnectionID, isReusable: Bool)
        /// A connection has ended, in use or not.
        case lost(ConnectionID)
        /// The pool must not lease these connections again.
        case retire([ConnectionID])
        /// The pool accepts no more waiters. It closes idle connections immediately, and connections in use when they are returned.
        case shutDown
        /// Time has passed.
        case tick
    }

    /// An action that the driver executes.
    enum Action: Equatable {
        /// Opens a connection and reports `opened` or `failed`.
        case open(ConnectionID)
        /// Closes a connection.
        case close(ConnectionID)
        /// Gives a connection to a waiter. The driver reports `returned` or `lost` at the end.
        case lease(ConnectionID, WaiterID)
        /// Ends the wait of a waiter without a connection.
        case refuse(WaiterID, Refusal)
    }

    /// The reason of a refusal: there was no connection within the deadline, or the client was closed.
    enum Refusal { case deadline, shutDown }

    /// The state of a connection.
    private enum State: Equatable {
        case opening, leased
        case idle(since: Duration)
    }

    /// A connection, without its socket.
    private struct Connection {
        var state: State
        /// The time after which the connection is not leased again.
        var expires: Duration
        /// Whether the connection must be closed instead of being reused.
        var isRetired = false
    }

    let limits: Limits
    private var generator: any RandomNumberGenerator
    private var connections: [ConnectionID: Connection] = [:]
    /// The idle connections. The connection that was returned last is leased first.
    private var idle: [ConnectionID] = []
    private var lastID: ConnectionID = 0
    /// The number of failed attempts since the last success.
    private var failures = 0
    /// The time at which the next attempt may begin after a failure.
    private var nextAttempt: Duration?
    private var isShutDown = false
    private var waiters = WaitQueue()
    /// The number of connections that are being opened.
    private(set) var opening = 0

    /// Creates a pool without connections.
    /// - Parameters:
    ///   - limits: The limits.
    ///   - generator: The source of random numbers. It is a parameter, so that tests are deterministic.
    init(limits: Limits, generator: any RandomNumberGenerator) {
        (self.limits, self.generator) = (limits, generator)
    }

    /// Whether the last attempt has failed. If so, there is at most one attempt at a time.
    var isProbing: Bool { failures > 0 }
    /// The number of connections, including connections that are being opened.
    var count: Int { connections.count }
    /// The number of unused connections.
    var idleCount: Int { idle.count }
    /// The number of waiters.
    var waiting: Int { waiters.count }

    /// The time at which the next `tick` is due.
    var nextTick: Duration? {
        var ticks = [waiters.earliestDeadline]
        if needsConnection, opening == 0 { ticks.append(nextAttempt) }
        for id in idle {
            guard let connection = connections[id], case .idle(let since) = connection.state else { continue }
            ticks.append(connection.expires)
            if connections.count > limits.minimum { ticks.append(since + limits.idle) }
        }
        return ticks.compactMap(\.self).min()
    }

    /// Handles an event.
    /// - Returns: The actions that the driver takes, in this order.
    mutating func handle(_ event: Event, at now: Duration) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .acquire(let waiter, let deadline):
            guard !isShutDown else { return [.refuse(waiter, .shutDown)] }
            waiters.append(waiter, deadline: deadline)
        case .cancel(let waiter): waiters.remove(waiter)
        case .opened(let id):
            opening -= 1
            (failures, nextAttempt) = (0, nil)
            makeIdle(id, at: now, &actions)
        case .failed(let id):
            opening -= 1
            connections[id] = nil
            // Concurrent attempts fail together, so they count as one failure.
            guard nextAttempt.map({ $0 <= now }) ?? true else { break }
            failures += 1
            nextAttempt = now + delay()
        case .returned(let id, let isReusable):
            if isReusable { makeIdle(id, at: now, &actions) } else { close(id, &actions) }
        case .lost(let id):
            if connections[id]?.state == .opening { opening -= 1 }
            remove(id)
        case .retire(let ids):
            for id in ids {
                connections[id]?.isRetired = true
                if case .idle = connections[id]?.state { close(id, &actions) }
            }
        case .shutDown:
            isShutDown = true
            for waiter in waiters.removeAll() { actions.append(.refuse(waiter, .shutDown)) }
            for id in idle { close(id, &actions) }
        case .tick:
            for waiter in waiters.expire(at: now) { actions.append(.refuse(waiter, .deadline)) }
            closeOld(at: now, &actions)
        }
        serve(&actions)
        open(at: now, &actions)
        return actions
    }

    /// Leases idle connections to the first waiters.
    private mutating func serve(_ actions: inout [Action]) {
        while let id = idle.last, let waiter = waiters.popFirst() {
            idle.removeLast()
            connections[id]?.state = .leased
            actions.append(.lease(id, waiter))
        }
    }

    /// Whether the pool must open another connection. Below the maximum, this is the case if there are more waiters than connections that
    /// are being opened, or fewer connections than the minimum.
    private var needsConnection: Bool {
        !isShutDown && connections.count < limits.maximum
            && (waiters.count > opening || connections.count < limits.minimum)
    }

    /// Opens connections for waiters, and up to the minimum.
    private mutating func open(at now: Duration, _ actions: inout [Action]) {
        while needsConnection, failures == 0 || (opening == 0 && nextAttempt.map { $0 <= now } ?? true) {
            lastID += 1
            opening += 1
            let lifetime = limits.lifetime * Double.random(in: 0.9...1, using: &generator)
            connections[lastID] = Connection(state: .opening, expires: now + lifetime)
            actions.append(.open(lastID))
        }
    }

    /// Adds a connection to the idle connections, or closes it if it is retired or too old.
    private mutating func makeIdle(_ id: ConnectionID, at now: Duration, _ actions: inout [Action]) {
        guard let connection = connections[id] else { return }
        guard !isShutDown, !connection.isRetired, connection.expires > now else { return close(id, &actions) }
        connections[id]?.state = .idle(since: now)
        idle.append(id)
    }

    /// Closes idle connections that are too old or not needed.
    private mutating func closeOld(at now: Duration, _ actions: inout [Action]) {
        for id in idle {
            guard let connection = connections[id], case .idle(let since) = connection.state else { continue }
            let isLeftOver = since + limits.idle <= now && connections.count > limits.minimum
            if isLeftOver || connection.expires <= now { close(id, &actions) }
        }
    }

    /// Removes a connection and closes it.
    private mutating func close(_ id: ConnectionID, _ actions: inout [Action]) {
        guard connections[id] != nil else { return }
        remove(id)
        actions.append(.close(id))
    }

    /// Removes a connection.
    private mutating func remove(_ id: ConnectionID) {
        guard case .idle = connections.removeValue(forKey: id)?.state else { return }
        idle.removeAll { $0 == id }
    }

    /// Returns the delay before the next attempt. The delay doubles with each failure. Up to half of it is subtracted at random.
    private mutating func delay() -> Duration {
        let doubled = limits.firstDelay * (1 << min(failures - 1, 20))
        return min(doubled, limits.longestDelay) * Double.random(in: 0.5...1, using: &generator)
    }
}
