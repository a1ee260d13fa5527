import HTTPTypes

/// Bodies that aren't JSON: pages, XML and lines of text. The decoder recognizes their format, and reads a code and an id if there are any.
/// It never shows their texts to the user.
extension ErrorDecoder {
    /// The number of bytes that the decoder searches, from the beginning of a page. A longer page therefore takes no more time.
    private static let pageStart = 4_096

    /// Decodes a body that isn't JSON.
    /// - Parameters:
    ///   - bytes: The body. The decoder searches only its first 4,096 bytes for signs of the page's origin.
    ///   - status: The HTTP status.
    ///   - headers: The response's headers.
    static func match(text bytes: UnsafeBufferPointer<UInt8>, status: Int, headers: HTTPFields) -> DecodedError {
        var decoded = DecodedError(status: status)
        let page = UnsafeBufferPointer(rebasing: bytes.prefix(pageStart))
        guard page.beginAsMarkup else {
            readLine(page, into: &decoded)
            return decoded
        }
        let marks = PageMarks(in: page)
        if marks.contains(.errorElement), let code = element("<Code>", "</Code>", in: page),
            element("<Message>", "</Message>", in: page) != nil
        {
            decoded.family = .aws
            decoded.code = isCode(code) ? ErrorCode(code) : nil
            let id = element("<RequestId>", "</RequestId>", in: page) ?? element("<RequestID>", "</RequestID>", in: page)
            decoded.requestID = id.flatMap { isCode($0) ? $0 : nil }
        } else if isChallenge(marks, status: status, headers: headers) {
            decoded.family = .notAPI
            decoded.code = .notAPIResponse
        } else if marks.contains(.cloudflare) || isCloudflare(headers) && (520...530).contains(status) {
            decoded.family = .cloudflarePage
            decoded.code = ErrorCode("CF_\(status)")
        } else if marks.contains(.nginx) {
            decoded.family = .nginx
        } else if marks.contains(.express) {
            decoded.family = .express
        } else if isHAProxy(page, status: status) {
            decoded.family = .haProxy
        }
        return decoded
    }

    /// Recognizes one line of text from a rate limiter or from Cloudflare. The method doesn't use the text as a message.
    private static func readLine(_ bytes: UnsafeBufferPointer<UInt8>, into decoded: inout DecodedError) {
        guard bytes.count <= 256, let text = String(validating: bytes, as: UTF8.self) else { return }
        let line = text[...].trimmedText.lowercased()
        guard line.utf8.count <= 200 else { return }
        if line.hasPrefix("error code: "), let number = Int(line.dropFirst("error code: ".count)), (100...9_999).contains(number)
        {
            decoded.family = .cloudflarePage
            decoded.code = ErrorCode("CF_\(number)")
        } else if decoded.status == 429 || decoded.status == 503,
            line.hasPrefix("too many requests") || line.contains("limit exceeded") || line.hasPrefix("rate limit")
        {
            decoded.family = .throttleText
        }
    }

    /// Returns whether the page begins with `<html><body><h1>` and the status, such as 503, regardless of whitespace and case.
    private static func isHAProxy(_ page: UnsafeBufferPointer<UInt8>, status: Int) -> Bool {
        let start = page.prefix(64).filter { $0 > 0x20 }
        return start.withUnsafeBufferPointer { bytes in
            let tags: StaticString = "<html><body><h1>"
            guard bytes.stands(tags, at: 0, ignoringCase: true) else { return false }
            return bytes.dropFirst(tags.utf8CodeUnitCount).starts(with: "\(status)".utf8)
        }
    }

    /// Returns whether Cloudflare's edge forwarded or sent the response.
    private static func isCloudflare(_ headers: HTTPFields) -> Bool {
        headers.value(.server)?.lowercased() == "cloudflare" || headers.value(.cloudflareRay) != nil
    }

