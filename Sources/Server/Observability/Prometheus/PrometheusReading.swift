public import Foundation

/// The kind of a metric. The raw value is the name in the text format.
public enum PrometheusKind: String, Hashable, Sendable {
    /// A counter only increases, a gauge can also decrease, and a histogram counts values by size.
    case counter, gauge, histogram
}

/// The help text and the buckets of a metric.
public struct PrometheusDescription: Hashable, Sendable {
    /// One sentence for readers of the metrics.
    public var help: String
    /// The upper bounds of a histogram's buckets, in ascending order. For a timer, they are in seconds.
    public var buckets: [Double]?

    /// Creates a description.
    /// - Parameters:
    ///   - help: One sentence for readers of the metrics.
    ///   - buckets: The upper bounds of a histogram's buckets; `nil` for ``seconds`` or ``sizes``.
    /// - Precondition: `buckets` are in ascending order.
    public init(_ help: String, buckets: [Double]? = nil) {
        if let buckets { precondition(zip(buckets, buckets.dropFirst()).allSatisfy(<), "buckets must rise (are \(buckets))") }
        (self.help, self.buckets) = (help, buckets)
    }

    /// Bounds for the durations of requests, in seconds.
    public static let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    /// Bounds for sizes and counts: powers of four up to a million.
    public static let sizes: [Double] = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576]
}

/// A current value that the caller passes at each scrape (a request from Prometheus for the metrics), such as the size of a file. Use a
/// reading instead of a gauge if the value is cheap to read, and if it changes without an event in your code.
public struct PrometheusReading: Sendable {
    /// The full name, such as `process_open_fds`.
    public let name: String
    /// The kind of the metric.
    public let kind: PrometheusKind
    /// The help text, one line.
    public let help: String
    /// The value at the time of the scrape.
    public let value: Double
    /// The names and values of the reading's labels.
    public let labels: [(String, String)]

    /// Creates a reading.
    /// - Parameters:
    ///   - name: The full name with its unit, such as `process_resident_memory_bytes`. Characters that are invalid in names become
    ///     underscores.
    ///   - kind: The kind of the metric. A reading has one value, so it can't be a histogram.
    ///   - help: The help text, one line.
    ///   - value: The value at the time of the scrape.
    ///   - labels: The names and values of the reading's labels.
    public init(_ name: String, _ kind: PrometheusKind, _ help: String, _ value: Double, labels: [(String, String)] = []) {
        self.name = PrometheusText.name(name)
        (self.kind, self.help, self.value, self.labels) = (kind, help, value, labels)
    }
}

/// Measurements of this process by the operating system. They have the same names as in Prometheus' client libraries, so standard
/// dashboards work.
public enum ProcessReadings {
    /// Returns the current measurements. The method reads memory and descriptors from `/proc`, and omits them on systems without `/proc`.
    /// It needs only a few system calls, so it is fast enough for each scrape.
    /// - Parameter start: The start time of the process.
    /// - Returns: Up to five readings: start time, processor time, memory, open descriptors and their limit.
    public static func all(startedAt start: Date) -> [PrometheusReading] {
        var readings = [
            PrometheusReading(
                "process_start_time_seconds",
                .gauge,
                "Start time of the process, in seconds since 1970.",
                start.timeIntervalSince1970
            )
        ]
        if let seconds = processorTime() {
            readings.append(.init("process_cpu_seconds_total", .counter, "Processor time used, in seconds.", seconds))
        }
        if let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " "), pages.count > 1,
            let resident = Double(pages[1])
        {
            let bytes = resident * Double(sysconf(Int32(_SC_PAGESIZE)))
            readings.append(.init("process_resident_memory_bytes", .gauge, "Memory in use, in bytes.", bytes))
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            // Reading the folder has opened one more descriptor.
            readings.append(.init("process_open_fds", .gauge, "Open files and connections.", Double(max(open - 1, 0))))
        }
        if let limit = mostDescriptors() {
            readings.append(.init("process_max_fds", .gauge, "The largest number of open files and connections.", limit))
        }
        return readings
    }

    /// Returns the processor time of the process in seconds.
    private static func processorTime() -> Double? {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the soft limit of open descriptors.
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
