/// Computes the CRC-32C (Castagnoli, RFC 3720) of bytes, eight bytes at a time. The bytes may be added in parts of any size.
struct CRC32C {
    private var register: UInt32 = 0xFFFF_FFFF

    /// The checksum of the bytes so far; 0 for no bytes.
    var value: UInt32 { ~register }

    /// Adds bytes to the checksum.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var crc = register
        Self.tables.withUnsafeBufferPointer { tables in
            var index = 0
            while index + 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(crc)
                crc = 0
                for byte in 0..<8 { crc ^= tables[(7 - byte) << 8 | Int(truncatingIfNeeded: word >> (8 * UInt64(byte)) & 0xFF)] }
                index += 8
            }
            while index < bytes.count {
                crc = crc >> 8 ^ tables[Int((crc ^ UInt32(bytes[index])) & 0xFF)]
                index += 1
            }
        }
        register = crc
    }

    /// Adds a number in little-endian order.
    mutating func update(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { update($0) }
    }

    /// Table `k` begins at the index `256 * k`. It contains, for each value of a byte, the checksum's change by this byte and `k` zero
    /// bytes after it.
    private static let tables: [UInt32] = {
        var tables = (0..<256).map { byte in
            (0..<8).reduce(UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0x82F6_3B78 : 0) }
        }
        for index in 256..<8 * 256 {
            let previous = tables[index - 256]
            tables.append(previous >> 8 ^ tables[Int(previous & 0xFF)])
        }
        return tables
    }()
}
