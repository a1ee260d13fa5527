import Synchronization

/// Ends waiting at deadlines. However many there are, one task sleeps: until the next of them.
///
/// A sleep for each request would be simpler, but a cancelled sleep stays in the runtime's timer until its time has come, with some
/// 700 bytes: at thousands of requests a second half a minute's requests are a hundred megabytes.
final class Deadlines<C: Clock>: Sendable where C.Duration == Duration {
    private struct State {
        var queue = DeadlineQueue<C.Instant, @Sendable () -> Void>()
        /// The task that sleeps, and until when.
        var watch: (task: Task<Void, Never>, until: C.Instant)?
    }

    private let clock: C
    private let state = Mutex(State())

    init(clock: C) {
        self.clock = clock
    }

    /// How many deadlines are waited for.
    var count: Int { state.withLock(\.queue.count) }

    /// Calls an action when a time has passed, unless it is taken out before.
    func add(after time: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        let instant = clock.now.advanced(by: time)
        return state.withLock { state in
            if state.watch.map({ instant < $0.until }) ?? true {
                state.watch?.task.cancel()
                state.watch = (watching(until: instant), instant)
            }
            return state.queue.add(instant, action)
        }
    }

    /// Takes a deadline out.
    /// - Returns: Whether it had not come yet.
    @discardableResult func remove(_ id: UInt64) -> Bool {
        state.withLock { $0.queue.remove(id) } != nil
    }

    private func watching(until first: C.Instant) -> Task<Void, Never> {
        Task.detached { [self] in
            var next: C.Instant? = first
            while let instant = next {
                try? await clock.sleep(until: instant, tolerance: nil)
                guard !Task.isCancelled else { return }
                next = fire()
            }
        }
    }

    /// Calls what is due.
    /// - Returns: The next deadline; without one the watch has ended.
    private func fire() -> C.Instant? {
        let now = clock.now
        let (due, next) = state.withLock { state in
            let due = state.queue.due(at: now)
            let next = state.queue.next
            if let next { state.watch?.until = next } else { state.watch = nil }
            return (due, next)
        }
        for action in due { action() }
        return next
    }
}
