import HTTPTypes
import RateLimiting
import Timekeeping

/// The user and the endpoint whose calls are counted together.
struct ThrottleKey: Hashable, Sendable {
    var user: String?
    var endpoint: Endpoint
}

/// The limits of all users and endpoints. Each pair of user and endpoint has a slot. The number of slots is limited. Each insertion checks
/// two other slots and removes expired ones, so no operation scans the whole table.
///
/// The table is a value, guarded by the mutex of the throttler. Invariants: `rotation` contains each key of `slots` once. A slot with
/// waiting callers is never removed. When the table is full, all new keys share the slot ``overflow``, so their calls are counted together.
struct ThrottleTable: Sendable {
    /// The key that new keys share when the table is full. The key is not saved.
    static let overflow = ThrottleKey(user: nil, endpoint: Endpoint(.init("ANY") ?? .get, "/{any}"))

    /// The quotas by endpoint.
    let policy: ThrottlePolicy
    /// The users whose saved counts could not be read, with the time at which their quotas count as used up.
    var spent: [String?: Int64] = [:]
    /// The number of slots at which the table is full.
    private let capacity: Int
    private var slots: [ThrottleKey: Slot] = [:]
    /// The keys in the order in which they are checked for expiry.
    private var rotation: [ThrottleKey] = []
    /// The index of the key in `rotation` that is checked next.
    private var cursor = 0

    init(policy: ThrottlePolicy, capacity: Int) {
        (self.policy, self.capacity) = (policy, capacity)
    }

    /// The number of slots.
    var count: Int { slots.count }
    var keys: some Collection<ThrottleKey> { slots.keys }

    /// Returns the slot of a key. If the key has no slot, a new slot is returned, but not stored.
    func slot(of key: ThrottleKey) -> Slot { slots[key] ?? newcomer(key) }

    /// Returns the key under which a key's calls are counted, and creates its slot. The result is the key itself. If the table is full, the
    /// result is the shared key.
    mutating func admitKey(_ key: ThrottleKey, at now: Int64) -> ThrottleKey {
        if slots[key] != nil { return key }
        dropFresh(at: now)
        let known = slots.count < capacity ? key : Self.overflow
        if slots[known] == nil {
            slots[known] = newcomer(known)
            rotation.append(known)
        }
        return known
    }

    /// Changes a slot. A key without a slot is ignored.
    mutating func update<Result>(_ key: ThrottleKey, _ body: (inout Slot) -> Result) -> Result? {
        guard let index = slots.index(forKey: key) else { return nil }
        return body(&slots.values[index])
    }

    /// Returns a new slot. If the saved counts of the user could not be read, the quota with the shortest window counts as used up.
    private func newcomer(_ key: ThrottleKey) -> Slot {
        var limit = AdaptiveLimit(policy.adaptive(for: key.endpoint))
        if let instant = spent[key.user] { limit.spendShortest(at: instant) }
        return Slot(limit: limit)
    }

    /// Checks two keys and removes those without usage.
    private mutating func dropFresh(at now: Int64) {
        for _ in 0..<min(2, rotation.count) {
            if cursor >= rotation.count { cursor = 0 }
            guard let slot = slots[rotation[cursor]], slot.line.isEmpty, slot.limit.isFresh(at: now) else {
                cursor += 1
                continue
            }
            slots[rotation[cursor]] = nil
            rotation.swapAt(cursor, rotation.count - 1)
            rotation.removeLast()
        }
    }
}

extension ThrottleTable {
    /// The state of one user and endpoint: the limit, and the callers that wait until they may send.
    ///
    /// Callers are admitted in the order of their arrival. Only the first waiter sleeps until an instant. The other waiters sleep until
    /// another call resumes them. Call ``wakeChanged(at:)`` after each change of the limit, because a change may admit waiters earlier or
    /// later.
    struct Slot: Sendable {
        var limit: AdaptiveLimit
        /// The waiting callers, each with the latest instant for its admission.
        var line = WaiterLine<Int64>()
        /// The instant until which the first waiter sleeps.
        private var firstTurn = Int64.max

        init(limit: AdaptiveLimit) { self.limit = limit }

        /// The next step of a waiting caller.
        enum Step: Sendable {
            /// The call may be sent.
            case admitted(Throttler.Call)
            /// The call would be admitted too late.
            case refused(ThrottleRefusal)
            /// The caller sleeps until an instant, or until it is woken. Only the first waiter has an instant.
            case sleep(until: Int64?)
        }

