import Timekeeping

/// Callers that wait for something with a key, such as a gate: by priority, and first come, first served within one. A value under its
/// owner's lock.
struct WaiterLine<Key: Hashable & Sendable> {
    typealias Wake = CheckedContinuation<Void, Never>

    private struct Waiter {
        var id: UInt64
        var key: Key
        var priority: CallPriority
        var wake: Wake?
        /// Whether it was woken while it wasn't parked.
        var isWoken = false
    }

    private var waiters: [Waiter] = []
    private var lastID: UInt64 = 0

    var count: Int { waiters.count }

    /// How many callers wait for a key that go before a new one of a priority.
    func count(at key: Key, before priority: CallPriority) -> Int {
        waiters.count { $0.key == key && $0.priority >= priority }
    }

    /// Takes the last place among the waiters of a priority. O(waiters of lower priorities).
    mutating func enter(at key: Key, priority: CallPriority = .normal) -> UInt64 {
        lastID += 1
        let place = waiters.lastIndex { $0.priority >= priority }.map { $0 + 1 } ?? 0
        waiters.insert(Waiter(id: lastID, key: key, priority: priority), at: place)
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
    /// - Returns: The continuation to resume outside the lock.
    mutating func wake(_ id: UInt64) -> Wake? {
        waiters.firstIndex { $0.id == id }.flatMap { wake(at: $0) }
    }

    /// Wakes the first waiters of a key, so that they ask again.
    /// - Returns: The continuations to resume outside the lock.
    mutating func wakeFirst(_ count: Int, at key: Key) -> [Wake] {
        var wakes: [Wake] = []
        var left = count
        for place in waiters.indices where left > 0 && waiters[place].key == key && !waiters[place].isWoken {
            left -= 1
            if let wake = wake(at: place) { wakes.append(wake) }
        }
        return wakes
    }

    /// Gives a place up.
    mutating func leave(_ id: UInt64) { waiters.removeAll { $0.id == id } }

    private mutating func wake(at place: Int) -> Wake? {
        waiters[place].isWoken = true
        return waiters[place].wake.take()
    }
}

extension WaiterLine {
    /// Waits until woken, or until an instant, or until the task is canceled.
    /// - Parameters:
    ///   - instant: The instant.
    ///   - clock: The clock.
    ///   - park: Parks the continuation under the owner's lock; returns whether it is parked.
    ///   - wake: Wakes this waiter under the owner's lock.
    static func wait(
        until instant: Duration,
        on clock: MonotonicClock,
        park: @escaping @Sendable (Wake) -> Bool,
        wake: @escaping @Sendable () -> Wake?
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await clock.sleep(until: instant) }
            group.addTask {
                await withTaskCancellationHandler {
                    await withCheckedContinuation { continuation in
                        if !park(continuation) { continuation.resume() }
                    }
                } onCancel: {
                    wake()?.resume()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
