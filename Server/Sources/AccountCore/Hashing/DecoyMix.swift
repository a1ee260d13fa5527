import Crypto
import Foundation

/// What is verified for an address without an account, so that it takes as long as for some account that there is.
///
/// While accounts have hashes of other systems, some of them take ten times as long as our own. A single decoy would tell apart who
/// was imported; so addresses without an account get decoys of all costs, in the shares that the costs have among the accounts.
/// Which one an address gets is fixed by a keyed hash: as people sign in and their hashes are renewed, addresses go over from the
/// costly decoys to our own as accounts do, and never back.
public struct DecoyMix: Sendable {
    private let ceilings: [(decoy: String, share: Double)]

    /// No account has a hash of another system.
    public static let ownAlone = DecoyMix(foreign: [:], total: 0)

    /// Creates a mix.
    /// - Parameters:
    ///   - foreign: How many accounts have a hash of each cost, by a decoy of that cost.
    ///   - total: How many accounts there are.
    public init(foreign: [String: Int], total: Int) {
        var sum = 0
        ceilings = foreign.sorted { $0.key < $1.key }.map { decoy, count in
            sum += count
            return (decoy, Double(sum) / Double(max(total, sum)))
        }
    }

    /// The decoy at a point in `0..<1`; `nil` for our own.
    func decoy(at point: Double) -> String? { ceilings.first { point < $0.share }?.decoy }
}

extension SymmetricKey {
    /// A point in `0..<1` that an address always has, and that nobody can tell without the key.
    func point(of text: String) -> Double {
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: self)
        return Double(code.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) / Double(1 << 48)
    }
}