        /// Admits or refuses a new call, or adds it to the line after the other callers.
        /// - Parameters:
        ///   - key: The key under which the call is counted.
        ///   - latest: The latest instant for the admission of the call, in nanoseconds since the start of the throttler.
        ///   - now: The current instant, in nanoseconds since the start of the throttler.
        ///   - policy: The policy, which contains the maximum number of waiting callers.
        mutating func enter(
            _ key: ThrottleKey,
            latest: Int64,
            at now: Int64,
            policy: ThrottlePolicy
        ) -> Throttler.Entrance {
            if line.isEmpty, limit.hold(at: now) == nil {
                return .admitted(begin(key, at: now))
            }
            let hold = turns(of: line.count + 1, at: now).last ?? Hold(.line, wait: .zero)
            guard line.count < policy.maximumWaiters, now + hold.wait.wholeNanoseconds <= latest else {
                return .refused(refuse(key, hold, at: now, policy: policy))
            }
            return .inLine(key, id: line.enter(latest), latest: latest)
        }

        /// Admits or refuses a waiting call, or lets it wait further. The caller must resume the second value outside the lock.
        /// - Parameters:
        ///   - key: The key under which the call is counted.
        ///   - id: The number of the waiting call.
        ///   - latest: The latest instant for the admission of the call, in nanoseconds since the start of the throttler.
        ///   - now: The current instant, in nanoseconds since the start of the throttler.
        ///   - policy: The policy of the throttler.
        mutating func step(
            _ key: ThrottleKey,
            id: UInt64,
            latest: Int64,
            at now: Int64,
            policy: ThrottlePolicy
        ) -> (Step?, WaiterLine<Int64>.Wake?) {
            line.noteAwake(id)
            guard let place = line.place(of: id) else { return (nil, nil) }
            if place == 0, limit.hold(at: now) == nil {
                return (.admitted(begin(key, at: now)), leave(id))
            }
            guard let hold = turns(of: place + 1, at: now).last else { return (nil, leave(id)) }
            let turn = now + hold.wait.wholeNanoseconds
            guard turn <= latest else {
                let next = leave(id)
                return (.refused(refuse(key, hold, at: now, policy: policy)), next)
            }
            if place == 0 { firstTurn = turn }
            return (.sleep(until: place == 0 ? turn : nil), nil)
        }

        /// Resumes the waiters whose decision must be repeated. If the first waiter may proceed earlier, only this waiter is resumed, in
        /// O(1). Otherwise, the waiters that would now be admitted too late are also resumed, in O(waiters).
        mutating func wakeChanged(at now: Int64) -> [WaiterLine<Int64>.Wake] {
            guard !line.isEmpty else { return [] }
            let turn = now + (limit.hold(at: now)?.wait.wholeNanoseconds ?? 0)
            if turn == firstTurn { return [] }
            if turn < firstTurn { return line.wakeAll { place, _ in place == 0 } }
            let turns = turns(of: line.count, at: now).map { now + $0.wait.wholeNanoseconds }
            return line.wakeAll { place, latest in place == 0 || place < turns.count && turns[place] > latest }
        }

        /// Removes a waiter.
        ///
        /// - Returns: The continuation of the new first waiter, to be resumed outside the lock.
        mutating func leave(_ id: UInt64) -> WaiterLine<Int64>.Wake? {
            let isFirst = line.place(of: id) == 0
            line.leave(id)
            guard isFirst else { return nil }
            firstTurn = .max
            return line.wakeAll { place, _ in place == 0 }.first
        }

        /// Returns the delays of the next callers, if each caller is sent as early as possible.
        private func turns(of count: Int, at now: Int64) -> [Hold] { limit.forecast(callers: count, at: now) }

        /// Counts a call.
        private mutating func begin(_ key: ThrottleKey, at now: Int64) -> Throttler.Call {
            Throttler.Call(key: key, admitted: limit.begin(at: now))
        }

        /// Counts a refusal. The delay may increase for a caller that ignores its delays.
        private mutating func refuse(_ key: ThrottleKey, _ hold: Hold, at now: Int64, policy: ThrottlePolicy) -> ThrottleRefusal {
            var hold = hold
            // The penalty may increase the delay.
            if let penalized = limit.refuse(at: now), penalized.wait > hold.wait { hold = penalized }
            let status = ThrottleStatus(key.endpoint, limit.status(at: now), waiting: line.count)
            return ThrottleRefusal(
                endpoint: key.endpoint,
                hold: hold,
                count: status.count,
                limit: status.limit,
                inARow: limit.refusalsInARow,
                isWorthReporting: limit.refusalsInARow == policy.refusalsWorthReporting
            )
        }
    }
}
