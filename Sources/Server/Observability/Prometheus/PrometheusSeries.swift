import CoreMetrics
import Synchronization

/// The values of one name with one set of labels. A scrape holds the lock of a series only while it copies the values. A caller that
/// records a value therefore never waits for the rest of the scrape.
protocol PrometheusSeries: AnyObject, Sendable {
    /// Writes the samples of the series.
    /// - Parameters:
    ///   - name: The name of the metric with its suffix, such as `_total`.
    ///   - labels: The encoded labels, without braces.
    ///   - text: The text to which the samples are added.
    func write(_ name: String, _ labels: String, to text: inout PrometheusText)
}

/// A series that only increases. Its value is a double, which is exact up to 2⁵³.
final class CounterSeries: PrometheusSeries, CounterHandler, FloatingPointCounterHandler {
    private let value = Mutex(0.0)

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    /// Adds an amount. The method ignores amounts that are negative, zero or infinite.
    func increment(by amount: Double) {
        // Prometheus would read a decreasing counter as a restart.
        guard amount > 0, amount.isFinite else { return }
        value.withLock { $0 += amount }
    }

    func reset() { value.withLock { $0 = 0 } }

    func write(_ name: String, _ labels: String, to text: inout PrometheusText) {
        text.sample(name, labels, value.withLock { $0 })
    }
}

/// A series that increases and decreases.
final class GaugeSeries: PrometheusSeries, MeterHandler, RecorderHandler {
    private let value = Mutex(0.0)

    func set(_ new: Int64) { set(Double(new)) }
    func set(_ new: Double) { value.withLock { $0 = new } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }

    func write(_ name: String, _ labels: String, to text: inout PrometheusText) {
        text.sample(name, labels, value.withLock { $0 })
    }
}

/// A series that counts values in buckets by their size.
final class HistogramSeries: PrometheusSeries, RecorderHandler, TimerHandler {
    private struct State {
        /// One count for each bound, and one count for values above all bounds.
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let unit: Double
    private let state: Mutex<State>

    /// Creates a histogram without values.
    /// - Parameters:
    ///   - bounds: The upper bounds of the buckets, in ascending order.
    ///   - unit: The number that each recorded value is divided by. It is 10⁹ if callers record nanoseconds and the text contains seconds.
    init(bounds: [Double], unit: Double) {
        (self.bounds, self.unit) = (bounds, unit)
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration)) }

    /// Counts a value in the first bucket whose bound is at least the value. The method ignores infinite values.
    /// - Complexity: O(number of buckets).
    func record(_ value: Double) {
        let value = value / unit
        // After one infinite value, the sum would always be infinite.
        guard value.isFinite else { return }
        let place = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[place] += 1
            state.sum += value
        }
    }

    /// Writes the cumulative counts of the buckets, the sum of the values, and the number of values.
    func write(_ name: String, _ labels: String, to text: inout PrometheusText) {
        let state = state.withLock { $0 }
        var count = 0
        for (bound, more) in zip(bounds + [.infinity], state.counts) {
            count += more
            let edge = "le=\"\(PrometheusText.number(bound))\""
            text.sample("\(name)_bucket", labels.isEmpty ? edge : "\(labels),\(edge)", Double(count))
        }
        text.sample("\(name)_sum", labels, state.sum)
        text.sample("\(name)_count", labels, Double(count))
    }
}
