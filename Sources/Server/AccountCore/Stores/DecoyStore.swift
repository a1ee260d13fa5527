/// A part of the range `0..<1`, and its decoy. ``DecoyMix`` maps each address to a point in this range. If an address has no account and
/// its point is in this part, the server checks the password against this decoy.
public struct DecoySpan: Hashable, Sendable {
    /// A hash that no password matches, with the cost of some accounts' hashes.
    public let decoy: String
    /// The start of the part.
    public let start: Double
    /// The width in use. It only shrinks.
    public internal(set) var width: Double
    /// The largest width that has ever been in use.
    public let reach: Double

    /// Creates a span.
    /// - Parameters:
    ///   - decoy: A hash that no password matches.
    ///   - start: The start of the part, from 0 up to but not including 1.
    ///   - width: The width in use, at most `reach`.
    ///   - reach: The largest width that has ever been in use.
    public init(decoy: String, start: Double, width: Double, reach: Double) {
        self.decoy = decoy
        self.start = start
        self.width = width
        self.reach = reach
    }
}

/// A store of the spans of ``DecoyMix``. With it, an address has the same decoy after a restart and in every process.
public protocol DecoyStore: Sendable {
    /// Replaces the spans by the result of a closure, in one transaction.
    /// - Parameter change: Receives the stored spans and returns the new spans. The store may call it more than once, so it must have no
    ///   side effects.
    /// - Returns: The new spans.
    func renewDecoys(_ change: @escaping @Sendable ([DecoySpan]) -> [DecoySpan]) async throws -> [DecoySpan]
}
