/// The secret words under which a limiter hashes keys that it never saves.
///
/// The standard library's hasher (SipHash-1-3 under the random key of the process) is a pseudorandom function; a secret word before
/// each key also holds where `SWIFT_DETERMINISTIC_HASHING` takes the process's key away. Whole numbers go through SipHash-1-3 here,
/// which takes a third of the time since it is compiled into the caller.
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
