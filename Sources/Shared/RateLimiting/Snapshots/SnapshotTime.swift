import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The time at which a snapshot was made or is restored, on clocks that outlive a process.
///
/// The difference of two values is the time between a save and a restore. If the system was not restarted in between, the difference is
/// measured by the clock since the boot, so changes of the wall clock have no effect. If the system was restarted, the difference is
/// measured by the wall clock. If the wall clock went backwards, the difference is zero, so the restored usage equals the saved usage.
public struct SnapshotTime: Hashable, Sendable, Codable {
    /// Nanoseconds since 1970 on the wall clock.
    public var wallNanoseconds: Int64
    /// Nanoseconds since the boot, including sleep, on a clock that is the same for all processes.
    public var bootNanoseconds: Int64
    /// An identifier of the boot.
    public var bootID: String

    /// Creates a time from saved values. For the current time, use ``now()``.
    /// - Parameters:
    ///   - wallNanoseconds: Nanoseconds since 1970 on the wall clock.
    ///   - bootNanoseconds: Nanoseconds since the boot, including sleep.
    ///   - bootID: An identifier of the boot; empty if the system provides none.
    public init(wallNanoseconds: Int64, bootNanoseconds: Int64, bootID: String) {
        self.wallNanoseconds = wallNanoseconds
        self.bootNanoseconds = bootNanoseconds
        self.bootID = bootID
    }

    /// Returns the nanoseconds from this time to a later time. The result is never negative.
    func nanoseconds(to later: SnapshotTime) -> Int64 {
        let (difference, overflow) =
            bootID == later.bootID
            ? later.bootNanoseconds.subtractingReportingOverflow(bootNanoseconds)
            : later.wallNanoseconds.subtractingReportingOverflow(wallNanoseconds)
        return overflow ? 0 : max(0, difference)
    }
}

extension SnapshotTime {
    /// Returns the current time: the wall clock, the clock since the boot (including sleep), and the identifier of the boot. Each process
    /// reads the identifier only once.
    public static func now() -> SnapshotTime {
        #if canImport(Darwin)
            // `CLOCK_MONOTONIC` on Darwin follows changes of the wall clock.
            let boot = CLOCK_MONOTONIC_RAW
        #else
            let boot = CLOCK_BOOTTIME
        #endif
        return SnapshotTime(
            wallNanoseconds: nanoseconds(on: CLOCK_REALTIME),
            bootNanoseconds: nanoseconds(on: boot),
            bootID: systemBootID
        )
    }

    /// Returns the nanoseconds of a system clock.
    private static func nanoseconds(on clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The identifier of the boot; empty if the system provides none.
    ///
    /// Without an identifier, all boots count as the same boot, so the boot clock measures the time between a save and a restore. The
    /// measured time is at most the elapsed time, and a negative value counts as zero. Usage therefore never expires too early.
    private static let systemBootID: String = {
        var text = [UInt8](repeating: 0, count: 64)
        #if canImport(Darwin)
            var size = text.count
            guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return "" }
        #else
            let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY)
            guard file >= 0 else { return "" }
            defer { close(file) }
            guard read(file, &text, text.count) > 0 else { return "" }
        #endif
        return String(decoding: text.prefix { $0 > 32 }, as: UTF8.self)
    }()
}
