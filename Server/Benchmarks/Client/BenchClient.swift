import AsyncHTTPClient
import Foundation
import HTTPTypes
import HoldfastAsyncHTTPClient
import HoldfastURLSession
import NIOCore
import NIOPosix
import ResilientHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Whole calls over the loopback: an engine by itself, through our transport, and through the client with all defaults. In each round all
/// take their turn, in random order, so that a busy moment hits none more than the others. Arguments: rounds (60), calls per turn (300).
@main struct BenchClient {
    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let (rounds, calls) = (max(2, numbers.first ?? 60), max(64, numbers.dropFirst().first ?? 300))
        let servers = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener = try await AnsweringServer.start(on: servers)
        guard let port = listener.localAddress?.port, let url = URL(string: "http://127.0.0.1:\(port)"),
            let address = URL(string: "/api/activities/17", relativeTo: url)
        else { throw NoAddress() }

        let engine = HTTPClient(eventLoopGroupProvider: .shared(HTTPClient.defaultEventLoopGroup))
        let session = URLSession(configuration: .ephemeral)
        let families = [
            Family(
                name: "AsyncHTTPClient",
                bare: {
                    let response = try await engine.execute(HTTPClientRequest(url: address.absoluteString), timeout: .seconds(10))
                    return try await response.body.collect(upTo: 65_536).readableBytes
                },
                transport: AsyncHTTPClientTransport(),
                url: url
            ),
            Family(
                name: "URLSession",
                bare: { try await session.data(from: address).0.count },
                transport: URLSessionTransport(),
                url: url
            ),
        ]
        tell("| engine | at once | | p50, µs | mean, µs | of bare (95 %) |")
        tell("|---|--:|---|--:|--:|--:|")
        for lanes in [1, 64] {
            for family in families {
                let results = try await measure(
                    family.variants,
                    rounds: rounds,
                    calls: lanes == 1 ? calls : calls * 4,
                    lanes: lanes
                )
                for (variant, result) in zip(family.variants, results) {
                    let ratio = result.ratio(to: results[0])
                    let part =
                        variant.name == "bare" ? "" : "\(percent(ratio.mean)) (\(percent(ratio.low))–\(percent(ratio.high)))"
                    tell(
                        "| \(family.name) | \(lanes) | \(variant.name) | \(number(result.median)) | \(number(result.mean)) | \(part) |"
                    )
                }
            }
        }
        try await engine.shutdown()
        try await listener.close()
        try await servers.shutdownGracefully()
    }

    private struct NoAddress: Error {}

    /// Gives every variant its turn in each round.
    private static func measure(_ variants: [Variant], rounds: Int, calls: Int, lanes: Int) async throws -> [Timings] {
        var timings = variants.map { _ in Timings() }
        // Connections are made, code is paged in.
        for variant in variants { _ = try await turn(of: variant, calls: calls, lanes: lanes) }
        for _ in 0..<rounds {
            for place in variants.indices.shuffled() {
                let (each, wall) = try await turn(of: variants[place], calls: calls, lanes: lanes)
                timings[place].add(each, wall: wall)
            }
        }
        return timings
    }

    /// Makes calls, in so many lanes at once, and times each as well as all together.
    private static func turn(of variant: Variant, calls: Int, lanes: Int) async throws -> (each: [Duration], wall: Duration) {
        let begin = ContinuousClock.now
        let each = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for _ in 0..<lanes {
                group.addTask {
                    var each: [Duration] = []
                    for _ in 0..<(calls / lanes) {
                        let begin = ContinuousClock.now
                        guard try await variant.call() == AnsweringServer.body.utf8.count else { throw WrongAnswer() }
                        each.append(begin.duration(to: .now))
                    }
                    return each
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        return (each, begin.duration(to: .now))
    }

    private struct WrongAnswer: Error {}

    /// Writes a line at once, so that who waits sees how far it is.
    private static func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }
    private static func percent(_ part: Double) -> String { String(format: "%.1f %%", part * 100) }
}
