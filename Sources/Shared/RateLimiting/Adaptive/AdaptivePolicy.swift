/// How a client holds itself back at one endpoint.
public struct AdaptivePolicy: Hashable, Sendable {
    /// The client's own quotas, which a call must all pass; nothing that a server says raises them.
    public let quotas: [RateLimitPolicy]
    /// The longest wait that is believed when a server names one; after that it is asked again.
    public var longestBlock: Duration = .seconds(3_600)
    /// From what time on an answer is slow.
    public var slowAnswer: Duration = .seconds(2)
    /// What those wait longer who ask again and again; nothing if `nil`.
    public var penalty: RefusalPenalty?
    /// The place of the quota with the shortest window: refusals without a hint, and a bad network, slow that one down.
    let pace: Int
    /// The place of the quota with the longest window, which remembers most.
    let memory: Int

    /// Creates a policy.
    /// - Parameters:
    ///   - quotas: The client's own quotas. They are counted by exact rings, whatever their algorithm.
    ///   - penalty: What those wait longer who ask again and again; nothing if `nil`.
    /// - Precondition: There is at least one quota.
    public init(_ quotas: [RateLimitPolicy], penalty: RefusalPenalty? = nil) {
        precondition(!quotas.isEmpty, "a policy needs a quota")
        self.quotas = quotas.map {
            RateLimitPolicy(name: $0.name, quota: $0.quota, window: $0.window, cost: $0.cost, algorithm: .slidingWindow)
        }
        self.penalty = penalty
        pace = quotas.indices.min { quotas[$0].window < quotas[$1].window } ?? 0
        memory = quotas.indices.max { quotas[$0].window < quotas[$1].window } ?? 0
    }
}
