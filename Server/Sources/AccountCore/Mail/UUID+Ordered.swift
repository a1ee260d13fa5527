import Foundation

extension UUID {
    /// An id that sorts behind those of earlier milliseconds: a UUID of version 7 (RFC 9562 §5.7).
    ///
    /// Rows with such ids come to stand beside each other in an index. Random ones dirty a page each, and each page is written at the commit.
    init(orderedBy time: Date) {
        let milliseconds = UInt64(min(max(time.timeIntervalSince1970 * 1_000, 0), 0xFFFF_FFFF_FFFF))
        let high = milliseconds << 16 | 0x7000 | UInt64.random(in: 0...0xFFF)
        let low = 0b10 << 62 | UInt64.random(in: 0...(.max >> 2))
        let bytes = [high, low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
        }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
