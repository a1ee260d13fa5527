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
            for hyphen in [8, 13, 18, 23] { text[hyphen] = UInt8(ascii: "-") }
            text.write(high >> 32, digits: 8, at: 0)
            text.write(high >> 16, digits: 4, at: 9)
            text.write(high, digits: 4, at: 14)
            text.write(low >> 48, digits: 4, at: 19)
            text.write(low, digits: 12, at: 24)
            return 36
        }
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes the last digits of a number: hexadecimal, in lower case.
    func write(_ number: UInt64, digits: Int, at start: Int) {
        var rest = number
        for place in (start..<start + digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: rest & 0xF)
            self[place] = digit < 10 ? 0x30 + digit : 0x57 + digit
            rest >>= 4
        }
    }
}
