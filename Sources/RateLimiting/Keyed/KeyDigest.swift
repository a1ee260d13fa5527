/// What a limiter keeps of a key: 128 bits from which the key can't be read back.
///
/// Two of the standard library's hashers (SipHash-1-3 under the random key of the process, a pseudorandom function) each take a
/// secret word of the limiter's before the key, and give one half. Whoever chooses keys sees no digest and can't aim for
/// collisions: he would have to find one of 2⁶⁴ by chance. Own SipHash over bytes would ask every key for its bytes, which
/// `Hashable` doesn't give. The words also hold where `SWIFT_DETERMINISTIC_HASHING` takes the process's key away. A digest means
/// nothing in another process, so it is never saved.
struct KeyDigest: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// The secret words of a limiter.
    struct Secret: Sendable {
        private let first = UInt64.random(in: .min ... .max)
        private let second = UInt64.random(in: .min ... .max)

        func digest(_ key: some Hashable) -> KeyDigest {
            KeyDigest(high: Self.half(key, under: first), low: Self.half(key, under: second))
        }

        private static func half(_ key: some Hashable, under word: UInt64) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(word)
            hasher.combine(key)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(low)
    }
}
