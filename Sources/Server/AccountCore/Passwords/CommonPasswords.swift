import Crypto
import Foundation

/// The most common passwords, which attackers guess first.
///
/// Contains the merged lists of Django and zxcvbn, as a Golomb-coded set of hashes (Putze, Sanders, Singler: Cache-, Hash- and
/// Space-Efficient Bloom Filters, 2009). The lookup finds every common password. By mistake, it also finds other passwords: about one of
/// 2^18 for each spelling that it looks up, and it looks up at most four. The lookup ignores case. Some digits and signs often replace
/// letters, such as `0` for `o`. The lookup treats such a digit or sign like the letter.
enum CommonPasswords {
    /// Returns whether a password is on the list. O(m + log n) for m characters and n listed passwords; the first call also decodes the
    /// list.
    static func contains(_ password: String) -> Bool {
        // No password on the list is longer than 128 bytes.
        guard password.utf8.count <= 128 else { return false }
        let folded = password.precomposedStringWithCompatibilityMapping.lowercased()
        let plain = spellings(of: folded)
        return ([folded] + plain).contains { has(place(of: $0)) }
    }

    /// Returns the variants of a password in which digits and signs are replaced by letters. The digit `1` may stand for one of two letters
    /// or for itself, so there are several variants.
    private static func spellings(of password: String) -> [String] {
        ["1", "i", "l"].map { (one: Character) in
            let letters: [Character: Character] = [
                "0": "o", "1": one, "!": "i", "3": "e", "4": "a", "@": "a", "5": "s", "$": "s", "7": "t", "+": "t", "8": "b",
            ]
            return String(password.map { letters[$0] ?? $0 })
        }
    }

    /// Returns the hash of a password: a number from 0 up to but not including `count << riceBits`.
    private static func place(of password: String) -> UInt64 {
        let hash = SHA256.hash(data: Data(password.utf8)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return hash.multipliedFullWidth(by: UInt64(count) << UInt64(riceBits)).high
    }

    /// Returns whether ``places`` contains a hash. Uses binary search.
    private static func has(_ place: UInt64) -> Bool {
        var range = places[...]
        while let middle = range.indices.middle {
            if range[middle] == place { return true }
            range = range[middle] < place ? range[(middle + 1)...] : range[..<middle]
        }
        return false
    }

    /// The sorted hashes of all listed passwords: 8 bytes each, about 300 KB. The list is decoded at its first use.
    static let places: [UInt64] = {
        var places: [UInt64] = []
        places.reserveCapacity(count)
        var bits = BitReader(Data(base64Encoded: filter) ?? Data())
        var last: UInt64 = 0
        for _ in 0..<count {
            guard let difference = bits.rice(riceBits) else { preconditionFailure("the filter of common passwords is cut off") }
            last += difference
            places.append(last)
        }
        return places
    }()
}

extension Range<Int> {
    /// The index in the middle of the range; `nil` if the range is empty.
    fileprivate var middle: Int? { isEmpty ? nil : lowerBound + count / 2 }
}

/// Reads bits, the highest bit of a byte first.
private struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ data: Data) {
        bytes = Array(data)
    }

    /// Reads a Rice-coded number: a quotient in unary, a zero, and a remainder of the given number of bits.
    mutating func rice(_ width: Int) -> UInt64? {
        var value: UInt64 = 0
        while let bit = next() {
            guard bit == 0 else {
                value += 1
                continue
            }
            for _ in 0..<width {
                guard let bit = next() else { return nil }
                value = value << 1 | UInt64(bit)
            }
            return value
        }
        return nil
    }

    /// Returns the next bit; `nil` at the end.
    private mutating func next() -> UInt8? {
        guard position < bytes.count * 8 else { return nil }
        defer { position += 1 }
        return bytes[position >> 3] >> UInt8(7 - position & 7) & 1
    }
}
