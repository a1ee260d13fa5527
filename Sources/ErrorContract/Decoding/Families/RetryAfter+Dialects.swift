public import Foundation
public import HTTPTypes

/// The other headers in which servers name a delay.
extension RetryAfter {
    /// The delay that the headers of an answer name in any dialect, or `nil`.
    ///
    /// `Retry-After` counts before `X-Retry-After` and `Retry-After-Ms`, these before `RateLimit`, and that before
    /// `X-RateLimit-Reset`. The rate-limit fields also stand in answers that were not refused for it: they count under
    /// status 429 and 503 unless they say that requests remain, and under 403 only if they say that none does.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The response's headers.
    ///   - now: The local wall clock, used when the response carries no `Date`.
    public static func delay(status: Int, headers: HTTPFields, now: Date) -> Duration? {
        guard !headers.isEmpty else { return nil }
        if let delay = delay(in: headers, now: now) { return delay }
        if let delay = headers.value(.plainRetryAfter).flatMap({ plain($0) }) { return delay }
        for name in [HTTPField.Name.retryAfterMilliseconds, .microsoftRetryAfterMilliseconds] {
            if let text = headers.value(name), let value = number(text) { return delay(milliseconds: value) }
        }
        guard status == 429 || status == 503 || status == 403 else { return nil }
        let answer = AnswerTime(headers: headers, now: now)
        return rateLimit(answer, status: status) ?? oldRateLimit(answer, status: status)
    }

    /// Whole seconds, rounded up and cut to ``longest``; `nil` for what is no delay.
    static func delay(seconds: Double) -> Duration? {
        guard seconds.isFinite, seconds >= 0 else { return nil }
        // Cut before the conversion: a large number traps in an integer.
        return .seconds(Int64(min(seconds, 315_360_000).rounded(.up)))
    }

    static func delay(seconds value: JSONValue?) -> Duration? {
        value?.doubleValue.flatMap { delay(seconds: $0) }
    }

    static func delay(milliseconds: Double) -> Duration? {
        delay(seconds: milliseconds / 1_000)
    }

    /// A protobuf duration in JSON, such as `3.5s`.
    static func delay(protobuf text: String) -> Duration? {
        guard text.utf8.last == UInt8(ascii: "s") else { return nil }
        return secondsRoundedUp(text.dropLast()).map { min(.seconds($0), longest) }
    }

    private static func plain(_ text: String) -> Duration? {
        number(text).flatMap { delay(seconds: $0) }
    }

    private static func number(_ text: some StringProtocol) -> Double? {
        let trimmed = Substring(text).trimmedText
        guard trimmed.utf8.count <= 32, secondsRoundedUp(trimmed[...]) != nil else { return nil }
        return Double(trimmed)
    }

    /// `RateLimit: "default";r=0;t=30`, `RateLimit: limit=100, remaining=0, reset=30`, and `RateLimit-Reset: 30`.
    private static func rateLimit(_ answer: AnswerTime, status: Int) -> Duration? {
        let headers = answer.headers
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
        return headers.value(.rateLimitReset).flatMap { reset($0, in: answer) }
    }

    private static func oldRateLimit(_ answer: AnswerTime, status: Int) -> Duration? {
        let headers = answer.headers
        let remaining = headers.value(.oldRateLimitRemaining) ?? headers.value(.dashedRateLimitRemaining)
        guard mayCount(remaining: remaining, status: status) else { return nil }
        // GitHub sends the fields with every answer: only a quota that is used up is a reason to wait for its end.
        let isGitHub = headers.value(.gitHubRequestID) != nil || headers.value(.server)?.lowercased() == "github.com"
        if isGitHub, remaining == nil { return nil }
        if let wait = headers.value(.oldRateLimitResetAfter).flatMap(plain) { return wait }
        return (headers.value(.oldRateLimitReset) ?? headers.value(.dashedRateLimitReset)).flatMap { reset($0, in: answer) }
    }

    private static func mayCount(remaining: String?, status: Int) -> Bool {
        guard let remaining else { return status != 403 }
        return number(remaining) == 0
    }

    /// A time at which a quota is renewed: seconds from now up to a year, else since 1970 in seconds or milliseconds, or a date
    /// of HTTP or of RFC 3339.
    private static func reset(_ text: String, in answer: AnswerTime) -> Duration? {
        if let value = number(text) {
            switch value {
            case ...31_622_400: return delay(seconds: value)
            case 1e9..<1e11: return distance(to: Date(timeIntervalSince1970: value), in: answer)
            case 1e12..<1e14: return distance(to: Date(timeIntervalSince1970: value / 1_000), in: answer)
            default: return nil
            }
        }
        let date = HTTPDate.parse(Substring(text).trimmedText, now: answer.now) ?? internetDate(text)
        return date.flatMap { distance(to: $0, in: answer) }
    }

    /// `2025-11-04T10:31:00Z` (RFC 3339), with and without a fraction.
    private static func internetDate(_ text: String) -> Date? {
        guard text.utf8.count <= 40, text.utf8.contains(UInt8(ascii: "T")) else { return nil }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.utf8.contains(UInt8(ascii: ".")))
        return try? style.parse(text)
    }

    static func distance(to date: Date, in answer: AnswerTime) -> Duration? {
        delay(seconds: max(0, date.timeIntervalSince(answer.base)))
    }

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
    private static let secondsKeys = ["retry_after", "retry_after_seconds", "retryAfter", "retryAfterSeconds"]
    private static let millisecondsKeys = ["retry_after_ms", "retryAfterMs"]

    /// The delay that a body names beside its facts, wherever that is usual.
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
        return nil
    }
}
