public import Foundation
public import HTTPTypes
import StrictJSON
import Timekeeping

/// Other headers in which servers send a delay.
extension RetryAfter {
    /// Returns the delay in the headers of a response: in the standard field or in a field of a vendor.
    ///
    /// The method uses the first header in this list that it can read:
    ///
    /// 1. `Retry-After`.
    /// 2. `X-Retry-After`, in seconds or as a Unix time.
    /// 3. `Retry-After-Ms`, `x-ms-retry-after-ms` and `x-amz-retry-after`, in milliseconds.
    /// 4. `RateLimit`, and `RateLimit-Reset` of its early drafts.
    /// 5. `X-RateLimit-Retry-After`, `X-RateLimit-Reset-After` and `X-RateLimit-Reset`.
    /// 6. The reset fields of OpenAI, Anthropic, Linear and Contentful.
    ///
    /// Many servers send the fields of items 4 to 6 with every response. The method therefore uses these fields only for the statuses 429,
    /// 503 and 403. For 429 and 503, it uses them if they report zero remaining requests, or no number of remaining requests. For 403, it
    /// uses them only if they report zero remaining requests.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The response's headers.
    ///   - now: The local wall clock, used if the response has no `Date`.
    /// - Returns: The delay in whole seconds, rounded up, from zero to ``longest``; `nil` if no header contains one.
    public static func delay(status: Int, headers: HTTPFields, now: Date) -> Duration? {
        delay(status: status, facts: headers, all: headers, now: now)
    }

    /// Returns the delay that the headers contain. For most responses, the method reads only the filtered fields.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - facts: The fields that most servers use, filtered from all fields.
    ///   - headers: All fields. The method reads them only if the status is 429, 503 or 403 and no filtered field contains a delay.
    ///   - now: The local wall clock, used if the response has no `Date`.
    static func delay(status: Int, facts: HTTPFields, all headers: HTTPFields, now: Date) -> Duration? {
        guard !headers.isEmpty else { return nil }
        if !facts.isEmpty {
            if let delay = delay(in: facts, now: now) { return delay }
            let response = ResponseTime(headers: facts, now: now)
            if let delay = facts.value(.plainRetryAfter).flatMap({ wait($0, in: response) }) { return delay }
            for name in [HTTPField.Name.retryAfterMilliseconds, .microsoftRetryAfterMilliseconds, .amazonRetryAfter] {
                if let text = facts.value(name), let value = number(text) { return delay(milliseconds: value) }
            }
        }
        guard status == 429 || status == 503 || status == 403 else { return nil }
        let response = ResponseTime(headers: facts, now: now)
        return rateLimit(response, status: status) ?? oldRateLimit(response, status: status)
            ?? vendorReset(headers, status: status, in: response)
    }

    /// Parses a delay in seconds, or a Unix time in seconds or milliseconds.
    private static func wait(_ text: String, in response: ResponseTime) -> Duration? {
        guard let value = number(text) else { return nil }
        return unixTime(value).flatMap { distance(to: $0, in: response) } ?? delay(seconds: value)
    }

    /// Converts a number of seconds to a delay in whole seconds, rounded up and limited to ``longest``. Returns `nil` for a negative or
    /// infinite number, or NaN.
    static func delay(seconds: Double) -> Duration? {
        guard seconds.isFinite, seconds >= 0 else { return nil }
        // The number is limited before the conversion to an integer, because this conversion traps for large numbers.
        return .seconds(Int64(min(seconds, 315_360_000).rounded(.up)))
    }

    /// Converts a number of seconds in a body to a delay. Returns `nil` if the value is not a number.
    static func delay(seconds value: JSONValue?) -> Duration? {
        value?.doubleValue.flatMap { delay(seconds: $0) }
    }

    /// Converts a number of milliseconds to a delay in whole seconds, rounded up.
    static func delay(milliseconds: Double) -> Duration? {
        delay(seconds: milliseconds / 1_000)
    }

    /// Parses a protobuf duration in JSON, such as `3.5s`.
    static func delay(protobuf text: String) -> Duration? {
        guard text.utf8.last == UInt8(ascii: "s") else { return nil }
        return secondsRoundedUp(text.dropLast()).map { min(.seconds($0), longest) }
    }

    /// Parses a delay in seconds.
    private static func plain(_ text: String) -> Duration? {
        number(text).flatMap { delay(seconds: $0) }
    }

    /// Parses a number of at most 32 bytes, without a sign or an exponent.
    private static func number(_ text: some StringProtocol) -> Double? {
        let trimmed = Substring(text).trimmedText
        guard trimmed.utf8.count <= 32, secondsRoundedUp(trimmed[...]) != nil else { return nil }
        return Double(trimmed)
    }

