import Crypto
import Foundation

/// Chooses the decoy that the server verifies for an address without an account. A decoy is a hash that no password matches. With decoys,
/// the time of a sign-in doesn't disclose whether an account exists.
///
/// Imported accounts may have hashes that take ten times as long to verify as the hashes that the server creates. If all addresses without
/// an account had the same decoy, a slow response would disclose an imported account. So the decoys have different costs. For example, if a
/// tenth of the accounts have hashes of a certain cost, a tenth of the addresses without an account have a decoy of this cost.
///
/// A keyed hash maps each address to a fixed point in `0..<1`. A span is a part of this range. All addresses in a span have decoys of the
/// same cost. A cost can have several spans. Addresses whose points are outside all spans have decoys of the server's own cost.
///
/// When a user with an imported hash signs in, the server replaces the hash by one with its own cost. The decoys must imitate this
/// replacement. So the spans of the imported cost shrink, and the addresses in the freed parts get the server's own cost. Apart from this
/// change and from imports, an address keeps its cost. If an import adds accounts with a certain cost, new spans of this cost use parts
/// that no span has covered before. They use freed parts only if there is no other space.
public struct DecoyMix: Hashable, Sendable {
    /// Disjoint parts of `0..<1`. Addresses outside these parts have decoys of the server's own cost.
    public private(set) var spans: [DecoySpan]

    /// The mix for a server on which all accounts have hashes of the server's own cost.
    public static let ownAlone = DecoyMix(spans: [])

    /// Creates a mix from stored spans.
    public init(spans: [DecoySpan]) {
        self.spans = spans
    }

    /// Changes the spans so that their widths match the accounts: the total width for each cost becomes the fraction of all accounts that
    /// have this cost.
    /// - Parameters:
    ///   - counts: The numbers of accounts whose hashes have another cost than the server's own. The key of each number is the decoy with
    ///     this cost.
    ///   - total: The number of all accounts.
    public mutating func follow(_ counts: [String: Int], of total: Int) {
        let total = Double(max(total, counts.values.reduce(0, +), 1))
        var missing: [(decoy: String, width: Double)] = []
        // Spans shrink before new spans are added, because the new spans may need the freed parts.
        for decoy in Set(spans.map(\.decoy)).union(counts.keys).sorted() {
            let change = Double(counts[decoy] ?? 0) / total - width(of: decoy)
            if change < -Self.leastWidth { abandon(-change, of: decoy) }
            if change > Self.leastWidth { missing.append((decoy, change)) }
        }
        for (decoy, width) in missing {
            let rest = take(width, for: decoy)
            guard rest > Self.leastWidth else { continue }
            spans = spans.filter { $0.width > 0 }.map { span in
                DecoySpan(decoy: span.decoy, start: span.start, width: span.width, reach: span.width)
            }
            _ = take(rest, for: decoy)
        }
    }

    /// Returns the decoy at a point in `0..<1`; `nil` for the server's own cost. O(number of spans).
    ///
    /// - Parameter point: The point of an address, from 0 up to but not including 1.
    func decoy(at point: Double) -> String? {
        spans.first { $0.start <= point && point < $0.start + $0.width }?.decoy
    }

    /// The smallest difference in width that counts. Smaller differences are rounding errors. The width for a single account is larger than
    /// this value.
    private static let leastWidth = 1e-12

    /// Returns the width of all spans of a decoy.
    private func width(of decoy: String) -> Double { spans.reduce(0) { $0 + ($1.decoy == decoy ? $1.width : 0) } }

    /// Shrinks the spans of a decoy by a total width, the newest span first.
    private mutating func abandon(_ width: Double, of decoy: String) {
        var rest = width
        for index in spans.indices.reversed() where spans[index].decoy == decoy {
            let cut = min(rest, spans[index].width)
            spans[index].width -= cut
            rest -= cut
        }
    }

    /// Adds spans with a total width for a decoy, in parts of the range that no span has reserved.
    /// - Returns: The width for which there was no space.
    private mutating func take(_ width: Double, for decoy: String) -> Double {
        var rest = width
        for gap in gaps where rest > Self.leastWidth {
            let taken = min(rest, gap.upperBound - gap.lowerBound)
            spans.append(DecoySpan(decoy: decoy, start: gap.lowerBound, width: taken, reach: taken))
            rest -= taken
        }
        return rest
    }

    /// The parts of the range that no span has reserved; see ``DecoySpan/reach``.
    private var gaps: [Range<Double>] {
        var gaps: [Range<Double>] = []
        var end = 0.0
        for span in spans.sorted(by: { $0.start < $1.start }) {
            if span.start > end + Self.leastWidth { gaps.append(end..<span.start) }
            end = max(end, span.start + span.reach)
        }
        if end < 1 - Self.leastWidth { gaps.append(end..<1) }
        return gaps
    }
}

extension SymmetricKey {
    /// Returns the point of an address in `0..<1`. With the same key, the point is always the same. Without the key, it can't be predicted.
    func point(of text: String) -> Double {
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: self)
        return Double(code.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) / Double(1 << 48)
    }
}
