/// Reads limits from responses with a separate field for each value, such as `RateLimit-Limit` and `RateLimit-Remaining`. The drafts up to
/// 6 and many vendors define such fields.
///
/// Use it only if the response has no limits in a newer format.
struct VendorLimits {
    private let now: Int64
    private let policies: [FieldItem]
    private let field: (String) -> [String]

    /// Creates a reader of a response's fields.
    /// - Parameters:
    ///   - now: Seconds since 1970 at which the server sent the response.
    ///   - policies: The items of the field `RateLimit-Policy`, which can contain the windows.
    ///   - field: A closure that returns the values of a field by its lowercase name.
    init(now: Int64, policies: [FieldItem], field: @escaping (String) -> [String]) {
        (self.now, self.policies, self.field) = (now, policies, field)
    }

    /// The limits in the first format that contains any limits.
    var limits: [ServerLimit] {
        for prefix in ["ratelimit-", "x-ratelimit-", "x-rate-limit-"] {
            let limits = ["", "-requests", "-tokens"].compactMap { limit(prefix, suffix: $0) }
            if !limits.isEmpty { return limits }
        }
        for (prefix, quotas) in Self.quotas {
            let limits = quotas.compactMap { limit("\(prefix)\($0)-", suffix: "", name: $0) }
            if !limits.isEmpty { return limits }
        }
        return shopify.map { [$0] } ?? []
    }

    /// The prefixes and the quota names of Linear and Anthropic. In their fields, the name of the quota comes before `limit`, `remaining`
    /// or `reset`.
    private static let quotas = [
        ("x-ratelimit-", ["requests", "complexity", "endpoint-requests"]),
        ("anthropic-ratelimit-", ["requests", "tokens", "input-tokens", "output-tokens"]),
    ]

    /// Reads a limit from fields with a prefix. Without a suffix, these are the fields of GitHub, GitLab, X, Discord, Reddit, Laravel, Okta
    /// and others. With a suffix, these are OpenAI's fields.
    private func limit(_ prefix: String, suffix: String, name: String? = nil) -> ServerLimit? {
        func first(_ name: String) -> FieldItem? { FieldItem.items(field(prefix + name + suffix)).first }
        let quotas = FieldItem.items(field(prefix + "limit" + suffix))
        // The method doesn't parse these fields as lists, because a date contains a comma. The duration comes first, because Discord sends
        // a duration and an instant, and the duration is more precise.
        let reset = ["reset-after", "reset", "next", "resettime"].flatMap { field(prefix + $0 + suffix) }.lazy
        var limit = ServerLimit(
            name: name
                ?? (suffix.isEmpty ? first("bucket")?.value ?? first("resource")?.value : String(suffix.dropFirst())),
            quota: FieldNumber.count(quotas.first?.value),
            remaining: FieldNumber.count(first("remaining")?.value),
            reset: reset.compactMap { FieldNumber.reset($0, now: now) }.first
        )
        guard limit.quota != nil || limit.remaining != nil || limit.reset != nil else { return nil }
        if limit.quota == nil, let used = FieldNumber.count(first("used")?.value), let remaining = limit.remaining {
            limit.quota = used.addingReportingOverflow(remaining).partialValue
        }
        // Earlier drafts appended the window to the quota. Later drafts use a separate field.
        limit.window =
            (policies + quotas).lazy.filter { FieldNumber.count($0.value) == limit.quota }
            .compactMap { FieldNumber.window($0.parameters["w"]) }.first
        return limit
    }

    /// The limit of Shopify's bucket, such as `32/40`. The first number is the usage, and the second number is the quota.
    private var shopify: ServerLimit? {
        for name in ["x-shopify-shop-api-call-limit", "x-shopify-api-call-limit"] {
            let parts = (field(name).first ?? "").split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let used = FieldNumber.count(String(parts[0])) else { continue }
            guard let quota = FieldNumber.count(String(parts[1])) else { continue }
            return ServerLimit(quota: quota, remaining: max(0, quota - used))
        }
        return nil
    }
}
