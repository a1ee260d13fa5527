/// The state of SipHash (Aumasson and Bernstein, 2012). The hash function takes 64-bit words and returns 64 bits.
@usableFromInline
struct SipState: Sendable {
    @usableFromInline var v0: UInt64
    @usableFromInline var v1: UInt64
    @usableFromInline var v2: UInt64
    @usableFromInline var v3: UInt64

    @inlinable
    init(low: UInt64, high: UInt64) {
        v0 = low ^ 0x736f_6d65_7073_6575
        v1 = high ^ 0x646f_7261_6e64_6f6d
        v2 = low ^ 0x6c79_6765_6e65_7261
        v3 = high ^ 0x7465_6462_7974_6573
    }

    @inlinable
    @inline(__always)
    mutating func absorb(_ word: UInt64, rounds: Int) {
        v3 ^= word
        for _ in 0..<rounds { round() }
        v0 ^= word
    }

    @inlinable
    @inline(__always)
    mutating func finish(rounds: Int) -> UInt64 {
        v2 ^= 0xff
        for _ in 0..<rounds { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    @inlinable
    @inline(__always)
    mutating func round() {
        v0 &+= v1
        v1 = v1 &<< 13 | v1 &>> 51
        v1 ^= v0
        v0 = v0 &<< 32 | v0 &>> 32
        v2 &+= v3
        v3 = v3 &<< 16 | v3 &>> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 &<< 21 | v3 &>> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 &<< 17 | v1 &>> 47
        v1 ^= v2
        v2 = v2 &<< 32 | v2 &>> 32
    }
}

/// The secret words with which a limiter hashes keys that are never saved.
///
/// The standard library's hasher is SipHash-1-3 with a random key for each process. The environment variable `SWIFT_DETERMINISTIC_HASHING`
/// disables the random key. Therefore, the limiter hashes a secret word before each key. For integers, the limiter uses the SipHash-1-3 in
/// this file instead of the hasher. This SipHash-1-3 takes a third of the hasher's time, because the compiler inlines it.
@usableFromInline
struct HashSeed: Sendable {
    @usableFromInline let low = UInt64.random(in: .min ... .max)
    @usableFromInline let high = UInt64.random(in: .min ... .max)

    init() {}

    @inlinable
    func digest<Key: Hashable>(_ key: Key) -> KeyDigest {
        if let word = key as? UInt64 { return KeyDigest(hash: sip(word)) }
        if let word = key as? Int { return KeyDigest(hash: sip(UInt64(bitPattern: Int64(word)))) }
        var hasher = Hasher()
        hasher.combine(low)
        hasher.combine(key)
        return KeyDigest(hash: UInt64(bitPattern: Int64(hasher.finalize())))
    }

    @inlinable
    func sip(_ word: UInt64) -> UInt64 {
        var state = SipState(low: low, high: high)
        state.absorb(word, rounds: 1)
        state.absorb(8 << 56, rounds: 1)
        return state.finish(rounds: 3)
    }
}
