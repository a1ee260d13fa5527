import ErrorContract
import HTTPTypes
import ResilientHTTP

/// The meaning of a failed call for the queued request.
enum Verdict: Equatable {
    /// The server performed the request in an earlier attempt, and does not have the response any more.
    case delivered
    /// The server refused the request for good.
    case refused
    /// No user is signed in to the account, or the server refused the session's credentials and they can't be renewed.
    case unauthorized
    /// The call was held by the client itself and not sent, for this long.
    case held(Duration)
    /// The call may succeed later; the delay if the server named one.
    case transient(Duration?)
    /// The queue itself stopped the call.
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
    /// The knowledge that a failed attempt leaves; `nil` if the server may have performed the request.
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
        // A page of a proxy says nothing about the server behind it.
        case _ where error.isPage: return nil
        case 503: self = .notPerformed
        case 403, 500...: self = .failed
        default: return nil
        }
    }
}

extension APIError {
    /// Whether the server has finished the request with this idempotency key, and did not store the response.
    fileprivate var isFinishedElsewhere: Bool { status == 409 && repeatedRequest == .finished }

    /// Whether the response is a page, as of a captive portal or a proxy, and says nothing about the request.
    fileprivate var isPage: Bool {
        kind == .notAPI || headers[.contentType]?.lowercased().contains("html") == true
            || body.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "<")
    }

    /// Whether the server refuses the request however often it is sent.
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
