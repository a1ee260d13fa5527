public import ErrorContract
public import Foundation
import Synchronization

/// Hears what happens in a client's calls: for a log, metrics, an analytics SDK.
public protocol CallListener: Sendable {
    /// Hears of one event. Called where it happened: return soon.
    func hear(_ event: CallEvent)
}

/// Hands events to a closure.
public struct ClosureListener: CallListener {
    private let body: @Sendable (CallEvent) -> Void

    /// Creates a listener.
    public init(_ body: @escaping @Sendable (CallEvent) -> Void) {
        self.body = body
    }

    public func hear(_ event: CallEvent) { body(event) }
}

/// One thing that happened in a call. Holds no secret: no header, no body, no query, no text of the server.
public struct CallEvent: Sendable {
    /// The call; the same number in all of its events.
    public let call: UInt64
    /// Where in the app the call is made, such as `user_login`.
    public let name: String?
    /// Where the call goes.
    public let endpoint: Endpoint
    /// The wall clock.
    public let timestamp: Date
    /// The time since the call began.
    public let elapsed: Duration
    /// What happened.
    public let kind: Kind

    /// What happened.
    public enum Kind: Hashable, Sendable {
        /// A request was handed to the transport; the first attempt has the number 1.
        case attemptStarted(Int)
        /// An attempt ended.
        case attemptFinished(Int, AttemptOutcome)
        /// The call waits until it goes on.
        case waiting(Duration, WaitReason)
        /// The client itself refused to send, and when it would not.
        case refusedLocally(LocalRefusal, retryAfter: Duration?)
        /// The session was refreshed, or joined a refresh that was under way.
        case refreshed(isShared: Bool)
        /// The call will not be repeated though it failed.
        case gaveUp(GiveUpReason)
        /// The call ended: the last event, and the whole story once more.
        case finished(CallSummary)
    }
}

/// How one attempt ended.
public struct AttemptOutcome: Hashable, Sendable {
    /// The status of the answer, if one came.
    public var status: Int?
    /// The error's code; `nil` for a success.
    public var code: ErrorCode?
    /// The id by which the server's log knows the request.
    public var requestID: String?
    /// How long the attempt took.
    public var duration: Duration
    /// Whether a byte of the request may have reached a server.
    public var wasSent = true
}

/// Why a call waits.
public enum WaitReason: String, Hashable, Sendable, CaseIterable {
    /// The server named a delay.
    case retryAfter = "retry_after"
    /// The pause between two attempts.
    case backoff
    /// The gate of the host, or of a policy that the server named, is closed or opening.
    case gate
    /// The app's own limit.
    case throttle
    /// The session is being refreshed, or the user is asked to sign in.
    case session
    /// The device has no connection, and the call waits for one.
    case connectivity
}

/// What in the client refused to send.
public enum LocalRefusal: String, Hashable, Sendable, CaseIterable {
    /// The gate is closed: the server asked to be left alone.
    case gate
    /// The app's own limit is used up.
    case throttle
    /// The circuit is open: the server failed too often.
    case circuit
}

/// Why a failed call is not repeated.
public enum GiveUpReason: String, Hashable, Sendable, CaseIterable {
    /// The same request would fail again.
    case notRetryable = "not_retryable"
    /// The request may have taken effect, and repeating it is not safe.
    case notSafe = "not_safe"
    /// The body can be produced only once.
    case oneShotBody = "one_shot_body"
    /// All retries were used.
    case retriesUsed = "retries_used"
    /// The request was a probe of an opening gate or circuit, and failed: it was sent for all calls, and is not repeated for one of them.
    case refusedAgain = "refused_again"
    /// The client itself held the call back for longer than it waits.
    case heldBack = "held_back"
    /// The session could not be refreshed until the deadline.
    case sessionRefresh = "session_refresh"
    /// The wait would end after the deadline.
    case deadline
    /// The server asked for a longer wait than the client sleeps through.
    case waitTooLong = "wait_too_long"
    /// Too many calls of this client fail.
    case budget
}

/// The whole story of one call, made when it has ended.
public struct CallSummary: Hashable, Sendable {
    /// How many requests were handed to the transport.
    public var attempts: Int
    /// The waits, in order.
    public var waits: [Wait]
    /// The status of the last answer, if one came.
    public var status: Int?
    /// The code of the error that the call ended with; `nil` for a success.
    public var code: ErrorCode?
    /// The kind of the error that the call ended with; `nil` for a success.
    public var kind: APIError.Kind?
    /// The text for the error in the client's language, without the server's own words; `nil` for a success.
    public var message: String?
    /// The id by which the server's log knows the request that failed.
    public var requestID: String?
    /// The time of the error by the server's clock, if the server named it.
    public var serverTimestamp: Date?
    /// Why it was not repeated, if it failed.
    public var gaveUp: GiveUpReason?
    /// How long the call took.
    public var duration: Duration

    /// One wait.
    public struct Wait: Hashable, Sendable {
        /// How long it was to be.
        public var duration: Duration
        /// Why.
        public var reason: WaitReason
    }
}
