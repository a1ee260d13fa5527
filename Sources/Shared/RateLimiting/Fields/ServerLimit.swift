/// What a server's answer says about one of its limits.
public struct ServerLimit: Hashable, Sendable {
    /// The policy's name, if it has one.
    public var name: String?
    /// How many units a window admits.
    public var quota: Int?
    /// What is counted, if the server says it; requests if it doesn't.
    public var unit: QuotaUnit?
    /// The length of the window.
    public var window: Duration?
    /// How many units are left.
    public var remaining: Int?
    /// The time, from the receipt of the answer, until there are more; never negative.
    public var reset: Duration?
    /// What tells this quota of the policy from others, in the server's own form.
    public var partitionKey: [UInt8]?

    /// Creates a limit.
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
    /// Reads a server's limits from the fields of an answer: draft 10 and all older ones, and the dialects of vendors.
    ///
    /// Lenient: what can't be read counts as absent, and so does a limit of which neither quota, rest nor reset can be read.
    /// `Retry-After`, where there is one, counts before every reset read here; `ErrorContract` reads it in all its dialects.
    /// - Parameters:
    ///   - now: Seconds since 1970 by the answer's `Date` field, or by the own clock if it has none.
    ///   - field: The values of a field, by its name in small letters; empty if the answer has none.
    public static func decode(now: Int64, field: (String) -> [String]) -> [ServerLimit] {
        let items = FieldItem.items(field("ratelimit"))
        let policies = FieldItem.items(field("ratelimit-policy"))
        if let single = seventhDraft(items, policies: policies, now: now) { return [single] }
        let limits = structured(items, policies: policies, now: now)
        guard limits.isEmpty else { return limits }
        return withoutActuallyEscaping(field) { VendorLimits(now: now, policies: policies, field: $0).limits }
    }

    /// From draft 8 on: `"default";r=50;t=30;pk=:…:`, with a policy of that name, and of that key if it tells one.
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

    private mutating func describe(_ policy: FieldItem, quota: Int) {
        self.quota = quota
        unit = policy.parameters["qu"].map(QuotaUnit.init(rawValue:))
        window = FieldNumber.window(policy.parameters["w"])
    }

    /// Draft 7: `limit=100, remaining=50, reset=30`.
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

    private static func key(_ item: FieldItem) -> [UInt8]? {
        guard let text = item.parameters["pk"]?.utf8, text.count >= 2, text.first == 58, text.last == 58 else { return nil }
        return Base64.decode(text.dropFirst().dropLast())
    }
}
