import RateLimiting
import Synchronization
import Timekeeping

/// The key of a gate: the host or the endpoint to which the gate belongs. A host is an origin: scheme, host and port.
enum GateKey: Hashable {
    case host(String)
    case endpoint(String, Endpoint)

    /// Whether the gate belongs to the host or to the endpoint.
    var scope: GateTable.Scope {
        switch self {
        case .host: .host
        case .endpoint: .endpoint
        }
    }
}

/// A call that waits at a gate. Calls with a higher priority are further ahead in the line.
struct GateWaiter {
    var key: GateKey
    var priority: CallPriority

    /// Returns whether this waiter is at the given gate and comes before a new call with the given priority.
    func waits(before other: CallPriority, at gate: GateKey) -> Bool { key == gate && priority >= other }
}

extension WaiterLine<GateWaiter> {
    /// Adds a waiter after all waiters that have the same or a higher priority.
    mutating func enter(_ waiter: GateWaiter) -> UInt64 { enter(waiter) { $0.priority >= waiter.priority } }

    /// Resumes the first waiters at a gate. Each resumed waiter tries again to be admitted.
    mutating func wakeFirst(_ count: Int, at key: GateKey) -> [Wake] { wakeFirst(count) { $0.key == key } }
}

/// The gates of all hosts and endpoints of a client, and the calls that wait at them.
///
/// Two middlewares use this table. ``GateMiddleware`` closes gates when a server requests a delay. ``BreakerMiddleware`` closes gates after
/// failures.
///
/// Two gates must admit a call: the gate of its host and the gate of its endpoint. Each of them gives the call a pass (``GateState/Pass``).
/// The table asks both gates under one lock, and the call gets both passes or none. The table stores an endpoint's gate only while this
/// gate is not fully open. Usually no gate is closed, and two atomic reads replace the lock. If the table resumes a waiter but then doesn't
/// admit it, this waiter must resume the next waiter, because no other code does so. The table resumes continuations outside the lock.
final class GateTable: Sendable {
    /// The maximum number of stored endpoint gates. At the maximum, the table removes idle gates. If no gate is idle, new endpoints have no
    /// gate.
    static let capacity = 1_024
    /// The maximum number of stored host gates. Further hosts have no gate.
    static let hosts = 64

    /// One of the two gates of a call.
    enum Scope { case host, endpoint }

    /// The passes of one call: one from the gate of its host, and one from the gate of its endpoint.
    struct Passes: Sendable {
        var host = GateState.Pass.free
        var endpoint = GateState.Pass.free

        subscript(scope: Scope) -> GateState.Pass { scope == .host ? host : endpoint }
    }

    /// The error of a call that a gate refused.
    struct Refusal: Error {
        /// The time until a request may be sent.
        var wait: Duration
        /// The gate that refused the request.
        var scope: Scope
    }

    /// The maximum waiting time of a call.
    struct Patience: Sendable {
        /// The maximum time at a gate that is closed or half-open.
        var closed: Duration
        /// The maximum time at a gate that is paced.
        var paced: Duration

        /// Creates maximum waiting times. If `paced` is `nil`, the first time applies to all gates.
        init(_ closed: Duration, paced: Duration? = nil) {
            (self.closed, self.paced) = (closed, paced ?? closed)
        }
    }

    /// The gates and the line of waiters, guarded by the mutex.
    private struct State {
        /// A client usually has one host, so an array is faster than a dictionary.
        var hosts: [(origin: String, gate: GateState)] = []
        /// The gates of endpoints that are not fully open.
        var endpoints: [GateKey: GateState] = [:]
        var line = WaiterLine<GateWaiter>()
        /// The number of gates that were created.
        var gates: UInt64 = 0

        /// Returns a new gate with a unique number. Because of this number, the gate ignores the probes of a removed gate.
        mutating func makeGate() -> GateState {
            gates += 1
            return GateState(number: gates)
        }

        /// The number of host gates that are not fully open.
        var narrowHosts: Int { hosts.count { !$0.gate.isWideOpen } }

        /// Returns the index of a host's gate.
        func place(of origin: String) -> Int? { hosts.firstIndex { $0.origin == origin } }
    }

    /// The decision of the table about a call.
    private enum Step {
        case admitted(Passes)
        case refused(Duration, by: Scope)
        /// The call waits until another call resumes it, or until an instant.
        case waits(UInt64, at: GateKey, until: Duration)
    }

    private let state = Mutex(State())
    /// The number of stored gates. If it is zero, the end of a request has no gate to change, and the table needs no lock.
    private let stored = Atomic<Int>(0)
    /// The number of gates that are not fully open. If it is zero, the table admits all requests without a lock.
    private let narrow = Atomic<Int>(0)
    private let maximumWaiters: Int

