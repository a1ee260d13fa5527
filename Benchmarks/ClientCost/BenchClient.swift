import AsyncHTTPClient
import CAllocations
import Foundation
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#endif

/// Measures what the client and its transports cost over the loopback interface. See `docs/contributing/benchmarks.md`.
///
/// - `[ROUNDS [CALLS [ENGINE]]]`: times. In each round every variant has one turn, in random order, so that other load affects all of them.
/// - `allocations [CALLS]`: allocations per call, one call at a time.
/// - `only ENGINE VARIANT LANES CALLS`: calls of one variant without measurement, for a profiler.
@main struct BenchClient {
    /// Blocks the main thread: an asynchronous `main` ends it, under which Valgrind crashes.
    static func main() {
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await run()
            } catch {
                FileHandle.standardError.write(Data("error: \(error)\n".utf8))
                exit(1)
            }
            end.signal()
        }
        end.wait()
    }

    private static func run() async throws {
        let servers = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener = try await AnsweringServer.start(on: servers)
        guard let port = listener.localAddress?.port, let url = URL(string: "http://127.0.0.1:\(port)") else { throw Unusable() }
        let engine = HTTPClient(
            eventLoopGroupProvider: .shared(HTTPClient.defaultEventLoopGroup),
            configuration: Family.configuration
        )
        let families = [.memory(url: url), .asyncHTTPClient(url: url, engine: engine), Family.urlSession(url: url)]
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "allocations": try await countAllocations(families, calls: arguments.dropFirst().first.flatMap { Int($0) } ?? 2_000)
        case "only": try await runOne(families, Array(arguments.dropFirst()))
        default:
            let numbers = arguments.compactMap { Int($0) }
            let (rounds, calls) = (max(2, numbers.first ?? 60), max(64, numbers.dropFirst().first ?? 300))
            let picked = families.filter { arguments.count < 3 || $0.name == arguments[2] }
            try await measureTimes(picked, rounds: rounds, calls: calls)
        }
        try await engine.shutdown()
        try await listener.close()
        try await servers.shutdownGracefully()
    }

    /// The arguments or the machine cannot be used.
    private struct Unusable: Error {}
    private struct WrongResponse: Error {}

    private static func measureTimes(_ families: [Family], rounds: Int, calls: Int) async throws {
        write("| engine | at once | | p50, µs | wall per call, µs | of bare (95 %) | CPU per call, µs | of bare (95 %) |")
        write("|---|--:|---|--:|--:|--:|--:|--:|")
        for lanes in [1, 64] {
            for family in families where family.factor == 1 || lanes == 1 {
                var timings = family.variants.map { _ in Timings() }
                let callsPerTurn = calls * family.factor * (lanes == 1 ? 1 : 4)
                // Open the connections and load the code.
                for variant in family.variants { _ = try await turn(of: variant, calls: callsPerTurn, lanes: lanes) }
                for _ in 0..<rounds {
                    for place in family.variants.indices.shuffled() {
                        timings[place].add(try await turn(of: family.variants[place], calls: callsPerTurn, lanes: lanes))
                    }
                }
                for (variant, timing) in zip(family.variants, timings) {
                    let isBare = variant.name == "bare"
                    let cells = [
                        family.name, "\(lanes)", variant.name, number(timing.median), number(timing.wall),
                        isBare ? "" : text(timing.wallRatio(to: timings[0])), number(timing.processor),
                        isBare ? "" : text(timing.processorRatio(to: timings[0])),
                    ]
                    write("| \(cells.joined(separator: " | ")) |")
                }
            }
        }
    }

    private static func countAllocations(_ families: [Family], calls: Int) async throws {
        guard can_count_allocations() else { throw Unusable() }
        write("| engine | | allocations per call | bytes per call |")
        write("|---|---|--:|--:|")
        for family in families {
            for variant in family.variants {
                for _ in 0..<calls { _ = try await variant.call() }
                // Waits for remains of the last call, such as canceled timers.
                try await Task.sleep(for: .milliseconds(100))
                let before = current_allocations()
                count_allocations(true)
                for _ in 0..<calls { _ = try await variant.call() }
                try await Task.sleep(for: .milliseconds(100))
                count_allocations(false)
                let after = current_allocations()
                let (count, bytes) = (after.count - before.count, after.bytes - before.bytes)
                write(
                    "| \(family.name) | \(variant.name) | \(number(Double(count) / Double(calls))) "
                        + "| \(number(Double(bytes) / Double(calls))) |"
                )
            }
        }
    }

    private static func runOne(_ families: [Family], _ arguments: [String]) async throws {
        guard arguments.count == 4, let family = families.first(where: { $0.name == arguments[0] }),
            let variant = family.variants.first(where: { $0.name == arguments[1] }),
            let lanes = Int(arguments[2]), let calls = Int(arguments[3]), lanes > 0, calls >= lanes
        else { throw Unusable() }
        let turn = try await turn(of: variant, calls: calls, lanes: lanes)
        let perCall = { (time: Duration) in number(time / .microseconds(1) / Double(turn.each.count)) }
        write("\(turn.each.count) calls, \(perCall(turn.wall)) µs wall and \(perCall(turn.processor)) µs CPU per call")
    }

    /// Makes calls in a number of concurrent lanes, and times each call and all calls together.
    private static func turn(of variant: Variant, calls: Int, lanes: Int) async throws -> Turn {
        let (begin, processorBegin) = (ContinuousClock.now, processorTime())
        let each = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for _ in 0..<lanes {
                group.addTask {
                    var each: [Duration] = []
                    each.reserveCapacity(calls / lanes)
                    for _ in 0..<(calls / lanes) {
                        let begin = ContinuousClock.now
                        guard try await variant.call() == AnsweringServer.body.utf8.count else { throw WrongResponse() }
                        each.append(begin.duration(to: .now))
                    }
                    return each
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        return Turn(each: each, wall: begin.duration(to: .now), processor: processorTime() - processorBegin)
    }

    /// The processor time that the process has used.
    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Writes a line immediately, so that a user sees the progress.
    private static func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    private static func number(_ value: Double) -> String { String(format: value < 10 ? "%.2f" : "%.1f", value) }
    private static func text(_ ratio: Ratio) -> String {
        String(format: "%.3f (%.3f–%.3f)", ratio.median, ratio.low, ratio.high)
    }
}
