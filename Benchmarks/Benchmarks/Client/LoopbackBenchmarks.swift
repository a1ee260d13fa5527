import Benchmark
import Foundation
import HTTPTypes
import HoldfastURLSession
import ResilientHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Measures calls to a server on the loopback: `URLSession` alone, the transport, and the whole client.
func measureLoopback() {
    guard let port = try? KeepAliveServer.start(), let url = URL(string: "http://127.0.0.1:\(port)"),
        let address = URL(string: "http://127.0.0.1:\(port)/api/activities/17")
    else { return }
    let configuration = Benchmark.Configuration(
        metrics: [.wallClock],
        timeUnits: .microseconds,
        scalingFactor: .one,
        maxDuration: .seconds(5)
    )
    let session = URLSession(configuration: .ephemeral)
    Benchmark("loopback 0, bare URLSession", configuration: configuration) { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try await session.data(from: address)) }
    }
    for (name, middleware) in [
        ("loopback 1, URLSession transport", [] as [any ClientMiddleware]),
        ("loopback 2, all defaults", ClientPipeline.standard()),
    ] {
        let client = APIClient(baseURL: url, transport: URLSessionTransport(), middleware: middleware)
        Benchmark(name, configuration: configuration) { benchmark in
            for _ in benchmark.scaledIterations { blackHole(try await client.send(.get, "/api/activities/17")) }
        }
    }
}