    /// Parses `RateLimit: "default";r=0;t=30`, `RateLimit: limit=100, remaining=0, reset=30`, and `RateLimit-Reset: 30`.
    private static func rateLimit(_ response: ResponseTime, status: Int) -> Duration? {
        let headers = response.headers
        var longestWait: Duration?
        for line in headers[values: .rateLimit] {
            let isOld = line.contains("reset=")
            for policy in isOld ? [line[...]] : line.split(separator: ",") {
                let parameters = Self.parameters(policy)
                let remaining = parameters["r"] ?? parameters["remaining"]
                guard mayCount(remaining: remaining, status: status) else { continue }
                let wait = (parameters["t"] ?? parameters["reset"]).flatMap(plain)
                if let wait { longestWait = max(longestWait ?? .zero, wait) }
            }
        }
        if let longestWait { return longestWait }
        guard mayCount(remaining: headers.value(.rateLimitRemaining), status: status) else { return nil }
        return headers.value(.rateLimitReset).flatMap { reset($0, in: response) }
    }

    /// Parses the fields `X-RateLimit-…` and `X-Rate-Limit-…`.
    private static func oldRateLimit(_ response: ResponseTime, status: Int) -> Duration? {
        let headers = response.headers
        let remaining = headers.value(.oldRateLimitRemaining) ?? headers.value(.dashedRateLimitRemaining)
        guard mayCount(remaining: remaining, status: status) else { return nil }
        // GitHub sends these fields with every response. They contain a delay only if the quota is used up.
        let isGitHub = headers.value(.gitHubRequestID) != nil || headers.value(.server)?.lowercased() == "github.com"
        if isGitHub, remaining == nil { return nil }
        // Symfony and Smoobu send a Unix time. MailerLite sends seconds.
        if let wait = headers.value(.rateLimitRetryAfter).flatMap({ reset($0, in: response) }) { return wait }
        if let wait = headers.value(.oldRateLimitResetAfter).flatMap(plain) { return wait }
        return (headers.value(.oldRateLimitReset) ?? headers.value(.dashedRateLimitReset)).flatMap { reset($0, in: response) }
    }

    /// Returns whether the reset time of a quota is the delay that a refused client must wait.
    /// - Parameters:
    ///   - remaining: The number of remaining requests, as the text in the response.
    ///   - status: The HTTP status. With the status 403, the result is `true` only if 0 requests remain.
    static func mayCount(remaining: String?, status: Int) -> Bool {
        guard let remaining else { return status != 403 }
        return number(remaining) == 0
    }

    /// Parses the time at which a quota is renewed. The formats are:
    ///
    /// - A number of seconds up to a year: the time from now.
    /// - A larger number: a Unix time in seconds or milliseconds.
    /// - An HTTP date, or a date of RFC 3339.
    /// - A duration such as `6m0s`.
    static func reset(_ text: String, in response: ResponseTime) -> Duration? {
        if let value = number(text) {
            if value <= 31_622_400 { return delay(seconds: value) }
            return unixTime(value).flatMap { distance(to: $0, in: response) }
        }
        let trimmed = Substring(text).trimmedText
        let date = HTTPDate.parse(trimmed, now: response.now) ?? InternetDate.parse(trimmed)
        return date.map { distance(to: $0, in: response) } ?? delay(units: trimmed)
    }

    /// Converts a Unix time in seconds or milliseconds to a date. Returns `nil` for a number that is too small or too large.
    private static func unixTime(_ value: Double) -> Date? {
        switch value {
        case 1e9..<1e11: Date(timeIntervalSince1970: value)
        case 1e12..<1e14: Date(timeIntervalSince1970: value / 1_000)
        default: nil
        }
    }

    /// Returns the time from the response to a date. A date in the past is a delay of zero.
    static func distance(to date: Date, in response: ResponseTime) -> Duration? {
        delay(seconds: max(0, date.timeIntervalSince(response.base)))
    }

    /// Parses `name=value` pairs between semicolons or commas.
    private static func parameters(_ text: some StringProtocol) -> [String: String] {
        var found: [String: String] = [:]
        for part in text.split(whereSeparator: { $0 == ";" || $0 == "," }) {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            found[Substring(pair[0]).trimmedText] = Substring(pair[1]).trimmedText
        }
        return found
    }
}

extension RetryAfter {
    /// The names of members that contain a delay in seconds.
    private static let secondsKeys = ["retry_after", "retry_after_seconds", "retryAfter", "retryAfterSeconds"]
    /// The names of members that contain a delay in milliseconds.
    private static let millisecondsKeys = ["retry_after_ms", "retryAfterMs"]

