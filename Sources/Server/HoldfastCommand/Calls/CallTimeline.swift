import ErrorContract
import ResilientHTTP
import StrictJSON
import Synchronization
import Timekeeping

/// Keeps what happens in a call, and tells each line when it happens.
final class CallTimeline: CallListener {
    private let kept = Mutex<[TimelineLine]>([])
    private let report: @Sendable (TimelineLine) -> Void

    init(_ report: @escaping @Sendable (TimelineLine) -> Void) {
        self.report = report
    }

    /// What happened so far, in order.
    var lines: [TimelineLine] { kept.withLock { $0 } }

    func hear(_ event: CallEvent) {
        // The report says it with more words.
        if case .finished = event.kind { return }
        let line = TimelineLine(elapsed: event.elapsed, kind: event.kind)
        kept.withLock { $0.append(line) }
        report(line)
    }
}

/// One thing that happened in a call.
struct TimelineLine: Sendable {
    let elapsed: Duration
    let kind: CallEvent.Kind

    /// The line for a person.
    func text(in style: TextStyle) -> String {
        let time = elapsed.inSeconds
        return style.faint(String(repeating: " ", count: max(0, 9 - time.count)) + time) + "  " + words(in: style)
    }

    private func words(in style: TextStyle) -> String {
        switch kind {
        case .attemptStarted(let number): "attempt \(number)"
        case .attemptFinished(let number, let outcome):
            "attempt \(number): " + (outcome.code == nil ? style.good(outcome.words) : style.bad(outcome.words))
        case .waiting(let wait, let reason): style.waiting("waits \(wait.inSeconds): \(reason.words)")
        case .refusedLocally(let refusal, let wait):
            style.waiting("held back by \(refusal.words)" + (wait.map { " for \($0.inSeconds)" } ?? ""))
        case .refreshed: "session renewed"
        case .gaveUp(let reason): "not repeated: \(reason.words)"
        case .finished: "finished"
        }
    }

    /// The line for a program.
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
    fileprivate var words: String {
        let response = [status.map { "\($0)" }, code?.rawValue].compactMap(\.self).joined(separator: " ")
        let id = requestID.map { ", request \($0)" } ?? ""
        return "\(response) after \(duration.wholeMilliseconds) ms\(id)"
    }
}

extension WaitReason {
    fileprivate var words: String {
        switch self {
        case .retryAfter: "the server said when to come back"
        case .backoff: "a pause before the next attempt"
        case .gate: "the server asked to be left alone"
        case .throttle: "the app's own limit"
        case .session: "the session is being refreshed"
        case .connectivity: "the device has no connection"
        }
    }
}

extension LocalRefusal {
    fileprivate var words: String {
        switch self {
        case .gate: "the gate: the server asked to be left alone"
        case .throttle: "the throttler: the app's own limit is used up"
        case .circuit: "the breaker: the server failed too often"
        }
    }
}

extension GiveUpReason {
    fileprivate var words: String {
        switch self {
        case .notRetryable: "the same request would fail again"
        case .notSafe: "it may have taken effect, and repeating it is not safe without --key"
        case .oneShotBody: "its body can be sent only once"
        case .retriesUsed: "all retries are used"
        case .refusedAgain: "the request was a probe for all calls, and failed as well"
        case .heldBack: "the client held it back for longer than it waits"
        case .sessionRefresh: "the session could not be refreshed in time"
        case .deadline: "the wait would end after the time of the call"
        case .waitTooLong: "the server asks for a longer wait than the client sleeps through"
        case .budget: "too many calls of this client fail"
        }
    }
}

extension Duration {
    /// Seconds with three places, such as `1.250 s`.
    var inSeconds: String {
        let thousandths = "\(wholeMilliseconds % 1_000)"
        return "\(wholeMilliseconds / 1_000)." + String(repeating: "0", count: 3 - thousandths.count) + thousandths + " s"
    }
}