    /// Returns whether a page comes from another system than the API. This is the case for each page with a status 2xx or 3xx or the status
    /// 511, for Cloudflare's challenge, for the sign-in page of a captive portal, and for similar pages.
    private static func isChallenge(_ marks: PageMarks, status: Int, headers: HTTPFields) -> Bool {
        switch status {
        case 200...399, 511: true
        case 401, 403, 405, 406, 429, 503:
            headers.value(.cloudflareMitigated)?.lowercased() == "challenge" || marks.contains(.challenge)
                || marks.isSuperset(of: [.accessDenied, .reference])
        default: false
        }
    }

    /// Returns the text between the first opening tag and its closing tag.
    private static func element(_ opening: StaticString, _ closing: StaticString, in page: UnsafeBufferPointer<UInt8>) -> String?
    {
        guard let tag = page.firstIndex(of: opening) else { return nil }
        let start = tag + opening.utf8CodeUnitCount
        guard let end = page[start...].firstIndex(of: UInt8(ascii: "<")), page.stands(closing, at: end) else { return nil }
        return String(validating: page[start..<end], as: UTF8.self)?[...].trimmedText
    }

    /// Returns the name in `ns#ThrottlingException:http://…`.
    static func amazonCode(_ type: String) -> ErrorCode? {
        let name = type.prefix { $0 != ":" }
        let tail = (name.split(separator: "#").last ?? name[...]).trimmedText
        return isCode(tail) ? ErrorCode(tail) : nil
    }
}

/// The texts that identify the origin of a page. The initializer finds all these texts in one pass over the page, and ignores the case of
/// letters.
struct PageMarks: OptionSet {
    let rawValue: UInt16

    /// The root element of an XML error of AWS.
    static let errorElement = Self(rawValue: 1 << 0)
    /// The line in which Express names the route that it can't find.
    static let express = Self(rawValue: 1 << 1)
    /// The signature of nginx or OpenResty.
    static let nginx = Self(rawValue: 1 << 2)
    /// A name that Cloudflare's error pages contain.
    static let cloudflare = Self(rawValue: 1 << 3)
    /// Texts of firewalls and portals that ask the visitor to pass a challenge or to sign in.
    static let challenge = Self(rawValue: 1 << 4)
    /// The title of the page that Akamai sends if it refuses a request. This page also has a ``reference``.
    static let accessDenied = Self(rawValue: 1 << 5)
    /// The reference number on the page that Akamai sends if it refuses a request.
    static let reference = Self(rawValue: 1 << 6)

    /// Searches a page once. O(n).
    init(in page: UnsafeBufferPointer<UInt8>) {
        self = []
        for index in page.indices { insert(Self.mark(in: page, at: index)) }
    }

    init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Returns the mark for the text that begins at an index. The check of the first byte excludes most indices.
    private static func mark(in page: UnsafeBufferPointer<UInt8>, at index: Int) -> PageMarks {
        let stands = { (text: StaticString) in page.stands(text, at: index, ignoringCase: true) }
        switch page[index] {
        case UInt8(ascii: "<"):
            if stands("<error") { return .errorElement }
            if stands("<center>nginx") || stands("<center>openresty") { return .nginx }
            return stands("<pre>cannot ") ? .express : []
        case UInt8(ascii: "c"), UInt8(ascii: "C"):
            if stands("cf-error") || stands("cloudflare") { return .cloudflare }
            return stands("captcha") || stands("captive portal") ? .challenge : []
        case UInt8(ascii: "a"), UInt8(ascii: "A"):
            if stands("attention required! | cloudflare") { return .challenge }
            return stands("access denied") ? .accessDenied : []
        case UInt8(ascii: "t"), UInt8(ascii: "T"): return stands("the requested url was rejected") ? .challenge : []
        case UInt8(ascii: "j"), UInt8(ascii: "J"): return stands("just a moment...") ? .challenge : []
        case UInt8(ascii: "r"), UInt8(ascii: "R"): return stands("reference&#32;&#35;") ? .reference : []
        case UInt8(ascii: "_"): return stands("_incapsula_resource") ? .challenge : []
        default: return []
        }
    }
}
