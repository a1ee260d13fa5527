import CoreMetrics

/// The counter of requests with an idempotency key: `idempotency_requests`, by `outcome`.
struct IdempotencyMetrics: Sendable {
    enum Outcome: String, CaseIterable {
        /// Worked on.
        case executed
        /// Answered from what was kept.
        case replayed
        /// Refused, since the first is still being worked on.
        case running
        /// Refused, since the key was used for another request.
        case reused
        /// Refused, since the answer was not kept.
        case notKept = "not_kept"
        /// The store could not say, keep or take any more.
        case failed
    }

    private let counters: [Outcome: Counter]

    init(factory: any MetricsFactory) {
        let pairs = Outcome.allCases.map { outcome in
            (outcome, Counter(label: "idempotency_requests", dimensions: [("outcome", outcome.rawValue)], factory: factory))
        }
        counters = Dictionary(uniqueKeysWithValues: pairs)
    }

    func count(_ outcome: Outcome) {
        counters[outcome]?.increment()
    }
}
