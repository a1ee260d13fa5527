public import Foundation

/// What the operating system says of this process, under the names that Prometheus' own clients use.
public enum ProcessReadings {
    /// Memory and descriptors are read from `/proc` and left out where there is none.
    /// - Parameter start: When the process, or what is to be seen as one, began.
    public static func all(startedAt start: Date) -> [PrometheusReading] {
        var readings = [
            PrometheusReading(
                "process_start_time_seconds",
                .gauge,
                "When the process began, in seconds since 1970.",
                start.timeIntervalSince1970
            )
        ]
        if let seconds = processorTime() {
            readings.append(.init("process_cpu_seconds_total", .counter, "Time of processors that was used.", seconds))
        }
        if let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " "), pages.count > 1,
            let resident = Double(pages[1])
        {
            let bytes = resident * Double(sysconf(Int32(_SC_PAGESIZE)))
            readings.append(.init("process_resident_memory_bytes", .gauge, "Memory that is in use.", bytes))
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            // The listing itself has one open.
            readings.append(.init("process_open_fds", .gauge, "Open files and connections.", Double(max(open - 1, 0))))
        }
        if let limit = mostDescriptors() {
            readings.append(.init("process_max_fds", .gauge, "How many files and connections may be open.", limit))
        }
        return readings
    }

    private static func processorTime() -> Double? {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func mostDescriptors() -> Double? {
        var limit = rlimit()
        #if os(Linux)
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        #else
            guard getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return nil }
        #endif
        return Double(limit.rlim_cur)
    }
}
