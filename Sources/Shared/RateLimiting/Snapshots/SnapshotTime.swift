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
/// If both values are from the same boot of the system, the clock of the boot measures the time between them. A change of the wall clock
/// then has no effect. If the system was restarted between them, the wall clock measures the time. If the wall clock went backwards, the
/// elapsed time is zero, so restored usage is the same as saved usage.
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

    /// Returns the nanoseconds from this time to a later time; never negative.
    func nanoseconds(to later: SnapshotTime) -> Int64 {
        let (difference, overflow) =
            bootID == later.bootID
            ? later.bootNanoseconds.subtractingReportingOverflow(bootNanoseconds)
            : later.wallNanoseconds.subtractingReportingOverflow(wallNanoseconds)
        return overflow ? 0 : max(0, difference)
    }
}

extension SnapshotTime {
    /// Returns the time of the system: the wall clock, the clock since the boot (including sleep), and the identifier of the boot. The
    /// identifier is read once for each process.
    public static func now() -> SnapshotTime {
        #if canImport(Darwin)
            // `CLOCK_MONOTONIC` on Darwin follows changes of the wall clock.
            let boot = CLOCK_MONOTONIC_RAW
        #else
            let boot = CLOCK_BOOTTIME
        #endif
        return SnapshotTime(wallNanoseconds: read(CLOCK_REALTIME), bootNanoseconds: read(boot), bootID: systemBootID)
    }

    /// Returns the nanoseconds of a system clock.
    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The identifier of the boot; empty if the system provides none. Without an identifier, all boots count as the same boot. Usage then
    /// never expires too early, because the difference of the boot clocks is at most the elapsed time, and a negative difference counts as
    /// zero.
    private static let systemBootID: String = {
        var text = [UInt8](repeating: 0, count: 64)
        #if canImport(Darwin)
            var size = text.count
            guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return "" }
        #else
            let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY)
            guard file >= 0 else { return "" }
            defer { close(file) }
            guard Glibc.read(file, &text, text.count) > 0 else { return "" }
        #endif
        return String(decoding: text.prefix { $0 > 32 }, as: UTF8.self)
    }()
}