    /// Creates an empty table.
    /// - Parameter maximumWaiters: The maximum number of calls that wait at all gates together. The table refuses further calls.
    init(maximumWaiters: Int) {
        self.maximumWaiters = maximumWaiters
    }

    /// Whether a gate is not fully open, so that ``admit(_:patience:)`` may delay or refuse a call.
    var isNarrow: Bool { narrow.load(ordering: .acquiring) > 0 }
    /// The number of gates that are not fully open.
    var count: Int { state.withLock { $0.endpoints.count + $0.narrowHosts } }
    /// The number of calls that wait at gates.
    var waiting: Int { state.withLock(\.line.count) }

    /// Admits a call, at once or after a wait.
    ///
    /// - Parameters:
    ///   - context: The call.
    ///   - patience: The maximum waiting time. It doesn't apply to calls with ``EndpointPolicy/isVital`` or ``EndpointPolicy/waitsInLine``.
    ///     These calls wait until their deadline.
    /// - Throws: ``Refusal``; `CancellationError` if the task is canceled while the call waits.
    func admit(_ context: CallContext, patience: Patience) async throws -> Passes {
        guard isNarrow else { return Passes() }
        let now = context.now
        let mayWaitLong = context.policy.waitsInLine || context.policy.isVital
        let latest = Patience(
            mayWaitLong ? context.deadline : min(context.deadline, now + patience.closed),
            paced: mayWaitLong ? context.deadline : min(context.deadline, now + patience.paced)
        )
        let first = step(context, at: now, latest: latest)
        if case .admitted(let passes) = first { return passes }
        return try await admit(context, after: first, latest: latest)
    }

    /// Lets a call wait until the table admits or refuses it. Each time the wait ends, the table decides again.
    private func admit(_ context: CallContext, after first: Step, latest: Patience) async throws -> Passes {
        var step = first
        var isNoted = false
        while true {
            switch step {
            case .admitted(let passes): return passes
            case .refused(let wait, by: let scope): throw Refusal(wait: wait, scope: scope)
            case .waits(let id, let key, let instant):
                if !isNoted { context.record.note(.waiting(instant - context.now, .gate)) }
                isNoted = true
                do {
                    try await WaiterLine<GateWaiter>.wait {
                        try await context.environment.clock.sleep(until: instant)
                    } park: { [self] wake in
                        state.withLock { $0.line.park(id, wake) }
                    } wake: { [self] in
                        state.withLock { $0.line.wake(id) }
                    }
                    try Task.checkCancellation()
                } catch {
                    state.withLock { _ = $0.line.leave(id) }
                    wakeNext(context)
                    throw error
                }
                state.withLock { _ = $0.line.leave(id) }
                step = self.step(context, at: context.now, latest: latest)
                // This call was resumed, but the table didn't admit it. Therefore, this call resumes the next waiter.
                switch step {
                case .refused: wakeNext(context)
                case .waits(_, at: let next, until: _) where next != key: wakeNext(at: key)
                case .waits, .admitted: break
                }
            }
        }
    }

    /// Admits, delays or refuses a call under the lock. The call takes its passes only if both gates admit it.
    private func step(_ context: CallContext, at now: Duration, latest: Patience) -> Step {
        state.withLock { state in
            let isVital = context.policy.isVital
            var passes = Passes()
            let place = state.place(of: context.origin)
            var host = place.map { state.hosts[$0].gate }
            if host != nil {
                let waiters =
                    state.line.count == 0
                    ? 0 : state.line.count { $0.waits(before: context.policy.priority, at: .host(context.origin)) }
                switch host?.admit(at: now, isVital: isVital, waiters: waiters) {
                case .admitted(let pass)?: passes.host = pass
                case let decision?:
                    return blocked(context, by: decision, at: .host(context.origin), &state, now: now, latest: latest)
                case nil: break
                }
            }
            if !state.endpoints.isEmpty {
                let key = GateKey.endpoint(context.origin, context.endpoint)
                if var endpoint = state.endpoints[key] {
                    let decision = endpoint.admit(at: now, isVital: isVital)
                    guard case .admitted(let pass) = decision else {
                        return blocked(context, by: decision, at: key, &state, now: now, latest: latest)
                    }
                    passes.endpoint = pass
                    state.endpoints[key] = endpoint
                }
            }
            if let place, let host { state.hosts[place].gate = host }
            return .admitted(passes)
        }
    }

