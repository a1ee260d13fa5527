import Foundation

/// What the turns of one variant took, in microseconds.
struct Timings: Sendable {
    private var each: [Double] = []
    /// The wall time of a call in each turn: with many at once less than one of them takes.
    private var perCall: [Double] = []

    mutating func add(_ durations: [Duration], wall: Duration) {
        each += durations.map { $0 / .microseconds(1) }
        perCall.append(wall / .microseconds(1) / Double(durations.count))
    }

    /// What a call takes from its beginning to its end.
    var median: Double { each.sorted()[each.count / 2] }
    /// The wall time per call.
    var mean: Double { perCall.reduce(0, +) / Double(perCall.count) }

    /// How much more wall time than another a call takes: the geometric mean over the rounds, and where it is with 95 %.
    func ratio(to other: Timings) -> (mean: Double, low: Double, high: Double) {
        let logs = zip(perCall, other.perCall).map { log($0 / $1) }
        let mean = logs.reduce(0, +) / Double(logs.count)
        let variance = logs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(logs.count - 1)
        let margin = 1.96 * (variance / Double(logs.count)).squareRoot()
        return (exp(mean), exp(mean - margin), exp(mean + margin))
    }
}
