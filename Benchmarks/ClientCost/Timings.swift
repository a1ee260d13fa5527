import Foundation

/// The measurements of one variant in all rounds, in microseconds.
struct Timings: Sendable {
    private var each: [Double] = []
    /// The wall time per call of each turn. With many calls at once this is less than one call takes.
    private var wallPerCall: [Double] = []
    /// The processor time of the whole process per call of each turn, the server's included.
    private var processorPerCall: [Double] = []

    mutating func add(_ turn: Turn) {
        each += turn.each.map { $0 / .microseconds(1) }
        wallPerCall.append(turn.wall / .microseconds(1) / Double(turn.each.count))
        processorPerCall.append(turn.processor / .microseconds(1) / Double(turn.each.count))
    }

    /// The median time of one call from its beginning to its end.
    var median: Double { each.sorted()[each.count / 2] }
    /// The median over the rounds of the wall time per call.
    var wall: Double { wallPerCall.sorted()[wallPerCall.count / 2] }
    /// The median over the rounds of the processor time per call.
    var processor: Double { processorPerCall.sorted()[processorPerCall.count / 2] }

    /// The wall time relative to another variant in the same rounds.
    func wallRatio(to other: Timings) -> Ratio { Ratio(wallPerCall, other.wallPerCall) }
    /// The processor time relative to another variant in the same rounds.
    func processorRatio(to other: Timings) -> Ratio { Ratio(processorPerCall, other.processorPerCall) }
}

/// One turn: a number of calls of one variant.
struct Turn: Sendable {
    var each: [Duration]
    var wall: Duration
    var processor: Duration
}

/// The median of the ratios of pairs, and the interval that contains it with 95 % (order statistics; no distribution is assumed).
struct Ratio: Sendable {
    var median: Double
    var low: Double
    var high: Double

    init(_ values: [Double], _ others: [Double]) {
        let ratios = zip(values, others).map { $0 / $1 }.sorted()
        let count = Double(ratios.count)
        let margin = 1.96 * (count / 4).squareRoot()
        let place = { (position: Double) in min(max(Int(position), 0), ratios.count - 1) }
        median = ratios[ratios.count / 2]
        low = ratios[place((count / 2 - margin).rounded(.down))]
        high = ratios[place((count / 2 + margin).rounded(.up))]
    }
}
