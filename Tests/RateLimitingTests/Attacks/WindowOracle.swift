/// Computes what a limit may admit from all admissions of the last window. It shares no code with the limiters.
struct WindowOracle {
    private let quota: Int
    private let window: Int64
    private var admissions: [(instant: Int64, cost: Int)] = []
    private var first = 0
    private var sum = 0
    /// The number of windows that exceeded the quota.
    private(set) var violations = 0
    /// The most units in any window.
    private(set) var most = 0

    init(quota: Int, window: Int64) {
        self.quota = quota
        self.window = window
    }

    /// Returns the units admitted in the half-open window that ends at this instant. Instants must not decrease.
    mutating func load(at now: Int64) -> Int {
        while first < admissions.count, admissions[first].instant <= now - window {
            sum -= admissions[first].cost
            first += 1
        }
        if first > 4_096, first * 2 > admissions.count {
            admissions.removeFirst(first)
            first = 0
        }
        return sum
    }

    /// Records an admission. A window that exceeds the quota also does so when it ends with an admission.
    mutating func admitted(_ cost: Int, at now: Int64) {
        sum = load(at: now) + cost
        admissions.append((now, cost))
        most = max(most, sum)
        if sum > quota { violations += 1 }
    }
}