    /// Adds a call to the waiting calls. Refuses the call if it would be admitted too late, or if too many calls wait.
    /// - Parameters:
    ///   - context: The call.
    ///   - decision: The decision of the gate, which didn't admit the call.
    ///   - key: The gate.
    ///   - state: The state of the table, whose lock the caller holds.
    ///   - now: The current instant.
    ///   - latest: The latest instants until which the call waits: one for a closed gate, and one for a paced gate.
    private func blocked(
        _ context: CallContext,
        by decision: GateState.Decision,
        at key: GateKey,
        _ state: inout State,
        now: Duration,
        latest: Patience
    ) -> Step {
        let (wait, latest): (Duration, Duration) =
            switch decision {
            case .closed(let left): (left, latest.closed)
            case .paced(let left): (left, latest.paced)
            // When a probe in flight ends, the table resumes the waiters.
            case .opening: (latest.closed - now, latest.closed)
            case .admitted: (.zero, latest.closed)
            }
        guard now < latest, wait <= latest - now, state.line.count < maximumWaiters else {
            return .refused(decision == .opening ? .seconds(1) : wait, by: key.scope)
        }
        return .waits(state.line.enter(GateWaiter(key: key, priority: context.policy.priority)), at: key, until: now + wait)
    }

    /// Changes the gates of a call, and resumes the calls that can then proceed.
    ///
    /// - Parameters:
    ///   - context: The call.
    ///   - instant: The time of the change; by default, the current time.
    ///   - creating: Determines which gate the method creates if the table doesn't store it yet; `nil` to create none.
    ///   - change: Changes one gate. The method calls this closure for each of the two gates that the table stores. The second argument is
    ///     the scope of the gate.
    func update(
        _ context: CallContext,
        at instant: Duration? = nil,
        creating: Scope? = nil,
        _ change: (inout GateState, Scope) -> Void
    ) {
        guard creating != nil || stored.load(ordering: .acquiring) > 0 else { return }
        let now = instant ?? context.now
        let wakes = state.withLock { state -> [WaiterLine<GateWaiter>.Wake] in
            defer {
                stored.store(state.hosts.count + state.endpoints.count, ordering: .releasing)
                narrow.store(state.narrowHosts + state.endpoints.count, ordering: .releasing)
            }
            var wakes: [WaiterLine<GateWaiter>.Wake] = []
            if creating == .host, state.hosts.count < Self.hosts, state.place(of: context.origin) == nil {
                state.hosts.append((context.origin, state.makeGate()))
            }
            if let place = state.place(of: context.origin) {
                let opening = state.hosts[place].gate.opening
                change(&state.hosts[place].gate, .host)
                if state.line.count > 0 {
                    let count = state.hosts[place].gate.wakes(since: opening, at: now)
                    wakes += state.line.wakeFirst(count, at: .host(context.origin))
                }
            }
            guard creating == .endpoint || !state.endpoints.isEmpty else { return wakes }
            let key = GateKey.endpoint(context.origin, context.endpoint)
            if creating == .endpoint, state.endpoints[key] == nil, state.endpoints.count >= Self.capacity {
                state.endpoints = state.endpoints.filter { !$0.value.isIdle(at: now) }
            }
            let isNew = creating == .endpoint && state.endpoints.count < Self.capacity
            guard var gate = state.endpoints[key] ?? (isNew ? state.makeGate() : nil) else { return wakes }
            let opening = gate.opening
            change(&gate, .endpoint)
            state.endpoints[key] = gate.isWideOpen ? nil : gate
            return state.line.count > 0 ? wakes + state.line.wakeFirst(gate.wakes(since: opening, at: now), at: key) : wakes
        }
        for wake in wakes { wake.resume() }
    }

    /// Ends the closure of the gates of each matching host and of its endpoints early, such as after a change of the network. Each of these
    /// gates then admits one probe at once.
    /// - Parameter isMeant: Returns whether an origin (scheme, host and port) matches.
    func reopen(where isMeant: (_ origin: String) -> Bool) {
        let wakes = state.withLock { state -> [WaiterLine<GateWaiter>.Wake] in
            var wakes: [WaiterLine<GateWaiter>.Wake] = []
            for place in state.hosts.indices where isMeant(state.hosts[place].origin) {
                state.hosts[place].gate.reopen()
                wakes += state.line.wakeFirst(1, at: .host(state.hosts[place].origin))
            }
            for key in state.endpoints.keys {
                guard case .endpoint(let origin, _) = key, isMeant(origin) else { continue }
                state.endpoints[key]?.reopen()
                wakes += state.line.wakeFirst(1, at: key)
            }
            return wakes
        }
        for wake in wakes { wake.resume() }
    }

    /// Resumes the first waiter at a gate.
    private func wakeNext(at key: GateKey) {
        for wake in state.withLock({ $0.line.wakeFirst(1, at: key) }) { wake.resume() }
    }

    /// Resumes the first waiter at each of the two gates of a call.
    private func wakeNext(_ context: CallContext) {
        let wakes = state.withLock { state in
            guard state.line.count > 0 else { return [WaiterLine<GateWaiter>.Wake]() }
            return state.line.wakeFirst(1, at: .host(context.origin))
                + state.line.wakeFirst(1, at: .endpoint(context.origin, context.endpoint))
        }
        for wake in wakes { wake.resume() }
    }
}
