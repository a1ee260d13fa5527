extension ServerLimit {
    /// Reads a server's limits from the fields of an answer: draft 10 and all older ones, and the `X-RateLimit-*` dialects.
    ///
    /// Lenient: what can't be read counts as absent. A reset above 10⁹ is an instant in seconds since 1970, above 10¹² in
    /// milliseconds, a smaller one a time from now, letters a date (Vimeo's HTTP date, Akamai's ISO 8601 under `-Next`).
    /// - Parameters:
    ///   - now: Seconds since 1970 by the answer's `Date` field, or by the own clock if it has none.
    ///   - field: The values of a field, by its name in small letters; empty if the answer has none.
    public static func decode(now: Int64, field: (String) -> [String]) -> [ServerLimit] {
        let items = FieldItem.items(field("ratelimit"))
        let policies = FieldItem.items(field("ratelimit-policy"))
        if let single = dictionary(items, now: now) { return [single] }
        var limits = items.compactMap { item -> ServerLimit? in
            guard let remaining = count(item.parameters["r"]) else { return nil }
            return ServerLimit(name: item.value, remaining: remaining, reset: reset(item.parameters["t"], now: now))
        }
        for policy in policies {
            guard let quota = count(policy.parameters["q"]) else { continue }
            let window = count(policy.parameters["w"]).flatMap { $0 > 0 ? Duration.seconds($0) : nil }
            let index = limits.firstIndex { $0.name == policy.value }
            if let index {
                (limits[index].quota, limits[index].window) = (quota, window)
            } else {
                limits.append(ServerLimit(name: policy.value, quota: quota, window: window))
            }
        }
        return limits.isEmpty ? separate(now: now, policies: policies, field: field).map { [$0] } ?? [] : limits
    }

    /// Draft 7: `limit=100, remaining=50, reset=30`.
    private static func dictionary(_ items: [FieldItem], now: Int64) -> ServerLimit? {
        var members: [String: String] = [:]
        for item in items {
            let pair = item.value.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { members[pair[0].lowercased()] = String(pair[1]) }
        }
        return limit(quota: members["limit"], remaining: members["remaining"], reset: members["reset"], now: now)
    }

    /// Up to draft 6, and the vendors: a field each.
    private static func separate(now: Int64, policies: [FieldItem], field: (String) -> [String]) -> ServerLimit? {
        for prefix in ["ratelimit-", "x-ratelimit-", "x-rate-limit-"] {
            func first(_ name: String) -> FieldItem? { FieldItem.items(field(prefix + name)).first }
            let quota = first("limit")
            guard
                var limit = limit(
                    quota: quota?.value,
                    remaining: first("remaining")?.value,
                    reset: (field(prefix + "reset") + field(prefix + "next")).first,
                    now: now
                )
            else { continue }
            if limit.quota == nil, let used = count(first("used")?.value), let remaining = limit.remaining {
                let (sum, overflow) = used.addingReportingOverflow(remaining)
                limit.quota = overflow ? nil : sum
            }
            let window = policies.first { count($0.value) == limit.quota }?.parameters["w"] ?? quota?.parameters["w"]
            limit.window = count(window).flatMap { $0 > 0 ? .seconds($0) : nil }
            return limit
        }
        return nil
    }

    private static func limit(quota: String?, remaining: String?, reset: String?, now: Int64) -> ServerLimit? {
        let limit = ServerLimit(quota: count(quota), remaining: count(remaining), reset: self.reset(reset, now: now))
        return limit == ServerLimit() ? nil : limit
    }

    /// Digits, of which a fraction such as Reddit's `99.0` is dropped: what is left is never more than said.
    private static func count(_ text: String?) -> Int? {
        guard let whole = text?.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).first else { return nil }
        guard (1...15).contains(whole.count), whole.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(whole)
    }

    private static func reset(_ text: String?, now: Int64) -> Duration? {
        guard let text else { return nil }
        guard let whole = count(text) else { return CivilDate.seconds(text).map { .seconds(max(0, $0 - now)) } }
        if whole > 1_000_000_000_000 { return .milliseconds(max(0, Int64(whole) - now * 1_000)) }
        if whole > 1_000_000_000 { return .seconds(max(0, Int64(whole) - now)) }
        return .seconds(text.contains(".") ? whole + 1 : whole)
    }
}
