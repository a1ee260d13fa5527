import Foundation

extension APIError: Equatable {
    /// Compares all facts of two errors that a caller can see.
    ///
    /// The errors beneath can't be compared as such: they are equal if both are absent, or if their domain and code as `NSError` are
    /// equal. ``language`` and ``catalogue`` describe the client, not the error, and are not compared.
    public static func == (left: APIError, right: APIError) -> Bool {
        left.kind == right.kind && left.code == right.code && left.status == right.status && left.message == right.message
            && left.details == right.details && left.violations == right.violations && left.headers == right.headers
            && left.body == right.body
            && left.retryAfter == right.retryAfter && left.isRetryAfterConfirmed == right.isRetryAfterConfirmed
            && left.retryAt == right.retryAt && left.serverTimestamp == right.serverTimestamp
            && left.requestID == right.requestID && left.context == right.context && left.attempts == right.attempts
            && left.retry == right.retry && left.recovery == right.recovery && left.hold == right.hold
            && left.isRefreshFailure == right.isRefreshFailure && left.sentCredentials == right.sentCredentials
            && left.serverTextLanguage == right.serverTextLanguage && left.presentationText == right.presentationText
            && hasSameFacts(left.underlying, right.underlying)
    }

    private static func hasSameFacts(_ left: (any Error)?, _ right: (any Error)?) -> Bool {
        switch (left, right) {
        case (nil, nil): return true
        case (let left?, let right?):
            let (left, right) = (left as NSError, right as NSError)
            return left.domain == right.domain && left.code == right.code
        default: return false
        }
    }
}
