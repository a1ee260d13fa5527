/// A part of the range `0..<1`, and a decoy. ``DecoyMix`` maps each address to a point in this range. If an address has no account and its
/// point is in this part, the server checks the password against the decoy.
///
/// `PostgresStores` stores spans as JSON with these names of the members, so don't rename them.
public struct DecoySpan: Codable, Hashable, Sendable {
    /// A hash that no password matches. It has the same cost as the hashes of some accounts.
    public let decoy: String
    /// The start of the part.
    public let start: Double
    /// The present width of the part. It only shrinks.
    public internal(set) var width: Double
    /// The reserved width: the largest width that the part has had. If new spans find no other space, it shrinks to ``width``.
    public let reach: Double

    /// Creates a span.
    /// - Parameters:
    ///   - decoy: A hash that no password matches.
    ///   - start: The start of the part, from 0 up to but not including 1.
    ///   - width: The present width of the part, at most `reach`.
    ///   - reach: The reserved width.
    public init(decoy: String, start: Double, width: Double, reach: Double) {
        self.decoy = decoy
        self.start = start
        self.width = width
        self.reach = reach
    }
}

/// A store of the spans of ``DecoyMix``. Because the spans are stored, an address has the same decoy after a restart and in every process.
public protocol DecoyStore: Sendable {
    /// Replaces the spans by the result of a closure, in one transaction.
    /// - Parameter change: Receives the stored spans and returns the new spans. The store may call the closure more than once, so the
    ///   closure must have no side effects.
    /// - Returns: The new spans.
    func renewDecoys(_ change: @escaping @Sendable ([DecoySpan]) -> [DecoySpan]) async throws -> [DecoySpan]
}
