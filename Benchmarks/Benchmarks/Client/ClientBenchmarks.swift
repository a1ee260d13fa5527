import Benchmark
import Foundation

let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock],
        timeUnits: .nanoseconds,
        warmupIterations: 10,
        scalingFactor: .kilo,
        maxDuration: .seconds(3)
    )
    guard let url = URL(string: "https://api.example.org") else { return }
    measurePipeline(url)
    measureParts(url)
    measureLoopback()
}
