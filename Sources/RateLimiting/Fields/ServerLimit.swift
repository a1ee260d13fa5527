/// What a server's answer says about one of its limits.
public struct ServerLimit: Hashable, Sendable {
    /// The policy's name, if it has one.
    public var name: String?
    /// How many units a window admits.
    public var quota: Int?
    /// The length of the window.
    public var window: Duration?
    /// How many units are left.
    public var remaining: Int?
    /// The time, from the receipt of the answer, until there are more; never negative.
    public var reset: Duration?

    /// Creates a limit.
    public init(
        name: String? = nil,
        quota: Int? = nil,
        window: Duration? = nil,
        remaining: Int? = nil,
        reset: Duration? = nil
    ) {
        (self.name, self.quota, self.window, self.remaining, self.reset) = (name, quota, window, remaining, reset)
    }
}
