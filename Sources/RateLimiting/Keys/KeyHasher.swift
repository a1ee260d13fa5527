/// SipHash-2-4 over 64-bit words (Aumasson and Bernstein, 2012): a keyed hash that says the same in every process.
public struct KeyHasher: Sendable {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var byteCount: UInt64 = 0

    init(_ secret: KeySecret) {
        v0 = secret.low ^ 0x736f_6d65_7073_6575
        v1 = secret.high ^ 0x646f_7261_6e64_6f6d
        v2 = secret.low ^ 0x6c79_6765_6e65_7261
        v3 = secret.high ^ 0x7465_6462_7974_6573
    }

    /// Takes a word in.
    public mutating func combine(_ word: UInt64) {
        byteCount &+= 8
        compress(word)
    }

    /// Takes bytes in, their number before them, so that no two sequences of parts read alike. O(bytes).
    public mutating func combine(bytes: UnsafeRawBufferPointer) {
        combine(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            combine(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard offset < bytes.count else { return }
        combine((offset..<bytes.count).reduce(0) { $0 | UInt64(bytes[$1]) << UInt64(($1 - offset) * 8) })
    }

    consuming func finalize() -> UInt64 {
        compress(byteCount << 56)
        v2 ^= 0xff
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    private mutating func round() {
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
