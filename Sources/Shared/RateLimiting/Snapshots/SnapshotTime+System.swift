import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension SnapshotTime {
    /// The system's time: the wall clock, the clock that runs from the boot on, sleep included, and the boot's own name.
    public static func now() -> SnapshotTime {
        #if canImport(Darwin)
            // The other one moves with the wall clock.
            let boot = CLOCK_MONOTONIC_RAW
        #else
            let boot = CLOCK_BOOTTIME
        #endif
        return SnapshotTime(wallNanoseconds: read(CLOCK_REALTIME), bootNanoseconds: read(boot), bootID: systemBootID)
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Empty if the system doesn't tell it. Then all boots count as one: no debt shortens by that, since at least as much time has
    /// passed as the later boot is older than the earlier one was, and one that isn't older tells no time at all.
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
