import ErrorContract
import Foundation
import HTTPTypes
import ResilientHTTP

/// The meaning of a failed call for the queued request.
///
/// The classification must avoid two errors. A page of a captive portal must not count as a refusal, because the request would be lost. A
/// refusal of the API must not count as temporary, because the lane would be blocked.
enum Verdict: Equatable {
    /// The server performed the request in an earlier attempt, but no longer has the response.
    case delivered
    /// The server refused the request, and would refuse it again.
    case refused
    /// The server responded with 303 and an address of the same server. It has probably performed the request, but the response contains no
    /// result, and a repetition would have the same response.
    case seeOther
    /// No user is signed in to the account. Or the server refused the credentials of the session, and the client can't refresh the session.
    case unauthorized
    /// The client itself delayed the call and did not send it. The duration is the delay that a gate, a circuit breaker or a throttle
    /// requires.
    case held(Duration)
    /// The call may succeed later. The duration is the delay that the server requested, if it requested one. If only the header of the
    /// response contains the delay, it counts for at most an hour.
    case transient(Duration?)
    /// The queue itself stopped the call before an attempt, or could not record the attempt.
    case stopped

    /// Classifies the error of a call. The order of the conditions matters, because an error of the queue or of a refresh may also have a
    /// status.
    /// - Parameters:
    ///   - error: The error of the call.
    ///   - isOwnRedirect: Whether the response is a redirect to an address of the server itself.
    init(_ error: APIError, isOwnRedirect: Bool) {
        if error.underlying is Ledger.AttemptRefusal || error.underlying is QueueError {
            self = .stopped
        } else if error.isRefreshFailure {
            // The status and the code belong to the refresh, not to the request.
            self = .transient(error.believedDelay)
        } else if error.isHeldLocally {
            self = .held(error.retryAfter ?? .seconds(1))
        } else if error.kind == .unauthorized {
            self = .unauthorized
        } else if error.isFinishedElsewhere {
            self = .delivered
        } else if isOwnRedirect, error.status == 303 {
            self = .seeOther
        } else {
            self = error.isFinal ? .refused : .transient(error.believedDelay)
        }
    }
}

extension QueueEntry.Settlement {
    /// Returns the known result of a failed attempt; `nil` if the server may have performed the request.
    ///
    /// - `neverSent`: no byte reached a server.
    /// - `notPerformed`: 401, 408, 421, 425, 429 and 511, redirects to another origin, and a 503 whose body is not a page. A server or a
    ///   captive portal sends these responses before the server performs a request.
    /// - `failed`: redirects to an address of the server itself, except 303, which a server sends after it has performed a request. Also
    ///   403 and all other statuses from 500 on, if the body is not a page. A page of a proxy doesn't show what the server did, so the
    ///   result for a page is `nil`.
    /// - Parameters:
    ///   - error: The error of the attempt.
    ///   - isOwnRedirect: Whether the response is a redirect to an address of the server itself.
    init?(_ error: APIError, isOwnRedirect: Bool) {
        guard let status = error.status else {
            if let transport = error.underlying as? TransportError, !transport.wasSent {
                self = .neverSent
                return
            }
            return nil
        }
        switch status {
        case 303 where isOwnRedirect: return nil
        case 300..<400 where isOwnRedirect: self = .failed
        case 300..<400, 401, 408, 421, 425, 429, 511: self = .notPerformed
        case _ where error.isPage: return nil
        case 503: self = .notPerformed
        case 403, 500...: self = .failed
        default: return nil
        }
    }
}

extension APIError {
    /// The delay that the server requested. A proxy can request years with its page, and the lane would send nothing until then. Therefore,
    /// a delay of a header is limited to an hour, unless the body confirms it.
    fileprivate var believedDelay: Duration? {
        guard let retryAfter, let status, !isRetryAfterConfirmed,
            RetryAfter.delay(status: status, headers: headers, now: serverTimestamp ?? Date()) != nil
        else { return self.retryAfter }
        return min(retryAfter, .seconds(3_600))
    }

    /// Whether the server has performed a request with this idempotency key, but did not store its response (409).
    fileprivate var isFinishedElsewhere: Bool { status == 409 && repeatedRequest == .finished }

    /// Whether the response is a page, such as a page of a captive portal or a proxy, and not a response of the API.
    fileprivate var isPage: Bool {
        kind == .notAPI || headers[.contentType]?.lowercased().contains("html") == true
            || body.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "<")
    }

    /// Whether the server would refuse the request each time, or the client can't make the request. The refusal of a server has a status
    /// from 400 to 499 and an error that is not retryable. Statuses of proxies and of temporary conditions are no refusals: 407, 408, 421,
    /// 425, 429, and 403 without a code of the API.
    fileprivate var isFinal: Bool {
        // The client can't make the request.
        guard let status else { return kind == .invalidRequest }
        guard (400..<500).contains(status), !isPage, kind != .decoding else { return false }
        switch status {
        case 407, 408, 421, 425, 429: return false
        // A proxy or a firewall also sends this status. A response of the API has a code.
        case 403: return code != .forbidden
        case 409 where repeatedRequest != nil: return false
        default: return retry == .never
        }
    }
}
