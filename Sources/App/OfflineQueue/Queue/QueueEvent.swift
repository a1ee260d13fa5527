public import ErrorContract
import Synchronization

/// A change of a queue. No event contains the body or the path of a request, or the body of a response.
public enum QueueEvent: Hashable, Sendable {
    /// A request was stored, by this process or by another one.
    case queued(QueuedRequestID)
    /// The content of a request that was not sent yet was replaced.
    case edited(QueuedRequestID)
    /// An attempt to send a request begins.
    case sending(QueuedRequestID)
    /// The server performed a request.
    case delivered(QueuedRequestID)
    /// A call for a request failed, and is repeated later.
    case failed(QueuedRequestID, QueueFailure)
    /// A request became a dead letter: it is not sent again unless the app asks for it.
    case deadLettered(QueuedRequestID, DeadLetter.Reason)
    /// A request was not sent within its lifetime, and is a dead letter now.
    case expired(QueuedRequestID)
    /// A dead letter was put back into its lane.
    case revived(QueuedRequestID)
    /// The app removed a request or a dead letter.
    case removed(QueuedRequestID)
    /// The app removed all requests of an account.
    case discarded(QueueOwner)
    /// The requests of an account are not sent for now.
    case paused(QueueOwner, QueuePause)
    /// The requests of an account are sent again.
    case resumed(QueueOwner)
    /// The subscriber was slow, or another process has compacted the files: at least this many events are missing. Take a snapshot.
    case missed(Int)
}

/// Why a call for a queued request failed.
public struct QueueFailure: Hashable, Sendable {
    /// The kind of the error.
    public var kind: APIError.Kind
    /// The code of the error.
    public var code: ErrorCode
    /// The status of the response; `nil` if there was none.
    public var status: Int?
    /// The id by which the server's log knows the request.
    public var requestID: String?
    /// The time until the next attempt, at the earliest; `nil` if it depends on something else, such as a sign-in.
    public var retryAfter: Duration?
}

/// The events of a queue, from the creation of the sequence on.
///
/// Each sequence has its own buffer of 256 events. A reader that falls further behind gets ``QueueEvent/missed(_:)`` in place of the
/// events that did not fit. Use one iterator per sequence.
public struct QueueEvents: AsyncSequence, Sendable {
    /// Iterates over the events.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: QueueSubscription

        /// Returns the next event; `nil` when the task is canceled.
        public mutating func next() async -> QueueEvent? { await subscription.next() }
    }

    let subscription: QueueSubscription

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }
}

/// The buffer of one subscriber.
final class QueueSubscription: Sendable {
    static let capacity = 256

    private struct State {
        var events: [QueueEvent] = []
        var missed = 0
        var reader: CheckedContinuation<QueueEvent?, Never>?
        var isCanceled = false
    }

    private let state = Mutex(State())

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