    /// Returns the delay in a body. The method searches for members with common names in the body, in its `error`, in the `details` of
    /// both, and in `detail` and `parameters` of the body. If it finds none, it searches `details` for a `google.rpc.RetryInfo`.
    static func delay(inBody object: JSONObject) -> Duration? {
        let inner = object["error"]?.objectValue
        let places = [
            object, object["details"]?.objectValue, inner, inner?["details"]?.objectValue, object["detail"]?.objectValue,
            object["parameters"]?.objectValue,
        ]
        for place in places.compactMap(\.self) {
            for key in secondsKeys {
                if let delay = delay(seconds: place[key]) { return delay }
            }
            for key in millisecondsKeys {
                if let value = place[key]?.doubleValue, let delay = delay(milliseconds: value) { return delay }
            }
        }
        return retryInfo(in: object["details"]) ?? retryInfo(in: inner?["details"])
    }

    /// Returns the delay of a `google.rpc.RetryInfo` in the details of an error, in the formats of gRPC-gateway, Google and
    /// Connect.
    static func retryInfo(in details: JSONValue?) -> Duration? {
        for item in details?.arrayValue ?? [] {
            guard let item = item.objectValue, let type = item.string("@type", "type"), type.hasSuffix("google.rpc.RetryInfo")
            else { continue }
            let text = item["retryDelay"] ?? item["debug"]?.objectValue?["retryDelay"]
            if let delay = text?.stringValue.flatMap(delay(protobuf:)) { return delay }
        }
        return nil
    }
}

/// Servers with several quotas, each with separate fields for the remaining count and the reset.
extension RetryAfter {
    /// Returns the longest time until the reset of a quota that is used up; `nil` if no quota is used up.
    ///
    /// With the statuses 429 and 503, a quota without a remaining count counts as used up.
    /// - Complexity: O(number of fields).
    static func vendorReset(_ headers: HTTPFields, status: Int, in response: ResponseTime) -> Duration? {
        let hasQuota = headers.contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-ratelimit-") || name.hasPrefix("anthropic-") || name.hasPrefix("x-contentful-")
        }
        guard hasQuota else { return nil }
        var longestWait: Duration?
        for quota in quotas {
            guard let text = headers.value(quota.reset) else { continue }
            guard mayCount(remaining: quota.remaining.flatMap { headers.value($0) }, status: status) else { continue }
            if let wait = reset(text, in: response) { longestWait = max(longestWait ?? .zero, wait) }
        }
        return longestWait
    }

    /// The two fields of one quota. A field name consists of `start`, `name`, and the word `reset` or `remaining`. If `isNameLast` is
    /// `true`, the word comes before `name`.
    private struct Quota {
        var reset: HTTPField.Name
        var remaining: HTTPField.Name?

        init(_ start: String, _ name: String = "", isNameLast: Bool = false) {
            func field(_ part: String) -> HTTPField.Name { .named(start + (isNameLast ? part + name : name + part)) }
            (reset, remaining) = (field("reset"), field("remaining"))
        }
    }

    /// The quotas of vendors that send separate fields for each quota.
    private static let quotas =
        // OpenAI and compatible servers: durations such as 6m0s and 20ms.
        ["-requests", "-tokens"].map { Quota("x-ratelimit-", $0, isNameLast: true) }
        // Anthropic: RFC 3339.
        + ["requests-", "tokens-", "input-tokens-", "output-tokens-"].map { Quota("anthropic-ratelimit-", $0) }
        // Linear: Unix times in milliseconds.
        + ["requests-", "complexity-", "endpoint-requests-"].map { Quota("x-ratelimit-", $0) }
        // Contentful: seconds, only sent with refusals.
        + [Quota("x-contentful-ratelimit-")]

    /// Parses a duration in Go's format: `6m0s`, `1h2m3.5s`, `20ms`.
    static func delay(units text: String) -> Duration? {
        var rest = text.utf8[...]
        var seconds = 0.0
        guard !rest.isEmpty, rest.count <= 32 else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            rest = rest[digits.endIndex...]
            guard
                (1...12).contains(digits.count), digits.first != UInt8(ascii: "."), digits.last != UInt8(ascii: "."),
                let number = Double(String(Substring(digits))),
                let unit = units.first(where: { rest.starts(with: $0.name.utf8) })
            else { return nil }
            rest = rest.dropFirst(unit.name.utf8.count)
            seconds += number * unit.seconds
        }
        return delay(seconds: seconds)
    }

    /// The units of Go's format. `ms` comes before `m`, because a text that begins with `ms` also begins with `m`.
    private static let units: [(name: String, seconds: Double)] = [
        ("ms", 0.001), ("us", 0.000_001), ("ns", 0.000_000_001), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]
}
