import HTTPTypes

/// Bodies that are no JSON: pages, XML and lines of text. They give a family, at most a code and an id, never a text.
extension ErrorDecoder {
    static func match(text bytes: some Collection<UInt8>, status: Int, headers: HTTPFields) -> DecodedError {
        var answer = DecodedError(status: status)
        // The start says whose page it is; what is compressed or in UTF-16 is no UTF-8 text either.
        guard let text = text(bytes.prefix(4_096), isCut: bytes.count > 4_096), !text.utf8.contains(0) else { return answer }
        let start = text.drop { $0.isWhitespace }
        guard start.first == "<" else {
            readLine(text, into: &answer, headers: headers)
            return answer
        }
        let page = text.lowercased()
        if page.holds("<error"), let code = element("Code", in: text), element("Message", in: text) != nil {
            answer.family = .aws
            answer.code = isCode(code) ? ErrorCode(code) : nil
            answer.requestID = (element("RequestId", in: text) ?? element("RequestID", in: text)).flatMap {
                isCode($0) ? $0 : nil
            }
        } else if isChallenge(page, status: status, headers: headers) {
            answer.family = .notAPI
            answer.code = .notAPIResponse
        } else if page.holds("cf-error") || page.holds("cloudflare") || isCloudflare(headers) && (520...530).contains(status) {
            answer.family = .cloudflarePage
            answer.code = ErrorCode("CF_\(status)")
        } else if page.holds("<center>nginx") || page.holds("<center>openresty") {
            answer.family = .nginx
        } else if page.holds("<pre>cannot ") {
            answer.family = .express
        } else if page.prefix(64).filter({ !$0.isWhitespace }).hasPrefix("<html><body><h1>\(status)") {
            answer.family = .haProxy
        }
        return answer
    }

    private static func readLine(_ text: String, into answer: inout DecodedError, headers: HTTPFields) {
        let line = text[...].trimmedText.lowercased()
        guard line.utf8.count <= 200 else { return }
        if line.hasPrefix("error code: "), let number = Int(line.dropFirst("error code: ".count)), (100...9_999).contains(number)
        {
            answer.family = .cloudflarePage
            answer.code = ErrorCode("CF_\(number)")
        } else if answer.status == 429 || answer.status == 503,
            line.hasPrefix("too many requests") || line.holds("limit exceeded") || line.hasPrefix("rate limit")
        {
            answer.family = .throttleText
        }
    }

    private static func isCloudflare(_ headers: HTTPFields) -> Bool {
        headers[.server]?.lowercased() == "cloudflare" || headers[.cloudflareRay] != nil
    }

    /// A page under a success is never the API's, nor is one that asks the visitor to prove himself.
    private static func isChallenge(_ page: String, status: Int, headers: HTTPFields) -> Bool {
        if (200...399).contains(status) || status == 511 { return true }
        guard [401, 403, 405, 406, 429, 503].contains(status) else { return false }
        if headers[.cloudflareMitigated]?.lowercased() == "challenge" { return true }
        return page.holds("just a moment...") || page.holds("attention required! | cloudflare") || page.holds("captcha")
            || page.holds("_incapsula_resource") || page.holds("the requested url was rejected")
            || page.holds("access denied") && page.holds("reference&#32;&#35;") || page.holds("captive portal")
    }

    /// The text, if the bytes are UTF-8; a character that the cut went through is left out.
    private static func text(_ bytes: some Collection<UInt8>, isCut: Bool) -> String? {
        var bytes = Array(bytes)
        for _ in 0..<(isCut ? 4 : 1) {
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            _ = bytes.popLast()
        }
        return nil
    }

    /// The text of the first element of a name that has no attributes.
    private static func element(_ name: String, in text: String) -> String? {
        let parts = text.split(separator: "<\(name)>", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let inner = parts[1].prefix { $0 != "<" }
        return parts[1].dropFirst(inner.count).hasPrefix("</\(name)>") ? inner.trimmedText : nil
    }

    /// The name in `ns#ThrottlingException:http://…`.
    static func amazonCode(_ type: String) -> ErrorCode? {
        let name = type.prefix { $0 != ":" }
        let tail = (name.split(separator: "#").last ?? name[...]).trimmedText
        return isCode(tail) ? ErrorCode(tail) : nil
    }
}
