/// An exact sliding window: a ring of the instants of the last admissions.
///
/// A request at `t` is admitted if fewer than the quota are kept, or the oldest kept is at least a window old. A refusal
/// writes nothing. No half-open window of the policy's length ever holds more admissions than the quota: admission
/// `k + quota` is at least a window later than admission `k`. A decision is O(cost), amortised over the units admitted before,
/// and O(1) if it is a refusal; 8 bytes per kept instant; the ring grows with use, so that a quiet key stays small.
public struct SlidingWindow: Sendable {
    /// Owns the ring; copied when two values share it and one is changed. Nobody else reaches it, hence unchecked. A pointer saves
    /// the runtime's check for overlapping access, which takes longer than a decision.
    private final class Storage: @unchecked Sendable {
        let ring = UnsafeMutablePointer<Ring>.allocate(capacity: 1)

        init(_ ring: consuming Ring) {
            self.ring.initialize(to: ring)
        }

        deinit {
            ring.deinitialize(count: 1)
            ring.deallocate()
        }
    }

    private var storage = Storage(Ring())

    /// Creates an empty window.
    public init() {}

    /// Decides about one request.
    /// - Parameters:
    ///   - now: Nanoseconds on a monotonic clock. An instant before an earlier admission counts as that one.
    ///   - policy: The policy; its algorithm is not looked at. Another quota or window than before applies to what is kept.
    ///   - cost: How many units the request takes; the policy's cost if `nil`.
    /// - Precondition: `cost` is positive.
    public mutating func admit(at now: Int64, policy: RateLimitPolicy, cost: Int? = nil) -> RateLimitDecision {
        let terms = terms(of: policy)
        let cost = cost ?? terms.cost
        requireCost(cost)
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.ring.pointee.copy()) }
        return storage.ring.pointee.decide(at: now, terms: terms, cost: cost)
    }

    /// How many units would be admitted at an instant. O(log quota).
    public func remaining(at now: Int64, policy: RateLimitPolicy) -> Int {
        storage.ring.pointee.remaining(at: now, terms: terms(of: policy))
    }

    /// Whether the window is as good as a new one, so that it may be forgotten. O(1).
    public func isFresh(at now: Int64, policy: RateLimitPolicy) -> Bool {
        storage.ring.pointee.isFresh(at: now, terms: terms(of: policy))
    }

    /// The wait in nanoseconds until so many units would be admitted: 0 for now. Writes nothing.
    func delay(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int64 {
        storage.ring.pointee.delay(at: now, terms: terms(of: policy), cost: cost)
    }

    /// Takes units without asking whether they are admitted.
    mutating func charge(at now: Int64, policy: RateLimitPolicy, cost: Int) {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.ring.pointee.copy()) }
        _ = storage.ring.pointee.charge(at: now, terms: terms(of: policy), cost: cost)
    }

    /// The instants that still count, oldest first.
    func instants(at now: Int64, policy: RateLimitPolicy) -> [Int64] {
        guard case .ages(let ages) = storage.ring.pointee.savedUsage(at: now, terms: terms(of: policy)) else { return [] }
        return ages.map { now - $0 }
    }

    private func terms(of policy: RateLimitPolicy) -> RateLimitTerms {
        let terms = policy.terms
        if terms.emission == 0 { return terms }
        return RateLimitTerms(quota: terms.quota, burst: terms.quota, cost: terms.cost, window: terms.window, emission: 0)
    }
}
