import ErrorContract
import HTTPTypes
import Synchronization

/// Reports the changes of the queue's state (``Ledger``) to subscribers, and reports the outcome of a request to the caller that waits for
/// it.
///
/// The ledger calls ``note(_:)`` under the lock of the journal. Therefore, this method and the methods that it calls are short and never
/// call the journal. They take only the locks of the hub, of the subscriptions and of the waiting callers. The hub has only weak references
/// to subscriptions. When the app releases a ``QueueEvents`` sequence and its iterator, the subscription of the sequence is released too,
/// and the hub sends no further events to this subscription.
final class ChangeHub: Sendable {
    /// The outcome of a request for a caller that waits for it.
    enum Outcome: Sendable {
        /// The server performed the request. The response is `nil` if another process or an earlier attempt received it.
        case delivered(HTTPResponse?, [UInt8])
        /// The server refused the request, and would refuse it again.
        case refused(APIError)
        /// The request stays stored, or the app removed it.
        case later
    }

    /// The subscriptions, callers and loops that the hub notifies.
    /// - `waiters`: the callers that wait for an outcome, at most one for each request.
    /// - `wakeups`: the loops that wait for a request to send.
    private struct State {
        var subscriptions: [Weak] = []
        var waiters: [QueuedRequestID: Waiter] = [:]
        var wakeups: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var nextWakeup: UInt64 = 0
    }

    /// A weak reference to a subscription. With a strong reference, the hub would send events to sequences that the app has released.
    private struct Weak {
        weak let subscription: QueueSubscription?
    }

    /// Waits for the outcome of one request.
    ///
    /// Only the first outcome counts. Later outcomes are ignored. ``wait()`` may be called once, before or after the outcome.
    final class Waiter: Sendable {
        /// The outcome, the waiting caller, and whether the outcome is reserved by ``claim()``.
        private struct State {
            var outcome: Outcome?
            var reader: CheckedContinuation<Outcome, Never>?
            var isClaimed = false
        }

        private let state = Mutex(State())

        /// Reserves the outcome. Afterwards, only a call of ``settle(_:isClaimed:)`` with `isClaimed` sets the outcome, and neither a
        /// timeout nor a cancellation ends the wait.
        /// - Returns: Whether the caller still waits. If `false`, the caller already has an outcome, and nothing is reserved.
        func claim() -> Bool {
            state.withLock { state in
                guard state.outcome == nil, !state.isClaimed else { return false }
                state.isClaimed = true
                return true
            }
        }

        /// Sets the outcome if there is none yet, and resumes the caller.
        /// - Parameters:
        ///   - outcome: The outcome.
        ///   - isClaimed: Whether ``claim()`` has reserved the outcome for this call.
        func settle(_ outcome: Outcome, isClaimed: Bool = false) {
            let reader = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
                guard state.outcome == nil, state.isClaimed == isClaimed else { return nil }
                state.outcome = outcome
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: outcome)
        }

        /// Returns the outcome. If the task is canceled, returns `later`, unless the outcome is reserved.
        func wait() async -> Outcome {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let outcome = state.withLock { state -> Outcome? in
                        if state.outcome == nil { state.reader = continuation }
                        return state.outcome
                    }
                    if let outcome { continuation.resume(returning: outcome) }
                }
            } onCancel: {
                settle(.later)
            }
        }
    }

    private let state = Mutex(State())

    /// Handles a change. The ledger calls this method for each change, under the lock of the journal.
    func note(_ change: Ledger.Change) {
        switch change {
        case .restarted: emit(.missed(1))
        case .entry(let entry, let id):
            if let event = QueueEvent(entry, id: id) { emit(event) }
            switch entry {
            case .stored, .revived: wake()
            // Another process delivered the request, or the request was removed. If this process received the response, the caller already
            // has its outcome, and this call of `settle` has no effect.
            case .delivered: settle(id, .delivered(nil, []))
            case .removed, .buried: settle(id, .later)
            default: break
            }
        }
    }

    /// Sends an event to all subscribers, and removes the subscribers that were released.
    func emit(_ event: QueueEvent) {
        let subscriptions = state.withLock { state in
            state.subscriptions.removeAll { $0.subscription == nil }
            return state.subscriptions
        }
        for subscription in subscriptions { subscription.subscription?.push(event) }
    }

    /// Creates a subscription to all future events.
    func subscribe() -> QueueSubscription {
        let subscription = QueueSubscription()
        state.withLock { $0.subscriptions.append(Weak(subscription: subscription)) }
        return subscription
    }

    /// Registers a caller that waits for the outcome of a request. If another caller waits for it, the content of the other call is being
    /// replaced, so the wait of the other caller ends.
    func wait(for id: QueuedRequestID, _ waiter: Waiter) {
        let other = state.withLock { $0.waiters.updateValue(waiter, forKey: id) }
        if let other, other !== waiter { other.settle(.later) }
    }

    /// Removes the caller that waits for a request, and returns this caller. A second call returns no caller, so the caller gets only one
    /// outcome.
    func take(_ id: QueuedRequestID) -> Waiter? { state.withLock { $0.waiters.removeValue(forKey: id) } }

    /// Removes a caller that no longer waits for a request. If another caller now waits for the request, because its call replaced the
    /// request, the method has no effect.
    func remove(_ waiter: Waiter, of id: QueuedRequestID) {
        state.withLock { if $0.waiters[id] === waiter { $0.waiters[id] = nil } }
    }

    /// Sets the outcome for the caller that waits for a request, if there is one.
    func settle(_ id: QueuedRequestID, _ outcome: Outcome) { take(id)?.settle(outcome) }

    /// Notifies the loops that wait for a request to send.
    func wake() { for wakeup in state.withLock({ Array($0.wakeups.values) }) { wakeup.yield() } }

    /// Runs a closure with a stream. The stream gets an element when there may be a request to send. A new element replaces an element that
    /// the loop has not read yet.
    func withWakeups<Result>(_ body: (AsyncStream<Void>) async -> Result) async -> Result {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.nextWakeup += 1
            state.wakeups[state.nextWakeup] = continuation
            return state.nextWakeup
        }
        defer { state.withLock { _ = $0.wakeups.removeValue(forKey: id) } }
        return await body(stream)
    }
}

extension QueueEvent {
    /// Creates the event for an entry. Returns `nil` for the end of a failed attempt and for a lease, because the app needs no event for
    /// them.
    fileprivate init?(_ entry: QueueEntry, id: QueuedRequestID) {
        switch entry {
        case .stored: self = .queued(id)
        case .replaced: self = .edited(id)
        case .attempted: self = .sending(id)
        case .delivered: self = .delivered(id)
        case .buried(_, let burial):
            self = burial.reason == .expired ? .expired(id) : .deadLettered(id, DeadLetter.Reason(burial.reason))
        case .revived: self = .revived(id)
        case .removed: self = .removed(id)
        case .discarded(let owner): self = .discarded(owner)
        case .settled, .leased: return nil
        }
    }
}

extension DeadLetter.Reason {
    init(_ reason: Burial.Reason) {
        self =
            switch reason {
            case .refused: .refused
            case .unknownOutcome: .unknownOutcome
            case .expired: .expired
            case .failedRepeatedly: .failedRepeatedly
            }
    }
}
