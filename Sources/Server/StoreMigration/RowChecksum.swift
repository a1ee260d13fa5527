import Crypto
import Foundation

/// The number of rows and the sum of their hashes. The order of the rows doesn't change the checksum, so each database can read the rows in
/// its own order.
///
/// The checksum finds accidental differences, such as missing or damaged rows. The checksum doesn't protect against attackers, who could
/// construct other rows with an equal sum. Two different sets of rows have the same checksum by chance with a probability of about 2⁻⁶⁴.
public struct RowChecksum: Hashable, Sendable {
    /// The number of rows.
    public private(set) var count = 0
    /// The sum, modulo 2^64, of the first 64 bits of each row's SHA-256.
    public private(set) var sum: UInt64 = 0

    /// Adds a row. The hash includes the length of each column, so two rows with the same bytes in different columns have different hashes.
    /// - Parameter columns: The values of the columns in PostgreSQL's binary format; `nil` is `NULL`.
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
