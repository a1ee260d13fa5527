import CoreMetrics
import Foundation
import Testing

@testable import Observability

@Suite struct PrometheusMetricsTests {
    @Test("Writes counters, gauges and histograms in a stable order, with help and type")
    func written() {
        let metrics = PrometheusMetrics(
            prefix: "app_",
            descriptions: ["calls": .init("Calls."), "wait": .init("Waits.", buckets: [0.1, 1])]
        )
        Counter(label: "calls", dimensions: [("route", "/b"), ("method", "GET")], factory: metrics).increment(by: 2)
        Counter(label: "calls", dimensions: [("method", "GET"), ("route", "/a")], factory: metrics).increment()
        Meter(label: "load", dimensions: [], factory: metrics).set(1.5)
        let wait = Timer(label: "wait", dimensions: [], factory: metrics)
        for milliseconds in [50, 100, 101, 5_000] { wait.recordNanoseconds(Int64(milliseconds) * 1_000_000) }
        #expect(
            metrics.text() == """
                # HELP app_calls_total Calls.
                # TYPE app_calls_total counter
                app_calls_total{method="GET",route="/a"} 1
                app_calls_total{method="GET",route="/b"} 2
                # TYPE app_load gauge
                app_load 1.5
                # HELP app_metrics_series_dropped_total Series that were not stored because there were too many, or their name had another kind.
                # TYPE app_metrics_series_dropped_total counter
                app_metrics_series_dropped_total 0
                # HELP app_wait_seconds Waits.
                # TYPE app_wait_seconds histogram
                app_wait_seconds_bucket{le="0.1"} 2
                app_wait_seconds_bucket{le="1"} 3
                app_wait_seconds_bucket{le="+Inf"} 4
                app_wait_seconds_sum 5.251
                app_wait_seconds_count 4

                """
        )
    }

    @Test("One name with the same labels in any order is one series")
    func shared() {
        let metrics = PrometheusMetrics()
        for dimensions in [[("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")]] {
            Counter(label: "calls", dimensions: dimensions, factory: metrics).increment()
        }
        #expect(metrics.text().contains("calls_total{a=\"1\",b=\"2\"} 2\n"))
    }

    @Test("Adapts invalid names and labels for Prometheus, and escapes and truncates values")
    func escaped() {
        let metrics = PrometheusMetrics()
        let long = String(repeating: "x", count: 300)
        let dimensions = [("le", "a\"b\\c\nd"), ("9", "x"), ("__name__", "y"), ("päth", long)]
        Counter(label: "2 calls/ö", dimensions: dimensions, factory: metrics).increment()
        let line = metrics.text().split(separator: "\n").first { $0.hasPrefix("_2_calls") }
        let cut = String(repeating: "x", count: 200)
        #expect(
            line.map { String($0) }
                == #"_2_calls____total{_9="x",label___name__="y",label_le="a\"b\\c\nd",p__th="\#(cut)"} 1"#
        )
    }

    @Test("Past the bound, drops and counts further series")
    func bounded() {
        let metrics = PrometheusMetrics(mostSeries: 10)
        for number in 0..<100 { Counter(label: "calls", dimensions: [("n", "\(number)")], factory: metrics).increment() }
        let text = metrics.text()
        #expect(text.split(separator: "\n").count { $0.hasPrefix("calls_total") } == 10)
        #expect(text.contains("metrics_series_dropped_total 90\n"))
    }

    @Test("A name keeps its first kind")
    func kinds() {
        let metrics = PrometheusMetrics()
        Meter(label: "load", factory: metrics).set(3)
        Recorder(label: "load", dimensions: [], aggregate: true, factory: metrics).record(7)
        #expect(metrics.text().contains("# TYPE load gauge\nload 3\n"))
        #expect(metrics.text().contains("dropped_total 1\n"))
    }

    @Test("A timer and a recorder of one name don't share a histogram")
    func timerAndRecorder() {
        let metrics = PrometheusMetrics()
        Timer(label: "wait", dimensions: [], factory: metrics).recordNanoseconds(2_000_000_000)
        Recorder(label: "wait_seconds", dimensions: [], aggregate: true, factory: metrics).record(7)
        Recorder(label: "load_seconds", dimensions: [], aggregate: true, factory: metrics).record(7)
        Timer(label: "load", dimensions: [], factory: metrics).recordNanoseconds(2_000_000_000)
        let text = metrics.text()
        #expect(text.contains("wait_seconds_sum 2\nwait_seconds_count 1\n"))
        #expect(text.contains("load_seconds_sum 7\nload_seconds_count 1\n"))
        #expect(text.contains("dropped_total 2\n"))
    }

    @Test("Not-a-number does not spoil a sum, and counters do not decrease")
    func nonsense() {
        let metrics = PrometheusMetrics()
        let recorder = Recorder(label: "size", factory: metrics)
        for value in [Double.nan, .infinity, 3] { recorder.record(value) }
        let counter = FloatingPointCounter(label: "bytes", factory: metrics)
        for amount in [2.5, -4, .nan] { counter.increment(by: amount) }
        #expect(metrics.text().contains("size_sum 3\nsize_count 1\n"))
        #expect(metrics.text().contains("bytes_total 2.5\n"))
    }

    @Test("Destroyed metrics are not written and free their capacity")
    func destroyed() {
        let metrics = PrometheusMetrics(mostSeries: 1)
        let counter = Counter(label: "calls", factory: metrics)
        counter.destroy()
        #expect(!metrics.text().contains("calls"))
        Counter(label: "others", factory: metrics).increment()
        #expect(metrics.text().contains("others_total 1\n"))
    }

    @Test("Concurrent counts of many tasks are all included")
    func concurrent() async {
        let metrics = PrometheusMetrics()
        await withTaskGroup { tasks in
            for task in 0..<16 {
                tasks.addTask {
                    for _ in 0..<1_000 {
                        Counter(label: "calls", dimensions: [("task", "\(task % 4)")], factory: metrics).increment()
                        Timer(label: "wait", dimensions: [], factory: metrics).recordNanoseconds(1)
                    }
                }
            }
        }
        let text = metrics.text()
        for task in 0..<4 { #expect(text.contains("calls_total{task=\"\(task)\"} 4000\n")) }
        #expect(text.contains("wait_seconds_count 16000\n"))
    }

    @Test("Reports the process's memory, descriptors and age")
    func process() {
        let readings = ProcessReadings.all(startedAt: Date(timeIntervalSince1970: 1_000))
        #expect(readings.first { $0.name == "process_start_time_seconds" }?.value == 1_000)
        #if os(Linux)
            for name in ["process_resident_memory_bytes", "process_open_fds", "process_max_fds", "process_cpu_seconds_total"] {
                #expect((readings.first { $0.name == name }?.value ?? 0) > 0, "\(name)")
            }
        #endif
    }
}
