import HTTPTypes

/// Servers with several quotas, each with its own fields for the remaining count and the reset.
extension RetryAfter {
    /// Returns the longest reset among the quotas that are used up, or `nil`.
    ///
    /// A quota without a remaining count is taken to be used up under status 429 and 503. O(number of fields) if there is no such quota.
    static func vendorReset(_ headers: HTTPFields, status: Int, in answer: AnswerTime) -> Duration? {
        let hasQuota = headers.contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-ratelimit-") || name.hasPrefix("anthropic-") || name.hasPrefix("x-contentful-")
        }
        guard hasQuota else { return nil }
        var longestWait: Duration?
        for quota in quotas {
            guard let text = headers.value(quota.reset) else { continue }
            guard mayCount(remaining: quota.remaining.flatMap { headers.value($0) }, status: status) else { continue }
            if let wait = reset(text, in: answer) { longestWait = max(longestWait ?? .zero, wait) }
        }
        return longestWait
    }

    private struct Quota {
        var reset: HTTPField.Name
        var remaining: HTTPField.Name?

        init(_ start: String, _ name: String = "", isNameLast: Bool = false) {
            func field(_ part: String) -> HTTPField.Name { .named(start + (isNameLast ? part + name : name + part)) }
            (reset, remaining) = (field("reset"), field("remaining"))
        }
    }

    private static let quotas =
        // OpenAI and compatible servers: lengths such as 6m0s and 20ms.
        ["-requests", "-tokens"].map { Quota("x-ratelimit-", $0, isNameLast: true) }
        // Anthropic: RFC 3339.
        + ["requests-", "tokens-", "input-tokens-", "output-tokens-"].map { Quota("anthropic-ratelimit-", $0) }
        // Linear: Unix times in milliseconds.
        + ["requests-", "complexity-", "endpoint-requests-"].map { Quota("x-ratelimit-", $0) }
        // Contentful: seconds, sent with refusals alone.
        + [Quota("x-contentful-ratelimit-")]

    /// A length as Go writes it: `6m0s`, `1h2m3.5s`, `20ms`.
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

    /// Longer names stand before those that they begin with.
    private static let units: [(name: String, seconds: Double)] = [
        ("ms", 0.001), ("us", 0.000_001), ("ns", 0.000_000_001), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]
}
