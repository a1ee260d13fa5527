/// An exact sliding window: a log of the times of the last admissions.
///
/// The window stores the times of the last admissions, at most as many as the quota. A request is admitted if the log has fewer admissions
/// than the quota, or if the oldest admission is at least a window old. Therefore, no half-open interval with the length of the window
/// contains more admissions than the quota. A refusal changes nothing.
///
/// A sliding window takes 8 bytes per stored admission. The memory grows with use, so an idle key takes little memory. If low memory is
/// more important than large bursts, use ``StrictGCRA`` instead. A refusal takes O(1), and an admission takes O(cost) amortized.
///
/// The type has no clock and no lock. To limit many keys on several threads, use ``KeyedRateLimiter``.
///
/// ```swift
/// let policy = RateLimitPolicy.requests(3, per: .seconds(3_600))
/// var window = SlidingWindow()
/// let decision = window.admit(at: now, policy: policy)
/// ```
public struct SlidingWindow: Sendable {
    /// Owns the ring buffer. If two values share the storage, a change first copies the storage. The class is `@unchecked Sendable`,
    /// because only ``SlidingWindow`` accesses it. The ring is behind a pointer, because the runtime's exclusivity checks for a stored
    /// property would take longer than a decision.
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

    /// Admits or refuses one request, and adds an admitted request to the log.
    /// - Parameters:
    ///   - now: Nanoseconds on a monotonic clock. If this instant is before the latest admission, the window uses the instant of that
    ///     admission.
    ///   - policy: The policy. The window ignores the policy's algorithm. If the quota or the length of the window has changed, the new
    ///     values also apply to the stored admissions.
    ///   - cost: The number of units that the request takes; `nil` for the cost of the policy. If the cost exceeds the quota, the request
    ///     is never admitted.
    /// - Returns: The decision. An admission reports the remaining units, and a refusal reports the exact delay.
    /// - Precondition: `cost` is positive.
    public mutating func admit(at now: Int64, policy: RateLimitPolicy, cost: Int? = nil) -> RateLimitDecision {
        let terms = terms(of: policy)
        let cost = cost ?? terms.cost
        requireCost(cost)
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.ring.pointee.copy()) }
        return storage.ring.pointee.decide(at: now, terms: terms, cost: cost)
    }

    /// Returns the number of units that would be admitted at an instant. O(log quota).
    /// - Parameters:
    ///   - now: Nanoseconds on the clock of ``admit(at:policy:cost:)``.
    ///   - policy: The policy. The method ignores its algorithm.
    public func remaining(at now: Int64, policy: RateLimitPolicy) -> Int {
        storage.ring.pointee.remaining(at: now, terms: terms(of: policy))
    }

    /// Returns whether the window has the same state as a new window. If so, the caller can remove the window. O(1).
    /// - Parameters:
    ///   - now: Nanoseconds on the clock of ``admit(at:policy:cost:)``.
    ///   - policy: The policy. The method ignores its algorithm.
    public func isFresh(at now: Int64, policy: RateLimitPolicy) -> Bool {
        storage.ring.pointee.isFresh(at: now, terms: terms(of: policy))
    }

    /// Returns the nanoseconds until `cost` units would be admitted; 0 if they would be admitted now. Changes nothing.
    func delay(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int64 {
        storage.ring.pointee.delay(at: now, terms: terms(of: policy), cost: cost)
    }

    /// Charges units without checking whether the window admits them.
    mutating func charge(at now: Int64, policy: RateLimitPolicy, cost: Int) {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.ring.pointee.copy()) }
        _ = storage.ring.pointee.charge(at: now, terms: terms(of: policy), cost: cost)
    }

    /// Returns the instants of the units that still count, oldest first.
    func instants(at now: Int64, policy: RateLimitPolicy) -> [Int64] {
        guard case .ages(let ages) = storage.ring.pointee.savedUsage(at: now, terms: terms(of: policy)) else { return [] }
        return ages.map { now - $0 }
    }

    /// Returns the numbers of a policy as if its algorithm were the sliding window.
    private func terms(of policy: RateLimitPolicy) -> RateLimitTerms {
        let terms = policy.terms
        if terms.emission == 0 { return terms }
        return RateLimitTerms(quota: terms.quota, burst: terms.quota, cost: terms.cost, window: terms.window, emission: 0)
    }
}
