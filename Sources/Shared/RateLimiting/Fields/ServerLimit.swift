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
