/// Knows what a limit may admit, by keeping every admission of the last window. It shares no code with what it watches.
struct WindowOracle {
    private let quota: Int
    private let window: Int64
    private var admissions: [(instant: Int64, cost: Int)] = []
    private var first = 0
    private var sum = 0
    /// How many windows held more than the quota.
    private(set) var violations = 0
    /// The most units that a window held.
    private(set) var most = 0

    init(quota: Int, window: Int64) {
        self.quota = quota
        self.window = window
    }

    /// The units admitted in the half-open window that ends with this instant. Instants must not go back.
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

    /// Writes an admission down. Any window that holds too much also does when it ends with an admission.
    mutating func admitted(_ cost: Int, at now: Int64) {
        sum = load(at: now) + cost
        admissions.append((now, cost))
        most = max(most, sum)
        if sum > quota { violations += 1 }
    }
}
