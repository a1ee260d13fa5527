import ErrorContract
import ResilientHTTP
import StrictJSON
import Synchronization
import Timekeeping

/// Stores the events of a call, and reports each event immediately.
final class CallTimeline: CallListener {
    private let kept = Mutex<[TimelineLine]>([])
    private let report: @Sendable (TimelineLine) -> Void

    /// Creates an empty timeline.
    /// - Parameter report: A closure that receives each event when it happens. The closure must return quickly, because the call waits for
    ///   the closure.
    init(_ report: @escaping @Sendable (TimelineLine) -> Void) {
        self.report = report
    }

    /// The events so far, in order.
    var lines: [TimelineLine] { kept.withLock { $0 } }

    /// Stores and reports an event of a call.
    func hear(_ event: CallEvent) {
        // The timeline omits the end of the call, because ``CallReport`` describes it in more detail.
        if case .finished = event.kind { return }
        let line = TimelineLine(elapsed: event.elapsed, kind: event.kind)
        kept.withLock { $0.append(line) }
        report(line)
    }
}

/// One event of a call.
struct TimelineLine: Sendable {
    /// The time since the start of the call.
    let elapsed: Duration
    /// The event with its values.
    let kind: CallEvent.Kind

    /// Returns the line as text for a terminal.
    func text(in style: TextStyle) -> String { Self.text(elapsed, words(in: style), in: style) }

    /// Returns a line that begins with the time of an event.
    static func text(_ elapsed: Duration, _ words: String, in style: TextStyle) -> String {
        let time = elapsed.inSeconds
        return style.faint(String(repeating: " ", count: max(0, 9 - time.count)) + time) + "  " + words
    }

    /// Returns the event in words, with colors.
    private func words(in style: TextStyle) -> String {
        switch kind {
        case .attemptStarted(let number): "attempt \(number)"
        case .attemptFinished(let number, let outcome):
            "attempt \(number): " + (outcome.code == nil ? style.good(outcome.words) : style.bad(outcome.words))
        case .waiting(let wait, let reason): style.waiting("waits \(wait.inSeconds): \(reason.words)")
        case .refusedLocally(let refusal, let wait):
            style.waiting("refused by \(refusal.words)" + (wait.map { " for \($0.inSeconds)" } ?? ""))
        case .refreshed: "session renewed"
        case .gaveUp(let reason): "not repeated: \(reason.words)"
        case .finished: "finished"
        }
    }

    /// The line as JSON.
    var json: JSONValue {
        var members: [(String, JSONValue)] = [("elapsed_ms", .integer(elapsed.wholeMilliseconds))]
        switch kind {
        case .attemptStarted(let number): members += [("event", "attempt_started"), ("attempt", .integer(Int64(number)))]
        case .attemptFinished(let number, let outcome):
            members += [
                ("event", "attempt_finished"), ("attempt", .integer(Int64(number))),
                ("status", outcome.status.map { .integer(Int64($0)) } ?? .null),
                ("code", outcome.code.map { .string($0.rawValue) } ?? .null),
                ("request_id", outcome.requestID.map { .string($0) } ?? .null),
                ("duration_ms", .integer(outcome.duration.wholeMilliseconds)),
            ]
        case .waiting(let wait, let reason):
            members += [
                ("event", "waiting"), ("reason", .string(reason.rawValue)), ("wait_ms", .integer(wait.wholeMilliseconds)),
            ]
        case .refusedLocally(let refusal, let wait):
            members += [
                ("event", "held_back"), ("by", .string(refusal.rawValue)),
                ("wait_ms", wait.map { .integer($0.wholeMilliseconds) } ?? .null),
            ]
        case .refreshed(let isShared): members += [("event", "refreshed"), ("shared", .bool(isShared))]
        case .gaveUp(let reason): members += [("event", "gave_up"), ("reason", .string(reason.rawValue))]
        case .finished: members += [("event", "finished")]
        }
        return .object(JSONObject(members))
    }
}

extension AttemptOutcome {
    /// The status, the code, the duration and the request id of an attempt.
    fileprivate var words: String {
        let response = [status.map { "\($0)" }, code?.rawValue].compactMap(\.self).joined(separator: " ")
        let id = requestID.map { ", request \($0)" } ?? ""
        return "\(response) after \(duration.wholeMilliseconds) ms\(id)"
    }
}

extension WaitReason {
    /// The reason of a delay, in words.
    fileprivate var words: String {
        switch self {
        case .retryAfter: "the server's Retry-After"
        case .backoff: "the backoff before the next attempt"
        case .gate: "the server requested a pause"
        case .throttle: "the app's own limit"
        case .session: "the session is being refreshed"
        case .connectivity: "the device has no connection"
        }
    }
}

extension LocalRefusal {
    /// The part of the client that refused a call, in words.
    fileprivate var words: String {
        switch self {
        case .gate: "the gate: the server requested a pause"
        case .throttle: "the throttler: the app's own limit is exhausted"
        case .circuit: "the breaker: the server failed too often"
        }
    }
}

extension GiveUpReason {
    /// The reason why the client does not repeat a call, in words.
    fileprivate var words: String {
        switch self {
        case .notRetryable: "the same request would fail again"
        case .notSafe: "it may have taken effect, and repeating it is not safe without --key"
        case .oneShotBody: "its body can be sent only once"
        case .retriesUsed: "all retries are used"
        case .refusedAgain: "the request was a probe for all calls, and failed as well"
        case .heldBack: "the client delayed it for longer than the call waits"
        case .sessionRefresh: "the session could not be refreshed in time"
        case .deadline: "the delay would end after the deadline of the call"
        case .waitTooLong: "the server requests a longer delay than the client waits"
        case .budget: "too many calls of this client fail (retry budget)"
        }
    }
}

extension Duration {
    /// Seconds with three decimal places, such as `1.250 s`.
    var inSeconds: String {
        let thousandths = "\(wholeMilliseconds % 1_000)"
        return "\(wholeMilliseconds / 1_000)." + String(repeating: "0", count: 3 - thousandths.count) + thousandths + " s"
    }
}
