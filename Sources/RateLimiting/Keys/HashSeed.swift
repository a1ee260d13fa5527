/// A secret word that goes before each key into the standard library's hasher.
///
/// The hasher (SipHash-1-3 under the random key of the process) is a pseudorandom function; the word also holds where
/// `SWIFT_DETERMINISTIC_HASHING` takes the process's key away. Its digests mean nothing in another process, so they are never saved.
struct HashSeed: Sendable {
    private let word = UInt64.random(in: .min ... .max)

    func digest(_ key: some Hashable) -> KeyDigest {
        var hasher = Hasher()
        hasher.combine(word)
        hasher.combine(key)
        return KeyDigest(hash: UInt64(bitPattern: Int64(hasher.finalize())))
    }
}
