/// What kind of figure a metric is.
public enum PrometheusKind: String, Hashable, Sendable {
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
