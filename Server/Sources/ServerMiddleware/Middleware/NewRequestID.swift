import Synchronization

/// Ids for requests that bring none.
package enum NewRequestID {
    private static let seeds = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
    private static let count = Atomic<UInt64>(0)

    /// A new id, written as a UUID of version 8 (RFC 9562 §5.8).
    ///
    /// Both halves are a count mixed with a random number of the process, so that ids differ within a process and between
    /// processes. They are no secret and may be guessed: a request may bring any id itself.
    /// Made without a call of the system, once for each request.
    package static func make() -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let high = mixed(number &+ seeds.0) & ~0xF000 | 0x8000
        let low = mixed(number &+ seeds.1) & ~(0b11 << 62) | 0b10 << 62
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

    /// The last steps of SplitMix64: different numbers stay different.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
