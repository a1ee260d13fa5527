/// Calls that wait until the requests which an opening gate let out are answered. A value under its owner's lock.
struct GateLine<Key: Hashable> {
    typealias Wake = CheckedContinuation<Void, Never>

    /// How many may wait: no more than a gate lets out before it stands wide open.
    static var capacity: Int { GateState.wide }

    private struct Waiter {
        var id: UInt64
        var key: Key
        var wake: Wake?
        /// Whether it was woken while it wasn't parked.
        var isWoken = false
    }

    private var waiters: [Waiter] = []
    private var lastID: UInt64 = 0

    var count: Int { waiters.count }

    /// Takes a place in the line; `nil` if there is none.
    mutating func enter(at key: Key) -> UInt64? {
        guard waiters.count < Self.capacity else { return nil }
        lastID += 1
        waiters.append(Waiter(id: lastID, key: key))
        return lastID
    }

    /// Parks a waiter until it is woken.
    /// - Returns: Whether it is parked; if not, it was woken already or has left.
    mutating func park(_ id: UInt64, _ wake: Wake) -> Bool {
        guard let place = waiters.firstIndex(where: { $0.id == id }), !waiters[place].isWoken else { return false }
        waiters[place].wake = wake
        return true
    }

    /// Wakes one waiter.
    /// - Returns: What is to be resumed outside the lock.
    mutating func wake(_ id: UInt64) -> Wake? { wake { $0.id == id }.first }

    /// Wakes all who wait at a gate, so that they look at it again.
    /// - Returns: What is to be resumed outside the lock.
    mutating func wakeAll(at key: Key) -> [Wake] { wake { $0.key == key } }

    /// Gives a place up.
    mutating func leave(_ id: UInt64) { waiters.removeAll { $0.id == id } }

    private mutating func wake(where isMeant: (Waiter) -> Bool) -> [Wake] {
        waiters.indices.compactMap { place in
            guard isMeant(waiters[place]) else { return nil }
            waiters[place].isWoken = true
            return waiters[place].wake.take()
        }
    }
}
