/// Decides which connections are opened, closed, and leased to which waiter. It has no sockets and no clock: events contain their time, and
/// the actions are returned.
///
/// - At most `maximum` connections exist. One is opened if a waiter finds none idle and none is opening for it.
/// - Waiters are served in the order of their arrival.
/// - After a failed connection attempt, there is one attempt at a time (a probe), each after a longer, jittered delay.
/// - A connection is reused if it was returned in a usable state, up to its lifetime, whose end is jittered.
struct ConnectionPool {
    /// The number of a connection. Numbers are not reused.
    typealias ConnectionID = Int
    typealias WaiterID = UInt64

    struct Limits {
        var minimum = 0
        var maximum = 16
        /// The time after which an idle connection is closed.
        var idle = Duration.seconds(300)
        /// The time after which a connection is replaced, minus up to a tenth.
        var lifetime = Duration.seconds(1_800)
        /// The delay after the first failure. It doubles with each failure; half of it is jittered.
        var firstDelay = Duration.milliseconds(50)
        var longestDelay = Duration.seconds(1)
    }

    enum Event {
        case acquire(WaiterID, deadline: Duration)
        case cancel(WaiterID)
        case opened(ConnectionID)
        case failed(ConnectionID)
        /// A user has returned a connection, which may be reusable or not.
        case returned(ConnectionID, isReusable: Bool)
        /// A connection has ended, in use or not.
        case lost(ConnectionID)
        /// Connections that must not be leased again.
        case retire([ConnectionID])
        case shutDown
        /// Time has passed.
        case tick
    }

    enum Action: Equatable {
        case open(ConnectionID)
        case close(ConnectionID)
        case lease(ConnectionID, WaiterID)
        case refuse(WaiterID, Refusal)
    }

    enum Refusal { case deadline, shutDown }

    private enum State: Equatable {
        case opening, leased
        case idle(since: Duration)
    }

    private struct Connection {
        var state: State
        var expires: Duration
        var isRetired = false
    }

    let limits: Limits
    private var generator: any RandomNumberGenerator
    private var connections: [ConnectionID: Connection] = [:]
    /// The idle connections; the most recently returned one is leased first.
    private var idle: [ConnectionID] = []
    private var lastID: ConnectionID = 0
    private var failures = 0
    /// The time at which the next attempt may begin after a failure.
    private var nextAttempt: Duration?
    private var isShutDown = false
    private var waiters = WaitQueue()
    private(set) var opening = 0

    init(limits: Limits, generator: any RandomNumberGenerator) {
        (self.limits, self.generator) = (limits, generator)
    }

    /// Whether the last attempt has failed, so that there is at most one at a time.
    var isProbing: Bool { failures > 0 }
    var count: Int { connections.count }
    var idleCount: Int { idle.count }
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
            // Concurrent attempts fail together and count once.
            guard nextAttempt.map({ $0 <= now }) ?? true else { break }
            failures += 1
            nextAttempt = now + delay()
        case .returned(let id, let isReusable):
            if isReusable { makeIdle(id, at: now, &actions) } else { close(id, &actions) }
        case .lost(let id):
            if connections[id]?.state == .opening { opening -= 1 }
            forget(id)
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

    private mutating func makeIdle(_ id: ConnectionID, at now: Duration, _ actions: inout [Action]) {
        guard let connection = connections[id] else { return }
        guard !isShutDown, !connection.isRetired, connection.expires > now else { return close(id, &actions) }
        connections[id]?.state = .idle(since: now)
        idle.append(id)
    }

    private mutating func closeOld(at now: Duration, _ actions: inout [Action]) {
        for id in idle {
            guard let connection = connections[id], case .idle(let since) = connection.state else { continue }
            let isLeftOver = since + limits.idle <= now && connections.count > limits.minimum
            if isLeftOver || connection.expires <= now { close(id, &actions) }
        }
    }

    private mutating func close(_ id: ConnectionID, _ actions: inout [Action]) {
        guard connections[id] != nil else { return }
        forget(id)
        actions.append(.close(id))
    }

    private mutating func forget(_ id: ConnectionID) {
        guard case .idle = connections.removeValue(forKey: id)?.state else { return }
        idle.removeAll { $0 == id }
    }

    private mutating func delay() -> Duration {
        let doubled = limits.firstDelay * (1 << min(failures - 1, 20))
        return min(doubled, limits.longestDelay) * Double.random(in: 0.5...1, using: &generator)
    }
}
