/// A queue of tasks. Each task waits until it is woken. The queue is a value, and its owner protects it with a lock.
///
/// A task enters the queue and parks (suspends) with ``wait(park:wake:)``. A woken task stays in the queue until it has checked the owner's
/// state. The task then leaves the queue or parks again. The owner can also remove the first waiting task, which then continues.
package struct WaiterLine<Tag: Sendable>: Sendable {
    /// The continuation of a parked task. Resume it only after the lock is released.
    package typealias Wake = CheckedContinuation<Void, Never>

    /// A task in the queue, with its tag and its continuation.
    private struct Waiter {
        var id: UInt64
        var tag: Tag
        var wake: Wake?
        /// Whether the waiter was woken since it last parked.
        var isWoken = false
    }

    private var waiters: [Waiter] = [] {
        didSet { count = waiters.count }
    }
    private var lastID: UInt64 = 0
    /// The number of waiting tasks. It is stored, because other modules read a stored property of a generic type in less time.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// Whether no task waits.
    package var isEmpty: Bool { waiters.isEmpty }

    /// Returns the number of waiters whose tag matches.
    package func count(where isMeant: (Tag) -> Bool) -> Int { waiters.count { isMeant($0.tag) } }

    /// Adds a waiter directly behind the last waiter that has precedence over it. By default, all waiters have precedence, so the method
    /// adds the new waiter at the end. O(overtaken waiters).
    /// - Parameters:
    ///   - tag: The value by which the owner distinguishes waiters.
    ///   - goesBefore: A closure that returns whether the waiter with a given tag has precedence over the new waiter.
    /// - Returns: The identifier of the waiter.
    package mutating func enter(_ tag: Tag, behind goesBefore: (Tag) -> Bool = { _ in true }) -> UInt64 {
        lastID += 1
        let place = waiters.lastIndex { goesBefore($0.tag) }.map { $0 + 1 } ?? 0
        waiters.insert(Waiter(id: lastID, tag: tag), at: place)
        return lastID
    }

    /// The number of tasks that wait before a waiter; `nil` if the waiter is not in the queue. O(waiters).
    package func place(of id: UInt64) -> Int? { waiters.firstIndex { $0.id == id } }

    /// Parks a waiter until it is woken.
    ///
    /// - Returns: Whether the waiter is parked. `false` if the waiter was woken already or is not in the queue.
    package mutating func park(_ id: UInt64, _ wake: Wake) -> Bool {
        guard let place = place(of: id), !waiters[place].isWoken else { return false }
        waiters[place].wake = wake
        return true
    }

    /// Records that the task of a woken waiter runs again, so that the waiter can park again.
    package mutating func noteAwake(_ id: UInt64) {
        if let place = place(of: id) { waiters[place].isWoken = false }
    }

    /// Wakes one waiter. The caller must resume the returned continuation after it has released the lock.
    package mutating func wake(_ id: UInt64) -> Wake? { place(of: id).flatMap { wake(at: $0) } }

    /// Wakes the waiters whose places and tags match. O(waiters).
    package mutating func wakeAll(where isMeant: (_ place: Int, Tag) -> Bool) -> [Wake] {
        waiters.indices.compactMap { isMeant($0, waiters[$0].tag) ? wake(at: $0) : nil }
    }

    /// Wakes the first `count` matching waiters that are not woken yet. O(waiters).
    package mutating func wakeFirst(_ count: Int = 1, where isMeant: (Tag) -> Bool = { _ in true }) -> [Wake] {
        var left = count
        return waiters.indices.compactMap { place in
            guard left > 0, isMeant(waiters[place].tag), !waiters[place].isWoken else { return nil }
            left -= 1
            return wake(at: place)
        }
    }

    /// Removes a waiter. O(waiters).
    ///
    /// - Returns: Whether the waiter was in the queue.
    @discardableResult
    package mutating func leave(_ id: UInt64) -> Bool {
        guard let place = place(of: id) else { return false }
        waiters.remove(at: place)
        return true
    }

    /// Removes the first waiter that was not woken. O(waiters).
    /// - Returns: `nil` if there is no such waiter. Otherwise, the continuation of the waiter. The continuation is `nil` if the waiter has
    ///   not parked yet.
    package mutating func removeFirst() -> Wake?? {
        waiters.firstIndex { !$0.isWoken }.map { waiters.remove(at: $0).wake }
    }

    private mutating func wake(at place: Int) -> Wake? {
        waiters[place].isWoken = true
        return waiters[place].wake.take()
    }
}

extension WaiterLine {
    /// Waits until a waiter is woken or its task is canceled.
    /// - Parameters:
    ///   - park: A closure that parks the waiter under the owner's lock.
    ///   - wake: A closure that wakes the waiter under the owner's lock.
    package static func wait(park: (Wake) -> Bool, wake: @Sendable () -> Wake?) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if !park(continuation) { continuation.resume() }
            }
        } onCancel: {
            wake()?.resume()
        }
    }

    /// Waits until a waiter is woken, a sleep ends, or the task is canceled.
    /// - Throws: Errors of the sleep.
    package static func wait(
        sleeping sleep: @escaping @Sendable () async throws -> Void,
        park: @escaping @Sendable (Wake) -> Bool,
        wake: @escaping @Sendable () -> Wake?
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sleep() }
            group.addTask { await wait(park: park, wake: wake) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
