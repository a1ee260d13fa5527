/// An exact sliding window: a ring of the instants of the last admissions.
///
/// A request at `t` is admitted if fewer than the quota are kept, or the oldest kept is at least a window old. A refusal
/// writes nothing. No half-open window of the policy's length ever holds more admissions than the quota: admission
/// `k + quota` is at least a window later than admission `k`. A decision is O(cost), amortised over the units admitted before,
/// and O(1) if it is a refusal; 8 bytes per kept instant; the ring grows with use, so that a quiet key stays small.
public struct SlidingWindow: Sendable {
    /// Kept instants, oldest first from `oldest`, wrapping around.
    private var instants: [Int64] = []
    private var oldest: Int32 = 0
    private var kept: Int32 = 0

    /// Creates an empty window.
    public init() {}

    /// A window that keeps given instants, oldest first.
    init(instants: some Collection<Int64>) {
        self.instants = Array(instants)
        kept = Int32(self.instants.count)
    }

    /// Decides about one request.
    /// - Parameters:
    ///   - now: Nanoseconds on a monotonic clock. An instant before an earlier admission counts as that one.
    ///   - policy: The policy; its algorithm is not looked at. Another quota or window than before applies to what is kept.
    ///   - cost: How many units the request takes; the policy's cost if `nil`.
    /// - Precondition: `cost` is positive.
    public mutating func admit(at now: Int64, policy: RateLimitPolicy, cost: Int? = nil) -> RateLimitDecision {
        let cost = cost ?? policy.cost
        requireCost(cost)
        guard cost <= policy.quota else { return .impossible }
        let delay = delay(at: now, policy: policy, cost: cost)
        guard delay == 0 else { return .refused(retryAfter: .nanoseconds(delay)) }
        return .admitted(remaining: charge(at: now, policy: policy, cost: cost))
    }

    /// How many units would be admitted at an instant. O(log quota).
    public func remaining(at now: Int64, policy: RateLimitPolicy) -> Int {
        max(0, policy.quota - live(at: now, policy: policy))
    }

    /// Whether the window is as good as a new one, so that it may be forgotten. O(1).
    public func isFresh(at now: Int64, policy: RateLimitPolicy) -> Bool {
        guard let newest else { return true }
        return now - newest >= policy.windowNanoseconds
    }

    /// The instants that still count, oldest first.
    func instants(at now: Int64, policy: RateLimitPolicy) -> [Int64] {
        let live = live(at: now, policy: policy)
        return ((Int(kept) - live)..<Int(kept)).map(instant)
    }

    private var newest: Int64? { kept == 0 ? nil : instant(Int(kept) - 1) }

    private func instant(_ age: Int) -> Int64 {
        let index = Int(oldest) + age
        return instants[index < instants.count ? index : index - instants.count]
    }

    /// How many kept instants are less than a window old; they are sorted, so it is a binary search.
    private func live(at now: Int64, policy: RateLimitPolicy) -> Int {
        let now = max(now, newest ?? now)
        var (low, high) = (0, Int(kept))
        while low < high {
            let middle = (low + high) / 2
            if now - instant(middle) >= policy.windowNanoseconds { low = middle + 1 } else { high = middle }
        }
        return Int(kept) - low
    }
}

extension SlidingWindow: AdmissionWindow {
    func delay(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int64 {
        let missing = cost - (policy.quota - Int(kept))
        guard missing > 0 else { return 0 }
        // The instant whose expiry frees the last missing unit; the newer ones stay.
        let frees = instant(missing - 1) + policy.windowNanoseconds
        // Before the newest admission nothing is admitted sooner than at it.
        return max(0, frees - max(now, instant(Int(kept) - 1)))
    }

    mutating func charge(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int {
        let now = max(now, newest ?? now)
        dropExpired(at: now, window: policy.windowNanoseconds)
        for _ in 0..<cost { append(now, quota: policy.quota) }
        return policy.quota - Int(kept)
    }

    func delayOfMore(at now: Int64, policy: RateLimitPolicy) -> Int64 {
        let live = live(at: now, policy: policy)
        guard live > 0 else { return 0 }
        // More may be kept than a lowered quota admits.
        let next = Int(kept) - live + max(0, live - policy.quota)
        return instant(next) + policy.windowNanoseconds - max(now, instant(Int(kept) - 1))
    }

    func owed(at now: Int64, policy: RateLimitPolicy) -> Int64 {
        guard let newest else { return 0 }
        return max(0, newest + policy.windowNanoseconds - now)
    }

    /// Moves the expiry cursor. Only admissions do: after one, no instant counts as an earlier one, so nothing dropped is missed.
    private mutating func dropExpired(at now: Int64, window: Int64) {
        guard let newest, now - newest < window else {
            (oldest, kept) = (0, 0)
            return
        }
        while now - instants[Int(oldest)] >= window {
            oldest = Int(oldest) + 1 == instants.count ? 0 : oldest + 1
            kept -= 1
        }
    }

    private mutating func append(_ instant: Int64, quota: Int) {
        if Int(kept) == instants.count { grow(quota: quota) }
        let index = Int(oldest) + Int(kept)
        instants[index < instants.count ? index : index - instants.count] = instant
        kept += 1
    }

    private mutating func grow(quota: Int) {
        let size = max(min(quota, max(2, 2 * instants.count)), instants.count + 1)
        var larger: [Int64] = []
        larger.reserveCapacity(size)
        for age in 0..<Int(kept) { larger.append(self.instant(age)) }
        larger.append(contentsOf: repeatElement(0, count: size - larger.count))
        (instants, oldest) = (larger, 0)
    }
}
