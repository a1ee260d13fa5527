import RateLimiting

/// An instant on the clocks that continue after the end of a process, in milliseconds.
///
/// Within one boot of the device, the clock that starts at the boot measures ages. Changes of the wall clock then have no effect. Across
/// boots, only the wall clock exists, and a user may have changed it. In this case, the age is at least the time since the last boot.
struct QueueTime: Hashable, Sendable {
    /// Milliseconds since 1970 on the wall clock.
    var wall: Int64
    /// The identifier of the boot; 0 if the system doesn't identify boots.
    var boot: UInt64
    /// The milliseconds since the boot, including the time in which the device slept.
    var uptime: Int64

    init(wall: Int64, boot: UInt64, uptime: Int64) {
        (self.wall, self.boot, self.uptime) = (wall, boot, uptime)
    }

    /// Creates a time from the time of a snapshot. The text that identifies the boot is replaced by its FNV-1a hash, which is never 0.
    init(_ time: SnapshotTime) {
        let id = time.bootID.utf8
        // FNV-1a.
        let boot = id.isEmpty ? 0 : id.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } | 1
        self.init(wall: time.wallNanoseconds / 1_000_000, boot: boot, uptime: time.bootNanoseconds / 1_000_000)
    }

    /// Returns the milliseconds since an earlier instant, at least 0. Across boots, returns `nil` if the wall clock now shows an earlier
    /// time, because the age is then unknown.
    func age(since earlier: QueueTime) -> Int64? {
        if boot == earlier.boot, boot != 0 || uptime >= earlier.uptime { return max(0, uptime - earlier.uptime) }
        let passed = wall - earlier.wall
        // At least the time since the last boot has passed.
        return passed < 0 ? nil : max(passed, boot == earlier.boot ? 0 : uptime)
    }
}
