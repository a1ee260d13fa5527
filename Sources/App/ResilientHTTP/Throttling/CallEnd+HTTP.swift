import ErrorContract
import Foundation
import HTTPTypes
import RateLimiting
import Timekeeping

extension CallEnd {
    /// What an answer teaches: the server's limits in all drafts and dialects, and the wait that it asks for.
    /// - Parameter now: The local wall clock, used when the answer carries no `Date`.
    init(_ response: HTTPResponse, now: Date) {
        let (status, headers) = (response.status.code, response.headerFields)
        // What a cache keeps of an answer tells an old count (draft-ietf-httpapi-ratelimit-headers-10 §5).
        let isStored = headers[.age].flatMap { Int($0) } ?? 0 > 0
        let limits = isStored ? [] : Self.limits(in: headers, now: now)
        guard status == 429 || status == 403 || status == 503 else {
            self = .answered(limits: limits)
            return
        }
        let retryAfter = RetryAfter.delay(status: status, headers: headers, now: now)
        // A 403 is a refusal by a limit only if it says so.
        let isRefusal = status == 429 || status == 403 && retryAfter != nil
        self =
            isRefusal
            ? .refused(limits: limits, retryAfter: retryAfter) : .answered(limits: limits, retryAfter: retryAfter)
    }

    /// How a call ended that failed.
    init(_ error: any Error, now: Date) {
        switch error {
        case let error as APIError where error.status != nil:
            self.init(HTTPResponse(status: .init(code: error.status ?? 0), headerFields: error.headers), now: now)
        case let error as APIError where error.underlying is TransportError || error.underlying is CancellationError:
            self.init(error.underlying ?? error, now: now)
        case is CancellationError: self = .abandoned
        case let error as TransportError:
            switch error.code {
            case .cancelled: self = error.wasSent ? .abandoned : .withdrawn
            case .invalidRequest: self = error.wasSent ? .lost : .withdrawn
            default: self = error.wasSent ? .lost : .unreachable
            }
        case let error as APIError where error.isHeldLocally || error.attempts == 0: self = .withdrawn
        default: self = .abandoned
        }
    }

    /// Whether the server asked to wait, which is to survive a restart.
    var asksToWait: Bool {
        switch self {
        case .refused: true
        case .answered(_, let retryAfter): retryAfter != nil
        case .lost, .unreachable, .withdrawn, .abandoned: false
        }
    }

    private static func limits(in headers: HTTPFields, now: Date) -> [ServerLimit] {
        var fields: [String: [String]] = [:]
        for field in headers {
            let name = field.name.canonicalName
            guard prefixes.contains(where: { name.hasPrefix($0) }) else { continue }
            fields[name, default: []].append(field.value)
        }
        guard !fields.isEmpty else { return [] }
        let date = headers[.date].flatMap { HTTPDate.parse($0, now: now) } ?? now
        return ServerLimit.decode(now: Int64(date.timeIntervalSince1970)) { fields[$0] ?? [] }
    }

    private static let prefixes = ["ratelimit", "x-ratelimit-", "x-rate-limit-", "anthropic-ratelimit-"]
}
