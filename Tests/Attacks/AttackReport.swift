/// The result of an attack.
public struct AttackReport: Sendable {
    /// A condition that must be true, and the measurement.
    public struct Requirement: Sendable {
        /// The condition.
        public let text: String
        /// The measurement.
        public let counted: String
        /// Whether the condition is true.
        public let isMet: Bool
    }

    /// The conditions that must be true.
    public private(set) var requirements: [Requirement] = []
    /// Other measurements, in the order in which they are printed.
    public private(set) var facts: [(name: String, value: String)] = []

    /// Creates a report without requirements.
    public init() {}

    /// Whether all requirements are met.
    public var isMet: Bool { requirements.allSatisfy(\.isMet) }

    /// Adds a requirement.
    public mutating func require(_ text: String, counted: String, _ isMet: Bool) {
        requirements.append(Requirement(text: text, counted: counted, isMet: isMet))
    }

    /// Requires that at least a percentage of legitimate calls succeeds.
    public mutating func require(_ text: String, served tally: Tally, percent: Int) {
        require(
            "\(text): at least \(percent) % served",
            counted: "\(tally)",
            tally.served * 100 >= tally.total * percent && tally.total > 0
        )
    }

    /// Adds a measurement without a requirement.
    public mutating func note(_ name: String, _ value: some CustomStringConvertible) {
        facts.append((name, value.description))
    }
}

/// The number of calls by status.
public struct Tally: Sendable, CustomStringConvertible {
    /// The calls by status; 0 counts those without a response.
    public private(set) var statuses: [Int: Int] = [:]

    /// Creates an empty tally.
    public init() {}

    /// Counts a call.
    public mutating func add(_ status: Int) { statuses[status, default: 0] += 1 }

    /// The number of all calls.
    public var total: Int { statuses.values.reduce(0, +) }
    /// The number of successful calls.
    public var served: Int { statuses.filter { (200..<300).contains($0.key) }.values.reduce(0, +) }

    /// Returns the number of calls with a status.
    public subscript(status: Int) -> Int { statuses[status, default: 0] }

    public var description: String {
        let parts = statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key == 0 ? "no response" : "\($0.key)")" }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}
