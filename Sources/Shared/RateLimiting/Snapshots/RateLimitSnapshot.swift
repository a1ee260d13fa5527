/// The usage of one key, in a form that can be saved.
///
/// The snapshot doesn't contain the key. The caller chooses the key under which it saves the usage. ``KeyedRateLimiter/snapshot(of:at:)``
/// makes a snapshot, and ``KeyedRateLimiter/restore(_:for:at:afterKill:)`` restores it. To save all keys of several policies, use
/// ``SavedRateLimit``.
public struct RateLimitSnapshot: Hashable, Sendable, Codable {
    /// The name of the policy.
    public var policy: String
    /// The time at which the snapshot was made.
    public var time: SnapshotTime
    /// The age of each admitted unit that still counts, in nanoseconds, oldest first; empty for a GCRA.
    public var ages: [Int64]
    /// The nanoseconds until a GCRA is unused again; `nil` for the sliding window.
    public var owed: Int64?

    /// Creates a snapshot from its parts.
    /// - Parameters:
    ///   - policy: The name of the policy.
    ///   - time: The time at which the usage was read.
    ///   - ages: The age of each admitted unit in nanoseconds, oldest first; empty for a GCRA.
    ///   - owed: The nanoseconds until a GCRA is unused again; `nil` for the sliding window.
    public init(policy: String, time: SnapshotTime, ages: [Int64], owed: Int64?) {
        (self.policy, self.time, self.ages, self.owed) = (policy, time, ages, owed)
    }

    init(policy: String, time: SnapshotTime, usage: SavedUsage) {
        switch usage {
        case .ages(let ages): self.init(policy: policy, time: time, ages: ages, owed: nil)
        case .nanoseconds(let owed): self.init(policy: policy, time: time, ages: [], owed: owed)
        }
    }
}

extension RateLimitSnapshot {
    /// The usage as bytes, for a store that saves the policy and the time in separate columns.
    ///
    /// For a GCRA, the first byte is 1, and the nanoseconds of ``owed`` follow. For a sliding window, the first byte is 0, and the age of
    /// each unit follows. Each number takes 8 bytes, the lowest byte first.
    public var owedBytes: [UInt8] {
        [owed == nil ? 0 : 1]
            + (owed.map { [$0] } ?? ages).flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }

    /// Decodes a snapshot. O(bytes).
    ///
    /// - Parameters:
    ///   - policy: The name of the policy, from its own column.
    ///   - time: The time at which the usage was saved, from its own columns.
    ///   - bytes: The bytes of ``owedBytes``.
    /// - Returns: The snapshot; `nil` if the bytes are not a valid ``owedBytes``.
    public init?(policy: String, time: SnapshotTime, owedBytes bytes: some Collection<UInt8>) {
        guard let kind = bytes.first, kind <= 1, bytes.count % 8 == 1, kind == 0 || bytes.count == 9 else { return nil }
        var words = [Int64](repeating: 0, count: bytes.count / 8)
        for (place, byte) in bytes.dropFirst().enumerated() { words[place / 8] |= Int64(byte) << Int64(place % 8 * 8) }
        self.init(policy: policy, time: time, ages: kind == 0 ? words : [], owed: kind == 1 ? words[0] : nil)
    }
}

/// The usage of one key under one policy, in a form that a store can save and another process can restore.
///
/// A store saves one row for each policy and key. A later row replaces an earlier row. The row contains a digest of the key instead of the
/// key. If two processes use the same secret, the digest of a key is the same in both processes.
public struct SavedRateLimit: Hashable, Sendable, Codable {
    /// The digest of the key. The value 0 stands for all keys without a row. Earlier versions of the library also saved rows with other
    /// digests below 2²⁰. The limiter ignores such rows.
    package var key: KeyDigest
    /// The usage, with its policy and its time.
    public var state: RateLimitSnapshot
    /// The nanoseconds from the time in ``state`` until the key has no usage. The row can then be deleted. The value is 0 if the key was
    /// reset.
    public var lifetime: Int64

    /// Creates a row from its saved parts.
    /// - Parameters:
    ///   - key: The digest of the key.
    ///   - state: The usage, with its policy and its time.
    ///   - lifetime: The nanoseconds from the time in `state` until the row can be deleted.
    package init(key: KeyDigest, state: RateLimitSnapshot, lifetime: Int64) {
        (self.key, self.state, self.lifetime) = (key, state, lifetime)
    }

    /// Returns whether the row can be deleted at the given time. The result can be `true` too early only if the wall clock was changed and
    /// the system was restarted since the save.
    /// - Parameter time: The current time, on the clocks that measured the time of the save.
    public func isExpired(at time: SnapshotTime) -> Bool { state.time.nanoseconds(to: time) >= lifetime }
}

/// The usage of a key in the form in which it is saved.
enum SavedUsage {
    /// The age of each admitted unit that still counts, in nanoseconds, oldest first.
    case ages([Int64])
    /// The nanoseconds until the key is unused again.
    case nanoseconds(Int64)
}
