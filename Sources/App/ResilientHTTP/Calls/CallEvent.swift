public import ErrorContract
public import Foundation
import Synchronization

/// Receives the events of a client's calls, for a log, metrics or an analytics SDK.
public protocol CallListener: Sendable {
    /// Receives one event. The client calls this method synchronously during the call, so the method must return quickly. Concurrent calls
    /// invoke this method concurrently, so it must be safe to call from any thread.
    /// - Parameter event: The event. ``CallEvent/call`` identifies the call to which it belongs.
    func hear(_ event: CallEvent)
}

/// Passes events to a closure. Use this type for a listener that needs no state.
///
/// ```swift
/// api.listeners = [
///     ClosureListener { event in
///         if case .gaveUp(let reason) = event.kind { print("\(event.endpoint) is not repeated: \(reason.rawValue)") }
///     }
/// ]
/// ```
public struct ClosureListener: CallListener {
    private let body: @Sendable (CallEvent) -> Void

    /// Creates a listener.
    /// - Parameter body: Receives each event, synchronously during the call. The closure must return quickly, and may run on several
    ///   threads at the same time.
    public init(_ body: @escaping @Sendable (CallEvent) -> Void) {
        self.body = body
    }

    /// Passes an event to the closure.
    /// - Parameter event: The event.
    public func hear(_ event: CallEvent) { body(event) }
}

/// An event of a call. The event contains no secrets: no headers, no body, no query, and no text from the server.
public struct CallEvent: Sendable {
    /// The number of the call, which is the same in all of its events.
    public let call: UInt64
    /// The name of the operation, such as `user_login`, which the caller passed as `context`; `nil` if the caller passed none.
    public let name: String?
    /// The endpoint of the call.
    public let endpoint: Endpoint
    /// The time of the event by the wall clock.
    public let timestamp: Date
    /// The time since the call began.
    public let elapsed: Duration
    /// The kind of the event.
    public let kind: Kind

    /// The kind of an event, with its details.
    public enum Kind: Hashable, Sendable {
        /// A request was passed to the transport. The first attempt has the number 1.
        case attemptStarted(Int)
        /// An attempt ended.
        case attemptFinished(Int, AttemptOutcome)
        /// The call waits for the duration before it continues.
        case waiting(Duration, WaitReason)
        /// The client itself refused to send the request. The duration is the time after which the client would send it; `nil` if unknown.
        case refusedLocally(LocalRefusal, retryAfter: Duration?)
        /// The session was refreshed, or the call joined a refresh that was in progress.
        case refreshed(isShared: Bool)
        /// The call failed and will not be retried.
        case gaveUp(GiveUpReason)
        /// The call ended. This is the last event, with a summary of the call.
        case finished(CallSummary)
    }
}

/// The result of one attempt.
public struct AttemptOutcome: Hashable, Sendable {
    /// The status of the response, if one was received.
    public var status: Int?
    /// The error's code; `nil` for a success.
    public var code: ErrorCode?
    /// The id of the request in the server's log.
    public var requestID: String?
    /// The duration of the attempt.
    public var duration: Duration
    /// Whether a byte of the request may have reached a server.
    public var wasSent = true
}

/// The reason why a call waits.
public enum WaitReason: String, Hashable, Sendable, CaseIterable {
    /// The server requested a delay.
    case retryAfter = "retry_after"
    /// The delay between two attempts.
    case backoff
    /// The client delays all calls to the host or to the endpoint, because the server requested a delay or failed too often. See
    /// ``GateMiddleware`` and ``BreakerMiddleware``.
    case gate
    /// A quota that the app set for its own calls is used up. See ``ThrottleMiddleware``.
    case throttle
    /// The session is being refreshed, or the user is being asked to sign in.
    case session
    /// The device has no connection, and the call waits for one.
    case connectivity
}

/// The part of the client that refused to send a request.
public enum LocalRefusal: String, Hashable, Sendable, CaseIterable {
    /// The server requested a delay, and this delay has not passed yet. See ``GateMiddleware``.
    case gate
    /// A quota that the app set for its own calls is used up. See ``ThrottleMiddleware``.
    case throttle
    /// The circuit breaker stopped calls, because the server failed too often. See ``BreakerMiddleware``.
    case circuit
}

/// The reason why a failed call is not retried.
public enum GiveUpReason: String, Hashable, Sendable, CaseIterable {
    /// The same request would fail again.
    case notRetryable = "not_retryable"
    /// The request may have taken effect, and sending it twice is not safe.
    case notSafe = "not_safe"
    /// The body can be produced only once.
    case oneShotBody = "one_shot_body"
    /// The maximum number of retries is reached.
    case retriesUsed = "retries_used"
    /// The failed request was a probe: it tested for all waiting calls whether the server works again. The call that sent the probe is not
    /// retried, because a later call sends the next probe.
    case refusedAgain = "refused_again"
    /// The client refused to send the request, because the call would have to wait too long. See ``LocalRefusal``.
    case heldBack = "held_back"
    /// The session could not be refreshed before the deadline.
    case sessionRefresh = "session_refresh"
    /// The delay before the next attempt would end after the deadline of the call.
    case deadline
    /// The server requested a longer delay than ``RetryPolicy/longestWait``.
    case waitTooLong = "wait_too_long"
    /// The retry budget is used up, because too many calls of this client fail. See ``RetryBudget``.
    case budget
}

/// A summary of a call that has ended.
public struct CallSummary: Hashable, Sendable {
    /// The number of requests that were passed to the transport.
    public var attempts: Int
    /// The delays of the call, in chronological order.
    public var waits: [Wait]
    /// The status of the last response, if one was received.
    public var status: Int?
    /// The code of the call's error; `nil` for a success.
    public var code: ErrorCode?
    /// The kind of the call's error; `nil` for a success.
    public var kind: APIError.Kind?
    /// The error message in the client's language, without texts from the server; `nil` for a success.
    public var message: String?
    /// The id of the failed request in the server's log.
    public var requestID: String?
    /// The time of the error by the server's clock, if the server sent this time.
    public var serverTimestamp: Date?
    /// The reason why a failed call was not retried; `nil` for a success.
    public var gaveUp: GiveUpReason?
    /// The duration of the call.
    public var duration: Duration

    /// One delay.
    public struct Wait: Hashable, Sendable {
        /// The planned duration.
        public var duration: Duration
        /// The reason.
        public var reason: WaitReason
    }
}
