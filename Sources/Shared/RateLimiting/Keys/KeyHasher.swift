/// SipHash-2-4 over 64-bit words (Aumasson and Bernstein, 2012): a keyed hash that says the same in every process.
public struct KeyHasher: Sendable {
    private var state: SipState
    private var byteCount: UInt64 = 0

    init(_ secret: KeySecret) {
        state = SipState(low: secret.low, high: secret.high)
    }

    /// Takes a word in.
    public mutating func combine(_ word: UInt64) {
        byteCount &+= 8
        state.absorb(word, rounds: 2)
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
        state.absorb(byteCount << 56, rounds: 2)
        return state.finish(rounds: 4)
    }
}
