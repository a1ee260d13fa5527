public import Foundation

/// What kind of figure a metric is.
public enum PrometheusKind: String, Hashable, Sendable {
    /// A kind of metric, by its name in the text format.
    case counter, gauge, histogram
}

/// What there is to say about a metric beforehand.
public struct PrometheusDescription: Hashable, Sendable {
    /// One sentence for whoever reads the figures.
    public var help: String
    /// The upper bounds of a histogram's buckets, rising; in seconds for a timer.
    public var buckets: [Double]?

    /// Creates a description.
    /// - Precondition: `buckets` rise.
    public init(_ help: String, buckets: [Double]? = nil) {
        if let buckets { precondition(zip(buckets, buckets.dropFirst()).allSatisfy(<), "buckets must rise (are \(buckets))") }
        (self.help, self.buckets) = (help, buckets)
    }

    /// Bounds for the time of a request, in seconds.
    public static let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    /// Bounds for sizes and counts.
    public static let sizes: [Double] = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576]
}

/// A figure that is looked at when it is asked for.
public struct PrometheusReading: Sendable {
    /// The whole name, such as `process_open_fds`.
    public let name: String
    /// What the numbers of this name are.
    public let kind: PrometheusKind
    /// What it tells, in one line.
    public let help: String
    /// The number.
    public let value: Double
    /// Names and values that tell it from others of its name.
    public let labels: [(String, String)]

    /// Creates a reading.
    public init(_ name: String, _ kind: PrometheusKind, _ help: String, _ value: Double, labels: [(String, String)] = []) {
        self.name = PrometheusText.name(name)
        (self.kind, self.help, self.value, self.labels) = (kind, help, value, labels)
    }
}

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
