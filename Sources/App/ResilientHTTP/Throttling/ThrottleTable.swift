import HTTPTypes
import RateLimiting
import Timekeeping

/// A user and an endpoint. The throttler counts all calls of the user to the endpoint together.
struct ThrottleKey: Hashable, Sendable {
    var user: String?
    var endpoint: Endpoint
}

/// The limits of all users and endpoints. Each pair of user and endpoint has a slot. The number of slots is limited. Each insertion of a
/// slot also checks two other slots, and removes a checked slot if it has no calls left to count. Therefore, no operation scans the whole
/// table.
///
/// The table is a value, guarded by the mutex of the throttler. Invariants: `rotation` contains each key of `slots` once. The table never
/// removes a slot with waiting callers. If the table is full, all new keys share the slot ``overflow``, so the throttler counts their calls
/// together.
struct ThrottleTable: Sendable {
    /// The key that new keys share when the table is full. The throttler doesn't save the counts of this key.
    static let overflow = ThrottleKey(user: nil, endpoint: Endpoint(.init("ANY") ?? .get, "/{any}"))

    /// The quotas by endpoint.
    let policy: ThrottlePolicy
    /// The users whose saved counts could not be read, each with the time of the failed load. For each of their endpoints, the quota with
    /// the shortest window counts as used up at this time.
    var spent: [String?: Int64] = [:]
    /// The number of slots at which the table is full.
    private let capacity: Int
    private var slots: [ThrottleKey: Slot] = [:]
    /// The keys in the order in which the table checks whether it can remove their slots.
    private var rotation: [ThrottleKey] = []
    /// The index in `rotation` of the key that the table checks next.
    private var cursor = 0

    init(policy: ThrottlePolicy, capacity: Int) {
        (self.policy, self.capacity) = (policy, capacity)
    }

    /// The number of slots.
    var count: Int { slots.count }
    var keys: some Collection<ThrottleKey> { slots.keys }

    /// Returns the slot of a key. If the key has no slot, returns a new slot without storing it.
    func slot(of key: ThrottleKey) -> Slot { slots[key] ?? newcomer(key) }

    /// Returns the key of the slot that counts the calls of a given key, and creates this slot if it is missing. The result is usually the
    /// given key. If the table is full, the result for a new key is ``overflow``.
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

    /// Changes the slot of a key. Does nothing if the key has no slot.
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

    /// Checks the slots of the next two keys, and removes each slot that has no calls left to count and no waiting callers.
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
    /// The slot admits callers in the order of their arrival. Only the first waiter sleeps until an instant. The other waiters sleep until
    /// another call resumes them. Call ``wakeChanged(at:)`` after each change of the limit, because the change can admit waiters earlier or
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
            /// The caller sleeps until the instant, or until another call resumes it. Only the first waiter has an instant.
            case sleep(until: Int64?)
        }

        /// Admits or refuses a new call, or appends the call to the waiting calls.
        /// - Parameters:
        ///   - key: The key under which the throttler counts the call.
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

        /// Admits or refuses a waiting call, or lets it wait longer. If the call no longer waits, the second value of the result is the
        /// continuation of the next waiter. The caller must resume it outside the lock.
        /// - Parameters:
        ///   - key: The key under which the throttler counts the call.
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

        /// Resumes the waiters that must check their admission again. If the first waiter may proceed earlier, resumes only this waiter, in
        /// O(1). Otherwise, also resumes the waiters that would now be admitted too late, in O(waiters).
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

        /// Returns the delays of the next `count` callers, in their order. The forecast assumes that each caller sends its call as early as
        /// possible.
        private func turns(of count: Int, at now: Int64) -> [Hold] { limit.forecast(callers: count, at: now) }

        /// Counts a call.
        private mutating func begin(_ key: ThrottleKey, at now: Int64) -> Throttler.Call {
            Throttler.Call(key: key, admitted: limit.begin(at: now))
        }

        /// Counts a refusal. If the callers of an endpoint repeatedly ignore their delays, ``ThrottlePolicy/penalty`` can increase the
        /// delay.
        private mutating func refuse(_ key: ThrottleKey, _ hold: Hold, at now: Int64, policy: ThrottlePolicy) -> ThrottleRefusal {
            var hold = hold
            // The penalty can result in a longer delay than the quotas.
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
