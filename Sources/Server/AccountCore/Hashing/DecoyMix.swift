import Crypto
import Foundation

/// What is verified for an address without an account, so that it takes as long as for some account that there is.
///
/// While accounts have hashes of other costs than our own, some of them take ten times as long. A single decoy would tell apart who
/// was imported; so addresses without an account get decoys of all costs, in the shares that the costs have among the accounts.
/// Which one an address gets is fixed by a keyed hash: its point in `0..<1`, of which each cost has spans. As people sign in and their
/// hashes are renewed, spans shrink and addresses go over from the costly decoys to our own as accounts do; none goes to another
/// cost, or back. After an import a cost that has more accounts than before takes room that no cost has had; only when there is none
/// left, room that was given up.
public struct DecoyMix: Hashable, Sendable {
    /// Disjoint parts of `0..<1`; the rest is our own's.
    public private(set) var spans: [DecoySpan]

    /// No account has a hash of another cost.
    public static let ownAlone = DecoyMix(spans: [])

    /// Creates a mix of spans that were kept.
    public init(spans: [DecoySpan]) {
        self.spans = spans
    }

    /// Gives each decoy the share of the accounts whose hashes cost as much.
    /// - Parameters:
    ///   - counts: How many accounts have a hash of each cost, by a decoy of that cost.
    ///   - total: How many accounts there are.
    public mutating func follow(_ counts: [String: Int], of total: Int) {
        let total = Double(max(total, counts.values.reduce(0, +), 1))
        var missing: [(decoy: String, width: Double)] = []
        // What is given up comes first: others may need the room.
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

    /// The decoy at a point in `0..<1`; `nil` for our own.
    func decoy(at point: Double) -> String? {
        spans.first { $0.start <= point && point < $0.start + $0.width }?.decoy
    }

    /// Less than the share of one account.
    private static let leastWidth = 1e-12

    private func width(of decoy: String) -> Double { spans.reduce(0) { $0 + ($1.decoy == decoy ? $1.width : 0) } }

    private mutating func abandon(_ width: Double, of decoy: String) {
        var rest = width
        for index in spans.indices.reversed() where spans[index].decoy == decoy {
            let cut = min(rest, spans[index].width)
            spans[index].width -= cut
            rest -= cut
        }
    }

    /// Takes room that no span has reached.
    /// - Returns: How much is missing still.
    private mutating func take(_ width: Double, for decoy: String) -> Double {
        var rest = width
        for gap in gaps where rest > Self.leastWidth {
            let taken = min(rest, gap.upperBound - gap.lowerBound)
            spans.append(DecoySpan(decoy: decoy, start: gap.lowerBound, width: taken, reach: taken))
            rest -= taken
        }
        return rest
    }

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
    /// A point in `0..<1` that an address always has, and that nobody can tell without the key.
    func point(of text: String) -> Double {
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: self)
        return Double(code.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) / Double(1 << 48)
    }
}
