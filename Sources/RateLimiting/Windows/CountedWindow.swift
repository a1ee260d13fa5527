/// The state that a policy's algorithm asks for.
enum CountedWindow: Sendable {
    case sliding(SlidingWindow)
    case strict(StrictGCRA)
    case plain(PlainGCRA)

    init(_ algorithm: RateLimitAlgorithm) {
        switch algorithm {
        case .slidingWindow: self = .sliding(SlidingWindow())
        case .strictGCRA: self = .strict(StrictGCRA())
        case .plainGCRA: self = .plain(PlainGCRA())
        }
    }
}

extension CountedWindow: AdmissionWindow {
    func delay(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int64 {
        switch self {
        case .sliding(let window): window.delay(at: now, policy: policy, cost: cost)
        case .strict(let window): window.delay(at: now, policy: policy, cost: cost)
        case .plain(let window): window.delay(at: now, policy: policy, cost: cost)
        }
    }

    mutating func charge(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int {
        switch self {
        case .sliding(var window):
            // Emptied first, so that the ring has one owner and is changed in place.
            self = .strict(StrictGCRA())
            let remaining = window.charge(at: now, policy: policy, cost: cost)
            self = .sliding(window)
            return remaining
        case .strict(var window):
            let remaining = window.charge(at: now, policy: policy, cost: cost)
            self = .strict(window)
            return remaining
        case .plain(var window):
            let remaining = window.charge(at: now, policy: policy, cost: cost)
            self = .plain(window)
            return remaining
        }
    }

    func remaining(at now: Int64, policy: RateLimitPolicy) -> Int {
        switch self {
        case .sliding(let window): window.remaining(at: now, policy: policy)
        case .strict(let window): window.remaining(at: now, policy: policy)
        case .plain(let window): window.remaining(at: now, policy: policy)
        }
    }

    func delayOfMore(at now: Int64, policy: RateLimitPolicy) -> Int64 {
        switch self {
        case .sliding(let window): window.delayOfMore(at: now, policy: policy)
        case .strict(let window): window.delayOfMore(at: now, policy: policy)
        case .plain(let window): window.delayOfMore(at: now, policy: policy)
        }
    }

    func owed(at now: Int64, policy: RateLimitPolicy) -> Int64 {
        switch self {
        case .sliding(let window): window.owed(at: now, policy: policy)
        case .strict(let window): window.owed(at: now, policy: policy)
        case .plain(let window): window.owed(at: now, policy: policy)
        }
    }

    func isFresh(at now: Int64, policy: RateLimitPolicy) -> Bool {
        switch self {
        case .sliding(let window): window.isFresh(at: now, policy: policy)
        case .strict(let window): window.isFresh(at: now, policy: policy)
        case .plain(let window): window.isFresh(at: now, policy: policy)
        }
    }
}
