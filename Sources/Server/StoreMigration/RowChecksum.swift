import Crypto
import Foundation

/// The number of rows and the sum of their hashes, which does not depend on their order.
///
/// It finds differences by mistake, such as missing or damaged rows; an attacker who chooses rows could construct equal sums. Equal
/// checksums of *n* different rows by chance have a probability of about 2⁻⁶⁴.
public struct RowChecksum: Hashable, Sendable {
    /// The number of rows.
    public private(set) var count = 0
    /// The sum, modulo 2^64, of the first 64 bits of each row's SHA-256.
    public private(set) var sum: UInt64 = 0

    /// Adds a row: the values of its columns in PostgreSQL's binary format; `nil` is `NULL`. The length of each column is hashed, too, so
    /// that shifted bytes change the hash.
    mutating func add(_ columns: [[UInt8]?]) {
        var bytes: [UInt8] = []
        for column in columns {
            withUnsafeBytes(of: Int64(column?.count ?? -1).bigEndian) { bytes += $0 }
            if let column { bytes += column }
        }
        count += 1
        sum &+= SHA256.hash(data: bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
