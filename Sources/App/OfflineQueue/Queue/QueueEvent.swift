public import ErrorContract
import Synchronization

/// A change of a queue, as ``OfflineQueue/events`` reports it.
///
/// Events can be logged: no event contains the body or the path of a request, or the body of a response. The queue reports
/// ``failed(_:_:)``, ``paused(_:_:)`` and ``resumed(_:)`` only in the process in which they occur. The queue reports all other events in
/// every process.
public enum QueueEvent: Hashable, Sendable {
    /// This process or another process stored a request.
    case queued(QueuedRequestID)
    /// The app replaced the content of a request that was not sent yet.
    case edited(QueuedRequestID)
    /// An attempt to send a request begins. One call may make several attempts.
    case sending(QueuedRequestID)
    /// The server performed a request. The request is no longer in the queue.
    case delivered(QueuedRequestID)
    /// A call for a request failed, and the request stays stored. The request is sent again after a delay. If the credentials were refused,
    /// the request is sent again after a sign-in.
    case failed(QueuedRequestID, QueueFailure)
    /// A request became a dead letter. The request is sent again only if the app calls ``OfflineQueue/retry(_:)``.
    case deadLettered(QueuedRequestID, DeadLetter.Reason)
    /// A request was not sent within its lifetime, and is now a dead letter.
    case expired(QueuedRequestID)
    /// The app put a dead letter back into its lane.
    case revived(QueuedRequestID)
    /// A request or a dead letter was removed. Either the app removed it, or the server refused it while its caller waited in
    /// `OfflineQueue.send`. In the second case, the caller got the refusal.
    case removed(QueuedRequestID)
    /// The app removed all requests of an account.
    case discarded(QueueOwner)
    /// The requests of an account are not sent now. The queue reports the event when a pause begins or when its reason changes.
    case paused(QueueOwner, QueuePause)
    /// The requests of an account are sent again.
    case resumed(QueueOwner)
    /// At least this number of events is missing. Either the subscriber was slow, or another process has compacted the file (removed the
    /// entries that are no longer needed). Read the state again with ``OfflineQueue/pending(lane:limit:)`` and
    /// ``OfflineQueue/deadLetters(limit:)``.
    case missed(Int)
}

/// The failure of a call for a queued request. The failure contains no text. The client's log has the details.
public struct QueueFailure: Hashable, Sendable {
    /// The kind of the error.
    public var kind: APIError.Kind
    /// The code of the error.
    public var code: ErrorCode
    /// The status of the response; `nil` if there was no response.
    public var status: Int?
    /// The id of the request in the server's log; `nil` if the response had none.
    public var requestID: String?
    /// The minimum delay that the server or the client requested before the request is sent again. With `nil`, the lane waits for the delay
    /// of ``OfflineQueue/Options/backoff``, or until a user signs in.
    public var retryAfter: Duration?
}

/// The events of a queue that occur after the creation of the sequence.
///
/// Each sequence has a separate buffer of 256 events. When the buffer is full, the queue drops further events. After the events of the
/// buffer, the reader gets ``QueueEvent/missed(_:)`` with the number of dropped events. Changes of the queue never wait for a reader.
///
/// Use only one iterator and one task per sequence. For another reader, read ``OfflineQueue/events`` again.
public struct QueueEvents: AsyncSequence, Sendable {
    /// Iterates over the events.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: QueueSubscription

        /// Returns the next event, or waits until there is one. Returns `nil` when the task is canceled and the buffer is empty.
        public mutating func next() async -> QueueEvent? { await subscription.next() }
    }

    let subscription: QueueSubscription

    /// Returns the iterator of the sequence. All iterators of one sequence share its buffer, so use only one.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }
}

/// The buffer of the events of one subscriber.
///
/// While a reader waits, the buffer is empty. After the first dropped event, the buffer drops all further events until the reader has read
/// the buffered events and the number of dropped events. The reader therefore gets the events in their original order.
final class QueueSubscription: Sendable {
    /// The maximum number of buffered events.
    static let capacity = 256

    /// The buffer, the waiting reader and the number of dropped events, guarded by a mutex.
    private struct State {
        var events: [QueueEvent] = []
        var missed = 0
        var reader: CheckedContinuation<QueueEvent?, Never>?
        var isCanceled = false
    }

    private let state = Mutex(State())

    /// Passes an event to the waiting reader, or adds the event to the buffer. The method never waits.
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

    /// Returns the next event, or the number of dropped events. Waits until there is one. Returns `nil` when the task is canceled.
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
