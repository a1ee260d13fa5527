public import ErrorContract
import Synchronization

/// A change of a queue, as ``OfflineQueue/events`` reports it.
///
/// No event contains the body or the path of a request, or the body of a response, so events can be logged. ``failed(_:_:)``,
/// ``paused(_:_:)`` and ``resumed(_:)`` are reported in the process in which they happen; the other events in all processes.
public enum QueueEvent: Hashable, Sendable {
    /// A request was stored, by this process or by another one.
    case queued(QueuedRequestID)
    /// The content of a request that was not sent yet was replaced.
    case edited(QueuedRequestID)
    /// An attempt to send a request begins. One call may make several attempts.
    case sending(QueuedRequestID)
    /// The server performed a request. It is no longer in the queue.
    case delivered(QueuedRequestID)
    /// A call for a request failed, and the request stays stored. It is sent again after a delay, or after a sign-in if the credentials
    /// were refused.
    case failed(QueuedRequestID, QueueFailure)
    /// A request became a dead letter: it is not sent again unless the app calls ``OfflineQueue/retry(_:)``.
    case deadLettered(QueuedRequestID, DeadLetter.Reason)
    /// A request was not sent within its lifetime, and is a dead letter now.
    case expired(QueuedRequestID)
    /// A dead letter was put back into its lane.
    case revived(QueuedRequestID)
    /// The app removed a request or a dead letter, or the server refused a request whose caller waited in
    /// ``OfflineQueue/send(_:_:_:query:options:context:)`` and got the refusal.
    case removed(QueuedRequestID)
    /// The app removed all requests of an account.
    case discarded(QueueOwner)
    /// The requests of an account are not sent for now. Reported once for each change of the reason.
    case paused(QueueOwner, QueuePause)
    /// The requests of an account are sent again.
    case resumed(QueueOwner)
    /// At least this many events are missing, because the subscriber was slow or because another process has compacted the file. Read the
    /// state again with ``OfflineQueue/pending(lane:limit:)`` and ``OfflineQueue/deadLetters(limit:)``.
    case missed(Int)
}

/// The failure of a call for a queued request. It has no text; use the client's log for details.
public struct QueueFailure: Hashable, Sendable {
    /// The kind of the error.
    public var kind: APIError.Kind
    /// The code of the error.
    public var code: ErrorCode
    /// The status of the response; `nil` if there was none.
    public var status: Int?
    /// The id of the request in the server's log; `nil` if the response had none.
    public var requestID: String?
    /// The delay that the server or the client named, after which the request is sent again at the earliest. `nil` if none was named: the
    /// lane then waits by ``OfflineQueue/Options/backoff``, or until a user signs in.
    public var retryAfter: Duration?
}

/// The events of a queue, from the creation of the sequence on.
///
/// Each sequence has a separate buffer of 256 events. When the buffer is full, the queue drops further events, and a reader gets
/// ``QueueEvent/missed(_:)`` with their number after the events of the buffer. Changes of the queue never wait for a reader.
///
/// Use one iterator and one task per sequence. Read ``OfflineQueue/events`` again for another reader.
public struct QueueEvents: AsyncSequence, Sendable {
    /// Iterates over the events.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: QueueSubscription

        /// Returns the next event, and waits for it if there is none. Returns `nil` when the task is canceled and the buffer is empty.
        public mutating func next() async -> QueueEvent? { await subscription.next() }
    }

    let subscription: QueueSubscription

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }
}

/// The buffer of one subscriber.
///
/// Either events are in the buffer or a reader waits, never both. Once an event was dropped, all further events are dropped until the
/// reader has taken the buffered ones and the number of the missing ones, so that the order of events stays.
final class QueueSubscription: Sendable {
    /// The largest number of buffered events.
    static let capacity = 256

    private struct State {
        var events: [QueueEvent] = []
        var missed = 0
        var reader: CheckedContinuation<QueueEvent?, Never>?
        var isCanceled = false
    }

    private let state = Mutex(State())

    /// Gives an event to the reader that waits, or adds it to the buffer. Never waits.
    func push(_ event: QueueEvent) {
        let reader = state.withLock { state -> CheckedContinuation<QueueEvent?, Never>? in
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            if state.missed > 0 || state.events.count >= Self.capacity { state.missed += 1 } else { state.events.append(event) }
            return nil
        }
        reader?.resume(returning: event)
    }

    func next() async -> QueueEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready: QueueEvent?? = state.withLock { state in
                    if !state.events.isEmpty { return .some(state.events.removeFirst()) }
                    if state.missed > 0 {
                        defer { state.missed = 0 }
                        return .some(.missed(state.missed))
                    }
                    if state.isCanceled { return .some(nil) }
                    state.reader = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.isCanceled = true
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }
}
