import Foundation
public import RateLimiting

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension SnapshotTime {
    /// Now, on the clocks of the system. Where the boot can't be told from others, every process counts as a boot of its own.
    public static var now: SnapshotTime {
        SnapshotTime(
            wallNanoseconds: nanoseconds(CLOCK_REALTIME),
            bootNanoseconds: nanoseconds(sinceBoot),
            bootID: bootID
        )
    }

    #if canImport(Darwin)
        /// Counts sleep as well, and no change of the wall clock moves it.
        private static let sinceBoot = CLOCK_MONOTONIC_RAW

        private static let bootID: String = {
            var (text, size) = ([CChar](repeating: 0, count: 64), 64)
            guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return UUID().uuidString }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }()
    #else
        /// Counts sleep as well, and no change of the wall clock moves it.
        private static let sinceBoot = CLOCK_BOOTTIME

        private static let bootID: String = {
            let bytes = try? PrivateFile.read("/proc/sys/kernel/random/boot_id", upTo: 64)
            guard let bytes, !bytes.isEmpty else { return UUID().uuidString }
            return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }()
    #endif

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
