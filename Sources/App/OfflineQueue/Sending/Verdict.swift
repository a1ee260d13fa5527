import ErrorContract
import HTTPTypes
import ResilientHTTP

/// The meaning of a failed call for the queued request.
///
/// The classification must not err in two directions: a page of a captive portal must not count as a refusal, which would lose the request,
/// and a refusal of the API must not count as temporary, which would block the lane.
enum Verdict: Equatable {
    /// The server performed the request in an earlier attempt, and no longer has the response.
    case delivered
    /// The server refused the request, and would refuse it again.
    case refused
    /// No user is signed in to the account, or the server refused the session's credentials and they can't be renewed.
    case unauthorized
    /// The client itself held the call and did not send it, for this time: a gate, a breaker or a throttle.
    case held(Duration)
    /// The call may succeed later, after the delay if the server named one.
    case transient(Duration?)
    /// The queue itself stopped the call before an attempt, or could not note the attempt.
    case stopped

    init(_ error: APIError) {
        if error.underlying is Ledger.AttemptRefusal || error.underlying is QueueError {
            self = .stopped
        } else if error.isRefreshFailure {
            // Status and code are those of the refresh, not of the request.
            self = .transient(error.retryAfter)
        } else if error.isHeldLocally {
            self = .held(error.retryAfter ?? .seconds(1))
        } else if error.kind == .unauthorized {
            self = .unauthorized
        } else if error.isFinishedElsewhere {
            self = .delivered
        } else {
            self = error.isFinal ? .refused : .transient(error.retryAfter)
        }
    }
}

extension QueueEntry.Settlement {
    /// Returns the knowledge that a failed attempt leaves; `nil` if the server may have performed the request.
    ///
    /// - `neverSent`: no byte reached a server.
    /// - `notPerformed`: redirects, 401, 408, 421, 425, 429, 503 and 511, which a server sends before it performs a request.
    /// - `failed`: 403 and other statuses from 500 on, unless the body is a page, because a page of a proxy doesn't show what the server
    ///   did.
    init?(_ error: APIError) {
        guard let status = error.status else {
            if let transport = error.underlying as? TransportError, !transport.wasSent {
                self = .neverSent
                return
            }
            return nil
        }
        switch status {
        case 300..<400, 401, 408, 421, 425, 429, 511: self = .notPerformed
        case _ where error.isPage: return nil
        case 503: self = .notPerformed
        case 403, 500...: self = .failed
        default: return nil
        }
    }
}

extension APIError {
    /// Whether the server has performed a request with this idempotency key, and did not store its response (409).
    fileprivate var isFinishedElsewhere: Bool { status == 409 && repeatedRequest == .finished }

    /// Whether the response is a page, such as of a captive portal or a proxy, and not a response of the API.
    fileprivate var isPage: Bool {
        kind == .notAPI || headers[.contentType]?.lowercased().contains("html") == true
            || body.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "<")
    }

    /// Whether the server would refuse the request however often it is sent: a status from 400 to 499 whose error is not retryable.
    /// Statuses of proxies and temporary conditions are no refusals: 407, 408, 421, 425, 429, and 403 without a code of the API.
    fileprivate var isFinal: Bool {
        // The client can't make the request.
        guard let status else { return kind == .invalidRequest }
        guard (400..<500).contains(status), !isPage, kind != .decoding else { return false }
        switch status {
        case 407, 408, 421, 425, 429: return false
        // A proxy or a firewall sends this status as well; the API names a code.
        case 403: return code != .forbidden
        case 409 where repeatedRequest != nil: return false
        default: return retry == .never
        }
    }
}
