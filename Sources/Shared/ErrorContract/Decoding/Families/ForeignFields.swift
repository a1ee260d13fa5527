import HTTPTypes
import StrictJSON

extension HTTPFields {
    /// The fields that the decoder looks at, picked out once: it asks for each of them, mostly in vain.
    var facts: HTTPFields { HTTPFields(lazy.filter { Self.tells($0.name) }) }

    /// Most names are told apart by their marks, without hashing them.
    private static func tells(_ name: HTTPField.Name) -> Bool {
        marks & JSONObject.mark(of: name.canonicalName) != 0 && telling.contains(name)
    }

    private static let marks = telling.reduce(UInt64(0)) { $0 | JSONObject.mark(of: $1.canonicalName) }

    private static let telling: Set<HTTPField.Name> = [
        .contentType, .date, .server, .errorCode, .requestID, .plainRequestID, .cloudflareRay, .cloudflareMitigated,
        .amazonRequestID, .microsoftRequestID, .gitHubRequestID, .traceparent, .microsoftErrorCode, .amazonErrorType,
        .supabaseErrorCode, .retryAfter, .plainRetryAfter, .retryAfterMilliseconds, .microsoftRetryAfterMilliseconds,
        .amazonRetryAfter, .rateLimit, .rateLimitRemaining, .rateLimitReset, .oldRateLimitRemaining, .oldRateLimitReset,
        .rateLimitRetryAfter, .oldRateLimitResetAfter, .dashedRateLimitRemaining, .dashedRateLimitReset,
    ]

    /// The value of a field, which is mostly on one line.
    func value(_ name: HTTPField.Name) -> String? {
        guard let first = firstIndex(where: { $0.name == name }) else { return nil }
        let isAlone = !self[(first + 1)...].contains { $0.name == name }
        return isAlone ? self[first].value : self[name]
    }

    /// The id by which some log knows the request; the first of the known headers that is fit for one.
    var namedRequestID: String? {
        Self.requestIDs.lazy.compactMap { value($0) }.first(where: ErrorDecoder.isCode)
    }

    private static let requestIDs: [HTTPField.Name] = [
        .requestID, .plainRequestID, .cloudflareRay, .amazonRequestID, .microsoftRequestID, .gitHubRequestID,
    ]

    /// The trace that the request belongs to, which the server's log may know as well.
    var traceID: String? {
        value(.traceparent).flatMap { ErrorDecoder.isCode($0) ? $0 : nil }
    }

    /// The code that the contract's server mirrors into a header.
    var contractCode: ErrorCode? {
        value(.errorCode).flatMap { ErrorDecoder.isCode($0) ? ErrorCode($0) : nil }
    }

    /// The code that a vendor puts into a header of his own.
    var vendorCode: ErrorCode? {
        if let code = value(.microsoftErrorCode), ErrorDecoder.isCode(code) { return ErrorCode(code) }
        if let type = value(.amazonErrorType), let code = ErrorDecoder.amazonCode(type) { return code }
        return value(.supabaseErrorCode).flatMap { ErrorDecoder.isCode($0) ? ErrorCode($0) : nil }
    }
}
