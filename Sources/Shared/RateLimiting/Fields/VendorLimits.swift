/// Reads limits from responses that have a separate field for each value, such as `RateLimit-Limit` and `RateLimit-Remaining`. The drafts
/// up to 6 and many vendors define such fields.
///
/// Use this type only if the response has no limits in a newer format.
struct VendorLimits {
    private let now: Int64
    private let policies: [FieldItem]
    private let field: (String) -> [String]

    /// Creates a reader of a response's fields.
    /// - Parameters:
    ///   - now: Seconds since 1970 at which the server sent the response.
    ///   - policies: The items of the field `RateLimit-Policy`. These items can contain the windows of the limits.
    ///   - field: A closure that returns the values of a field by its lowercase name.
    init(now: Int64, policies: [FieldItem], field: @escaping (String) -> [String]) {
        (self.now, self.policies, self.field) = (now, policies, field)
    }

    /// The limits of the response. The getter tries the formats in a fixed order, and returns only the limits in the first format that the
    /// response uses.
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

    /// The prefixes of the fields that Linear and Anthropic send, with the names of the quotas. In these fields, the name of the quota is
    /// between the prefix and `limit`, `remaining` or `reset`, such as in `anthropic-ratelimit-tokens-limit`.
    private static let quotas = [
        ("x-ratelimit-", ["requests", "complexity", "endpoint-requests"]),
        ("anthropic-ratelimit-", ["requests", "tokens", "input-tokens", "output-tokens"]),
    ]

    /// Reads one limit from the fields with a prefix and a suffix; `nil` if there are no such fields. The suffix is empty for GitHub,
    /// GitLab, X, Discord, Reddit, Laravel, Okta and others. OpenAI's fields have a suffix, such as `-tokens`.
    private func limit(_ prefix: String, suffix: String, name: String? = nil) -> ServerLimit? {
        func first(_ name: String) -> FieldItem? { FieldItem.items(field(prefix + name + suffix)).first }
        let quotas = FieldItem.items(field(prefix + "limit" + suffix))
        // A reset time can be a date with a comma, so the fields with reset times are not parsed as lists. `reset-after` comes first,
        // because Discord sends a duration in this field and an instant in `reset`. The duration is more precise.
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
        // In earlier drafts, the window is a parameter of the quota. In later drafts, the window is in `RateLimit-Policy`.
        limit.window =
            (policies + quotas).lazy.filter { FieldNumber.count($0.value) == limit.quota }
            .compactMap { FieldNumber.window($0.parameters["w"]) }.first
        return limit
    }

    /// The limit from Shopify's field, such as `32/40`. The first number is the number of used units, and the second number is the quota.
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
