public import CoreMetrics
import Synchronization

/// A metrics factory that stores counters, gauges and histograms in memory, and writes them in Prometheus' text format (exposition 0.0.4).
///
/// ```swift
/// let metrics = PrometheusMetrics(prefix: "notes_")
/// Counter(label: "notes_added_total", factory: metrics).increment()
/// print(metrics.text())
/// ```
///
/// Names follow Prometheus' conventions: the names of counters end in `_total`, and the names of timers end in `_seconds`. The factory adds
/// missing suffixes. Timers measure seconds. If a program uses one name for two kinds of metrics, the text contains only the first kind. A
/// timer and a recorder are different kinds.
///
/// The factory limits the number of series, because labels with values from clients could otherwise use up the memory. Above the limit, the
/// factory doesn't store a new series, and counts it in `metrics_series_dropped_total`.
///
/// All methods are thread-safe. The creation of a metric needs the lock of the factory and a dictionary lookup. So create a frequently used
/// metric once, and keep it. Recording a value needs only the lock of its series. The values are lost when the process ends. Prometheus
/// detects a restart, because counters decrease.
///
/// The text contains the series in a stable order, with the help text and the type of each name:
///
/// ```
/// # HELP app_calls_total Calls.
/// # TYPE app_calls_total counter
/// app_calls_total{method="GET",route="/a"} 1
/// app_calls_total{method="GET",route="/b"} 2
/// # TYPE app_load gauge
/// app_load 1.5
/// ```
public final class PrometheusMetrics: MetricsFactory {
    /// All series with one name.
    private struct Family {
        let kind: PrometheusKind
        /// The number that recorded values are divided by: 10⁹ for timers, and 1 for all other metrics.
        let unit: Double
        let help: String?
        /// The series, by their encoded labels.
        var series: [String: any PrometheusSeries] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        var count = 0
        /// The number of series that were not stored.
        var dropped = 0
    }

    private let prefix: String
    private let mostSeries: Int
    private let descriptions: [String: PrometheusDescription]
    private let state = Mutex(State())

    /// Creates a factory without series.
    /// - Parameters:
    ///   - prefix: The prefix of all names, such as `holdfast_`. Characters that are invalid in names become underscores.
    ///   - mostSeries: The largest number of series. A histogram counts as one series.
    ///   - descriptions: Help texts and buckets. The keys are the labels with which the program creates its metrics, without the prefix.
    /// - Precondition: `mostSeries` is positive.
    public init(prefix: String = "", mostSeries: Int = 2_000, descriptions: [String: PrometheusDescription] = [:]) {
        precondition(mostSeries > 0, "mostSeries must be positive (is \(mostSeries))")
        (self.prefix, self.mostSeries) = (PrometheusText.name(prefix, isPrefix: true), mostSeries)
        self.descriptions = descriptions
    }

    /// Returns the counter of a label and dimensions. The first call creates it.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(.counter, label, dimensions) { CounterSeries() }
    }

    /// Returns the counter of a label and dimensions. ``makeCounter(label:dimensions:)`` returns the same series.
    public func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        series(.counter, label, dimensions) { CounterSeries() }
    }

    /// Returns the gauge of a label and dimensions.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(.gauge, label, dimensions) { GaugeSeries() }
    }

    /// Returns the histogram of a label and dimensions. If `aggregate` is `false`, returns a gauge with the last value.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if !aggregate { return series(.gauge, label, dimensions) { GaugeSeries() } }
        let bounds = descriptions[label]?.buckets ?? PrometheusDescription.sizes
        return series(.histogram, label, dimensions) { HistogramSeries(bounds: bounds, unit: 1) }
    }

    /// Returns the histogram of a label and dimensions. The caller records values in nanoseconds, and the text contains them in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let bounds = descriptions[label]?.buckets ?? PrometheusDescription.seconds
        return series(.histogram, label, dimensions, suffix: "_seconds", unit: 1e9) { HistogramSeries(bounds: bounds, unit: 1e9) }
    }

    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

    /// Returns the text with all series and the given readings, in a stable order.
    /// - Parameter readings: Current values with their full names. The method omits a reading if a series has the same name.
    /// - Returns: The text for a response with the content type `text/plain; version=0.0.4`.
    /// - Complexity: O(n log n) for n series.
    public func text(with readings: [PrometheusReading] = []) -> String {
        let (families, dropped) = state.withLock { ($0.families, $0.dropped) }
        var text = PrometheusText()
        let loss = PrometheusReading(
            "\(prefix)metrics_series_dropped_total",
            .counter,
            "Series that were not stored because there were too many, or their name had another kind.",
            Double(dropped)
        )
        let read = Dictionary(grouping: readings + [loss], by: \.name).filter { families[$0.key] == nil }
        for name in Set(families.keys).union(read.keys).sorted() {
            if let family = families[name] {
                text.begin(name, family.kind, help: family.help)
                for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) { series.write(name, labels, to: &text) }
            } else if let same = read[name], let first = same.first {
                text.begin(name, first.kind, help: first.help)
                for (labels, value) in same.map({ (PrometheusText.labels($0.labels), $0.value) }).sorted(by: { $0.0 < $1.0 }) {
                    text.sample(name, labels, value)
                }
            }
        }
        return text.text
    }

    /// Returns the series of a name with labels. If the series doesn't exist, the method creates it. If the factory can't store a new
    /// series, the caller gets a series that the text doesn't contain.
    private func series<Series: PrometheusSeries>(
        _ kind: PrometheusKind,
        _ label: String,
        _ dimensions: [(String, String)],
        suffix: String = "",
        unit: Double = 1,
        _ make: () -> Series
    ) -> Series {
        let ending = kind == .counter ? "_total" : suffix
        let base = prefix + PrometheusText.name(label)
        let name = base.hasSuffix(ending) ? base : base + ending
        let labels = PrometheusText.labels(dimensions)
        return state.withLock { state in
            var family = state.families[name] ?? Family(kind: kind, unit: unit, help: descriptions[label]?.help)
            let isSameKind = family.kind == kind && family.unit == unit
            if isSameKind, let known = family.series[labels] as? Series { return known }
            let new = make()
            // The caller can record values in the returned object, but the text doesn't contain them.
            guard isSameKind, family.series[labels] == nil, state.count < mostSeries else {
                state.dropped += 1
                return new
            }
            family.series[labels] = new
            state.families[name] = family
            state.count += 1
            return new
        }
    }

    /// Removes the series of a metric. O(number of series).
    private func forget(_ handler: AnyObject) {
        state.withLock { state in
            for (name, family) in state.families {
                guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
                state.families[name]?.series[labels] = nil
                if state.families[name]?.series.isEmpty == true { state.families[name] = nil }
                state.count -= 1
                return
            }
        }
    }
}
