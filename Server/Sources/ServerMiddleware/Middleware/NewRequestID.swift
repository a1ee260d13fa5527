/// Ids for requests that bring none.
package enum NewRequestID {
    /// A new id, written as a UUID of version 8 (RFC 9562 §5.8).
    ///
    /// It is no secret and may be guessed: a request may bring any id itself.
    package static func make() -> String {
        let numbers = UniqueNumbers.next()
        let high = numbers.0 & ~0xF000 | 0x8000
        let low = numbers.1 & ~(0b11 << 62) | 0b10 << 62
        return String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[end] = UInt8(ascii: "-")
                    end += 1
                }
                let half = nibble < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - nibble % 16 * 4)) & 0xF
                text[end] = digit < 10 ? 0x30 + digit : 0x57 + digit
                end += 1
            }
            return end
        }
    }
}
