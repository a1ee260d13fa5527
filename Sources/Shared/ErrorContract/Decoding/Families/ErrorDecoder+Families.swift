import HTTPTypes
import StrictJSON

/// The formats, the most specific first. If a body matches two formats, the decoder uses the format with more distinctive members.
extension ErrorDecoder {
    /// Decodes a JSON object in the first format that matches, and adds values that have common names.
    /// - Returns: `nil` if no format matches the body and the body has no value under a common name.
    static func match(_ body: ErrorBody) -> DecodedError? {
        body.completed(family(of: body))
    }

    /// Returns the error in the first format that matches the body. The order of the formats matters: formats with more distinctive members
    /// come first.
    private static func family(of body: ErrorBody) -> DecodedError? {
        if let decoded = body.contractProblem() { return decoded }
        if let inner = body.error?.objectValue, let decoded = body.errorObject(inner) { return decoded }
        if let decoded = body.refusal() { return decoded }
        return body.platform() ?? body.problem() ?? body.framework() ?? body.list() ?? body.coded() ?? body.text()
    }

    /// Decodes a body that is a list. Either it contains texts, as Django REST framework sends them, or it contains problems, which other
    /// servers send under `errors`.
    static func match(list: [JSONValue], status: Int, headers: HTTPFields) -> DecodedError? {
        if list.contains(where: { $0.objectValue?.string("message") != nil }) {
            return ErrorBody(status: status, headers: headers, object: ["errors": .array(list)]).completed(nil)
        }
        let texts = list.compactMap(\.stringValue)
        guard !texts.isEmpty, texts.count == list.count else { return nil }
        var decoded = DecodedError(status: status, family: .djangoREST)
        decoded.message = texts.joined(separator: " ")
        return decoded
    }
}

extension ErrorBody {
    /// Decodes formats that report a failure by a member, regardless of the HTTP status.
    func refusal() -> DecodedError? {
        if let ok = self["ok"], ok == false, let name = error?.stringValue { return slack(name) }
        if let success = self["success"], success == false, let problems = errors?.arrayValue,
            self["result"] != nil || self["messages"] != nil,
            problems.contains(where: { $0.objectValue?["code"]?.intValue != nil })
        {
            return cloudflareAPI(problems)
        }
        return ErrorDecoder.success(object, status: status)
    }

    /// Decodes formats with a list or a map of problems.
    func list() -> DecodedError? {
        graphQL() ?? jsonAPI() ?? djangoMap()
    }

    /// Decodes the body of an unknown server that has one text, and optionally a list `errors`.
    func text() -> DecodedError? {
        var decoded = line()
        decoded?.violations = (errors?.arrayValue ?? []).compactMap(FieldViolation.init(json:))
        return decoded
    }

    /// Decodes a body with one text: `{"error":"…"}` or `{"message":"…"}`. If `error` is a name with underscores, the method uses it as the
    /// code and not as the message.
    private func line() -> DecodedError? {
        if let text = error?.stringValue {
            if text.hasPrefix("Rate limit exceeded") { return decoded(.slowAPI, message: error) }
            let isName = !text.isEmpty && text.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) } || text.isUpperSnake
            if isName, text.contains("_") { return decoded(.errorText, code: error?.codeValue, message: message) }
            return decoded(.errorText, code: code?.codeValue, message: message?.stringValue == nil ? error : message)
        }
        guard message?.stringValue != nil else { return nil }
        return decoded(.messageText, code: code?.codeValue, message: message)
    }
}

extension HTTPFields {
    /// The header fields that the decoder reads. The decoder filters them once, because it searches for many fields and most of them are
    /// absent.
    var facts: HTTPFields { HTTPFields(lazy.filter { Self.tells($0.name) }) }

    /// Returns whether the decoder reads a field. The method first checks a Bloom filter, which excludes most names without hashing them.
    private static func tells(_ name: HTTPField.Name) -> Bool {
        marks & JSONObject.mark(of: name.canonicalName) != 0 && telling.contains(name)
    }

