/// When a snapshot was made or is restored, on the clocks that outlive a process.
///
/// Within one boot the time between two is told by the boot's own clock, so that no step of the wall clock shortens a debt. Across
/// boots only the wall clock is left; one that went backwards counts as no time at all, and the full charge stays.
public struct SnapshotTime: Hashable, Sendable, Codable {
    /// Nanoseconds since 1970 on the wall clock.
    public var wallNanoseconds: Int64
    /// Nanoseconds since the boot, sleep included, on a clock that all processes of the boot share.
    public var bootNanoseconds: Int64
    /// What tells this boot from others.
    public var bootID: String

    /// Creates a time.
    public init(wallNanoseconds: Int64, bootNanoseconds: Int64, bootID: String) {
        self.wallNanoseconds = wallNanoseconds
        self.bootNanoseconds = bootNanoseconds
        self.bootID = bootID
    }

    /// The nanoseconds to a later time; never negative.
    func nanoseconds(to later: SnapshotTime) -> Int64 {
        let (difference, overflow) =
            bootID == later.bootID
            ? later.bootNanoseconds.subtractingReportingOverflow(bootNanoseconds)
            : later.wallNanoseconds.subtractingReportingOverflow(wallNanoseconds)
        return overflow ? 0 : max(0, difference)
    }
}
