/// A limit that a server reports in the header fields of a response.
///
/// ``decode(now:field:)`` creates the values of this type. A server can omit any value, so every property is optional. Pass the limits to
/// ``AdaptiveLimit/end(_:with:at:using:)``. The client then slows down before the server refuses its calls.
public struct ServerLimit: Hashable, Sendable {
    /// The policy's name, if it has one.
    public var name: String?
    /// The number of units that the server admits per window.
    public var quota: Int?
    /// The unit of the quota; `nil` if the server doesn't report a unit. In this case, the unit is requests.
    public var unit: QuotaUnit?
    /// The length of the window.
    public var window: Duration?
    /// The number of units that the server still admits.
    public var remaining: Int?
    /// The time from the receipt of the response until more units are available; never negative.
    public var reset: Duration?
    /// The key that distinguishes this quota from other quotas of the same policy, in the server's own format.
    public var partitionKey: [UInt8]?

    /// Creates a limit.
    /// - Parameters:
    ///   - name: The policy's name; `nil` if the server reports none.
    ///   - quota: The number of units that the server admits per window.
    ///   - unit: The unit of the quota; `nil` for requests.
    ///   - window: The length of the window.
    ///   - remaining: The number of units that the server still admits, not negative.
    ///   - reset: The time from the receipt of the response until more units are available, not negative.
    ///   - partitionKey: The key that distinguishes this quota from other quotas of the same policy.
    public init(
        name: String? = nil,
        quota: Int? = nil,
        unit: QuotaUnit? = nil,
        window: Duration? = nil,
        remaining: Int? = nil,
        reset: Duration? = nil,
        partitionKey: [UInt8]? = nil
    ) {
        (self.name, self.quota, self.unit, self.window) = (name, quota, unit, window)
        (self.remaining, self.reset, self.partitionKey) = (remaining, reset, partitionKey)
    }
}

extension ServerLimit {
    /// Decodes a server's limits from the fields of a response.
    ///
    /// The method reads the format of draft-ietf-httpapi-ratelimit-headers-10, the formats of all earlier drafts, and the formats of
    /// vendors. If it can't read a value, it treats the value as absent. It ignores a limit if it can read none of these values: the quota,
    /// the number of remaining units, and the reset time.
    ///
    /// If the response has a `Retry-After` field, use its delay instead of the reset times that this method returns. The module
    /// `ErrorContract` reads `Retry-After` in all its formats.
    ///
    /// - Parameters:
    ///   - now: Seconds since 1970 from the response's `Date` field, or from the local clock if the response has no such field.
    ///   - field: A closure that returns the values of a field by its lowercase name. The array is empty if the response doesn't have the
    ///     field.
    /// - Returns: The limits in the order of the fields; empty if the response reports no limits. The method reads only a bounded number of
    ///   limits and bytes, so a malicious server can't make it slow.
    ///
    /// ```swift
    /// let limits = ServerLimit.decode(now: 1_700_000_000) { name in
    ///     name == "ratelimit" ? ["\"default\";r=50;t=30"] : []
    /// }
    /// ```
    public static func decode(now: Int64, field: (String) -> [String]) -> [ServerLimit] {
        let items = FieldItem.items(field("ratelimit"))
        let policies = FieldItem.items(field("ratelimit-policy"))
        if let single = seventhDraft(items, policies: policies, now: now) { return [single] }
        let limits = structured(items, policies: policies, now: now)
        guard limits.isEmpty else { return limits }
        return withoutActuallyEscaping(field) { VendorLimits(now: now, policies: policies, field: $0).limits }
    }

    /// Returns the limits in the format of draft 8 and later drafts.
    ///
    /// An item of `RateLimit`, such as `"default";r=50;t=30;pk=:…:`, contains the remaining units and the reset time. The item of
    /// `RateLimit-Policy` with the same name adds the quota, the unit and the window. If both items have a partition key, the keys must be
    /// equal. A policy without a matching item of `RateLimit` becomes a separate limit.
    private static func structured(_ items: [FieldItem], policies: [FieldItem], now: Int64) -> [ServerLimit] {
        var limits = items.compactMap { item -> ServerLimit? in
            guard let remaining = FieldNumber.count(item.parameters["r"]) else { return nil }
            let reset = FieldNumber.reset(item.parameters["t"], now: now)
            return ServerLimit(name: item.value, remaining: remaining, reset: reset, partitionKey: key(item))
        }
        for policy in policies {
            guard let quota = FieldNumber.count(policy.parameters["q"]) else { continue }
            let policyKey = key(policy)
            var isUsed = false
            for index in limits.indices where limits[index].name == policy.value {
                guard policyKey == nil || limits[index].partitionKey == nil || policyKey == limits[index].partitionKey else {
                    continue
                }
                limits[index].describe(policy, quota: quota)
                isUsed = true
            }
            guard !isUsed else { continue }
            var limit = ServerLimit(name: policy.value, partitionKey: policyKey)
            limit.describe(policy, quota: quota)
            limits.append(limit)
        }
        return limits
    }

    /// Sets the quota, and sets the unit and the window to the values of an item of `RateLimit-Policy`.
    private mutating func describe(_ policy: FieldItem, quota: Int) {
        self.quota = quota
        unit = policy.parameters["qu"].map(QuotaUnit.init(rawValue:))
        window = FieldNumber.window(policy.parameters["w"])
    }

    /// Returns the limit in the format of draft 7: `limit=100, remaining=50, reset=30`. Returns `nil` if the field has another format.
    private static func seventhDraft(_ items: [FieldItem], policies: [FieldItem], now: Int64) -> ServerLimit? {
        var members: [String: String] = [:]
        for item in items {
            let pair = item.value.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { members[pair[0].lowercased()] = String(pair[1]) }
        }
        let quota = FieldNumber.count(members["limit"])
        let limit = ServerLimit(
            quota: quota,
            window: policies.first { FieldNumber.count($0.value) == quota }.flatMap { FieldNumber.window($0.parameters["w"]) },
            remaining: FieldNumber.count(members["remaining"]),
            reset: FieldNumber.reset(members["reset"], now: now)
        )
        return limit == ServerLimit(window: limit.window) ? nil : limit
    }

    /// Returns the partition key of an item: the bytes of its parameter `pk`, which is base64 between two colons. Returns `nil` if the item
    /// has no valid key.
    private static func key(_ item: FieldItem) -> [UInt8]? {
        guard let text = item.parameters["pk"]?.utf8, text.count >= 2, text.first == 58, text.last == 58 else { return nil }
        return Base64.decode(text.dropFirst().dropLast())
    }
}