    /// A Bloom filter of 64 bits for the names of the fields that the decoder reads, with one bit for each name.
    private static let marks = telling.reduce(UInt64(0)) { $0 | JSONObject.mark(of: $1.canonicalName) }

    /// The fields that most servers use for codes, ids and delays.
    private static let telling: Set<HTTPField.Name> = [
        .contentType, .date, .server, .errorCode, .requestID, .plainRequestID, .cloudflareRay, .cloudflareMitigated,
        .amazonRequestID, .microsoftRequestID, .gitHubRequestID, .traceparent, .microsoftErrorCode, .amazonErrorType,
        .supabaseErrorCode, .retryAfter, .plainRetryAfter, .retryAfterMilliseconds, .microsoftRetryAfterMilliseconds,
        .amazonRetryAfter, .rateLimit, .rateLimitRemaining, .rateLimitReset, .oldRateLimitRemaining, .oldRateLimitReset,
        .rateLimitRetryAfter, .oldRateLimitResetAfter, .dashedRateLimitRemaining, .dashedRateLimitReset,
    ]

    /// Returns the value of a field. The method avoids joining lines, because most fields have only one line.
    func value(_ name: HTTPField.Name) -> String? {
        guard let first = firstIndex(where: { $0.name == name }) else { return nil }
        let isAlone = !self[(first + 1)...].contains { $0.name == name }
        return isAlone ? self[first].value : self[name]
    }

    /// The id of the request in the server's log, from the first known header that contains a valid id.
    var namedRequestID: String? {
        Self.requestIDs.lazy.compactMap { value($0) }.first(where: ErrorDecoder.isCode)
    }

    /// The headers with a request id, in the order of their precedence.
    private static let requestIDs: [HTTPField.Name] = [
        .requestID, .plainRequestID, .cloudflareRay, .amazonRequestID, .microsoftRequestID, .gitHubRequestID,
    ]

    /// The id of the trace that the request belongs to. The server's log can contain this id.
    var traceID: String? {
        value(.traceparent).flatMap { ErrorDecoder.isCode($0) ? $0 : nil }
    }

    /// The code that a server with this library also sends in a header.
    var contractCode: ErrorCode? {
        value(.errorCode).flatMap { ErrorDecoder.isCode($0) ? ErrorCode($0) : nil }
    }

    /// The code that a vendor sends in its own header.
    var vendorCode: ErrorCode? {
        if let code = value(.microsoftErrorCode), ErrorDecoder.isCode(code) { return ErrorCode(code) }
        if let type = value(.amazonErrorType), let code = ErrorDecoder.amazonCode(type) { return code }
        return value(.supabaseErrorCode).flatMap { ErrorDecoder.isCode($0) ? ErrorCode($0) : nil }
    }
}

/// Searches for ASCII texts in bytes, without converting them to characters.
extension UnsafeBufferPointer<UInt8> {
    /// Returns whether the bytes at an index equal a text.
    ///
    /// - Parameters:
    ///   - text: An ASCII text; in lower case if `ignoringCase` is set.
    ///   - index: The index.
    ///   - ignoringCase: Whether an upper-case letter in the bytes equals the lower-case letter in the text.
    func stands(_ text: StaticString, at index: Int, ignoringCase: Bool = false) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count - index >= length else { return false }
        for offset in 0..<length {
            let byte = self[index + offset]
            let isUpper = ignoringCase && (0x41...0x5A).contains(byte)
            guard (isUpper ? byte | 0x20 : byte) == text.utf8Start[offset] else { return false }
        }
        return true
    }

    /// Returns the first index at which a text occurs.
    func firstIndex(of text: StaticString) -> Int? {
        indices.first { stands(text, at: $0) }
    }

    /// Whether the bytes begin like markup, in UTF-8 or UTF-16, with any byte order mark.
    var beginAsMarkup: Bool {
        let start = first { byte in
            switch byte {
            case 0x09, 0x0A, 0x0D, 0x20, 0x00, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF: false
            default: true
            }
        }
        return start == UInt8(ascii: "<")
    }
}
