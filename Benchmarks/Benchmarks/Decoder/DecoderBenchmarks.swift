import Benchmark
import ErrorContract
import Foundation
import HTTPTypes

let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock],
        timeUnits: .nanoseconds,
        warmupIterations: 10,
        scalingFactor: .one,
        maxDuration: .seconds(2),
        maxIterations: 50_000
    )
    decodeErrors()
    decodeSuccesses()
}

/// Measures the decoding of error bodies of 1 KB, each of another format family.
private func decodeErrors() {
    let decoder = ErrorDecoder()
    let now = Date(timeIntervalSince1970: 1_762_252_200)
    for sample in ErrorSample.all {
        Benchmark("error \(sample.name)") { benchmark in
            for _ in benchmark.scaledIterations {
                blackHole(decoder.decode(status: sample.status, headers: sample.headers, body: sample.body, now: now))
            }
        }
    }
}
