extension RateLimitSnapshot {
    /// What is owed as bytes, for a store that keeps policy and time in columns of their own: 1 and the nanoseconds a GCRA owes,
    /// or 0 and the age of each unit, 8 bytes each, the lowest first.
    public var owedBytes: [UInt8] {
        [owed == nil ? 0 : 1]
            + (owed.map { [$0] } ?? ages).flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }

    /// Reads a snapshot back. O(bytes).
    /// - Returns: `nil` if the bytes are no ``owedBytes``.
    public init?(policy: String, time: SnapshotTime, owedBytes bytes: some Collection<UInt8>) {
        guard let kind = bytes.first, kind <= 1, bytes.count % 8 == 1, kind == 0 || bytes.count == 9 else { return nil }
        var words = [Int64](repeating: 0, count: bytes.count / 8)
        for (place, byte) in bytes.dropFirst().enumerated() { words[place / 8] |= Int64(byte) << Int64(place % 8 * 8) }
        self.init(policy: policy, time: time, ages: kind == 0 ? words : [], owed: kind == 1 ? words[0] : nil)
    }
}
