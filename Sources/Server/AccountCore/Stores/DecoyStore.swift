/// A part of `0..<1`: the addresses without an account whose points lie in it are checked against one decoy.
public struct DecoySpan: Hashable, Sendable {
    /// A hash that no password has, of the cost of accounts' hashes.
    public let decoy: String
    /// Where it begins.
    public let start: Double
    /// How much of it is in use. It only shrinks.
    public internal(set) var width: Double
    /// How much of it has ever been in use.
    public let reach: Double

    /// Creates a span.
    public init(decoy: String, start: Double, width: Double, reach: Double) {
        self.decoy = decoy
        self.start = start
        self.width = width
        self.reach = reach
    }
}

/// Where the decoys are kept, so that an address has the same one after a restart and in every process.
public protocol DecoyStore: Sendable {
    /// Replaces the spans by what a closure makes of them, in one transaction.
    /// - Returns: The new spans.
    func renewDecoys(_ change: @escaping @Sendable ([DecoySpan]) -> [DecoySpan]) async throws -> [DecoySpan]
}
