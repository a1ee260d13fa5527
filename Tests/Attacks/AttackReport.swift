/// What an attack showed.
public struct AttackReport: Sendable {
    /// Something that must hold, and what was counted.
    public struct Requirement: Sendable {
        /// What must hold.
        public let text: String
        /// What was counted.
        public let counted: String
        /// Whether it holds.
        public let isMet: Bool
    }

    /// What must hold.
    public private(set) var requirements: [Requirement] = []
    /// What else was counted or measured, in the order in which it is told.
    public private(set) var facts: [(name: String, value: String)] = []

    /// Creates a report without requirements.
    public init() {}

    /// Whether all requirements hold.
    public var isMet: Bool { requirements.allSatisfy(\.isMet) }

    /// Adds something that must hold.
    public mutating func require(_ text: String, counted: String, _ isMet: Bool) {
        requirements.append(Requirement(text: text, counted: counted, isMet: isMet))
    }

    /// Adds that at least so many percent of innocent calls succeed.
    public mutating func require(_ text: String, served tally: Tally, percent: Int) {
        require(
            "\(text): at least \(percent) % served",
            counted: "\(tally)",
            tally.served * 100 >= tally.total * percent && tally.total > 0
        )
    }

    /// Adds a fact that is no requirement.
    public mutating func note(_ name: String, _ value: some CustomStringConvertible) {
        facts.append((name, value.description))
    }
}

/// How many calls ended with which status.
public struct Tally: Sendable, CustomStringConvertible {
    /// The calls by status; 0 stands for those without a response.
    public private(set) var statuses: [Int: Int] = [:]

    /// Creates an empty tally.
    public init() {}

    /// Counts a call.
    public mutating func add(_ status: Int) { statuses[status, default: 0] += 1 }

    /// All calls.
    public var total: Int { statuses.values.reduce(0, +) }
    /// Those that succeeded.
    public var served: Int { statuses.filter { (200..<300).contains($0.key) }.values.reduce(0, +) }

    /// The number of calls with a status.
    public subscript(status: Int) -> Int { statuses[status, default: 0] }

    public var description: String {
        let parts = statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key == 0 ? "no response" : "\($0.key)")" }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}
