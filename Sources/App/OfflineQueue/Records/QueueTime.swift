import RateLimiting

/// An instant on the clocks that outlive a process, in milliseconds.
///
/// Within one boot, ages are differences of the clock that runs from the boot on, so that changes of the wall clock have no effect. Across
/// boots only the wall clock is left, and a user may have changed it. The age is then at least the time since this boot.
struct QueueTime: Hashable, Sendable {
    /// Milliseconds since 1970 on the wall clock.
    var wall: Int64
    /// Identifies the boot; 0 if the system does not name it.
    var boot: UInt64
    /// Milliseconds since the boot, sleep included.
    var uptime: Int64

    init(wall: Int64, boot: UInt64, uptime: Int64) {
        (self.wall, self.boot, self.uptime) = (wall, boot, uptime)
    }

    /// The instant of a snapshot. The text that identifies the boot is replaced by its FNV-1a hash, which is never 0.
    init(_ time: SnapshotTime) {
        let id = time.bootID.utf8
        // FNV-1a.
        let boot = id.isEmpty ? 0 : id.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } | 1
        self.init(wall: time.wallNanoseconds / 1_000_000, boot: boot, uptime: time.bootNanoseconds / 1_000_000)
    }

    /// Returns the milliseconds since an earlier instant, at least 0; `nil` if they are not known, because the wall clock shows an earlier
    /// time than in the earlier boot.
    func age(since earlier: QueueTime) -> Int64? {
        if boot == earlier.boot, boot != 0 || uptime >= earlier.uptime { return max(0, uptime - earlier.uptime) }
        let passed = wall - earlier.wall
        // At least the time since this boot has passed.
        return passed < 0 ? nil : max(passed, boot == earlier.boot ? 0 : uptime)
    }
}

extension Duration {
    init(milliseconds: Int64) { self = .milliseconds(milliseconds) }
}
