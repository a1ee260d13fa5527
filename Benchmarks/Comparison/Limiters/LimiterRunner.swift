import Foundation
import HoldfastTesting
import RateLimiting

/// Runs our limiter for compare.py: `LimiterRunner ring` or `strict BURST`.
@main
struct LimiterRunner {
    private typealias Limiter = KeyedRateLimiter<String, ManualClock>

    private let policy: RateLimitPolicy
    private let trace: [(instant: ManualClock.Instant, key: String)]

    static func main() throws {
        var runner: LimiterRunner?
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            if words[0] == "init" {
                runner = try LimiterRunner(quota: Int(words[1]) ?? 1, window: Int64(words[2]) ?? 1, file: words[3])
                print("ok")
            } else if let runner {
                print(runner.response(words))
            }
            fflush(nil)
        }
    }

    private init(quota: Int, window: Int64, file: String) throws {
        let arguments = CommandLine.arguments
        let burst = arguments.count > 2 ? Int(arguments[2]) ?? quota : quota
        let algorithm = arguments[1] == "strict" ? RateLimitAlgorithm.strictGCRA(burst: burst) : .slidingWindow
        policy = .requests(quota, per: .nanoseconds(window), algorithm: algorithm)
        trace = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return (Self.instant(Int64(words[0]) ?? 0), String(words[1]))
        }
    }

    private static func instant(_ nanoseconds: Int64) -> ManualClock.Instant {
        ManualClock.Instant(offset: .nanoseconds(nanoseconds))
    }

    private func response(_ words: [String]) -> String {
        switch words[0] {
        case "run": run()
        case "probe": probe(Int(words[1]) ?? 0, Self.instant(Int64(words[2]) ?? 0))
        case "time": "\(time())"
        case "bytes": "\(bytes(Int(words[1]) ?? 1))"
        default: "unknown command"
        }
    }

    private func limiter() -> Limiter { Limiter(policy: policy, clock: ManualClock()) }

    private func run() -> String {
        let limiter = limiter()
        return trace.map { request in
            guard case .refused(let wait) = limiter.admit(request.key, at: request.instant) else { return "1" }
            return "0 \(wait.components.seconds * 1_000_000_000 + wait.components.attoseconds / 1_000_000_000)"
        }.joined(separator: "\n")
    }

    private func probe(_ number: Int, _ instant: ManualClock.Instant) -> String {
        let limiter = limiter()
        for request in trace[...number] where request.key == trace[number].key {
            _ = limiter.admit(request.key, at: request.instant)
        }
        return limiter.admit(trace[number].key, at: instant).isAdmitted ? "1" : "0"
    }

    /// Returns the best time of several rounds.
    private func time() -> Double {
        (0..<5).map { _ in
            let limiter = limiter()
            let start = ContinuousClock.now
            for request in trace { _ = limiter.admit(request.key, at: request.instant) }
            return (ContinuousClock.now - start) / .nanoseconds(1) / Double(trace.count)
        }.min() ?? 0
    }

    private func bytes(_ count: Int) -> Double {
        let limiter = limiter()
        let keys = (0..<count).map { "client-\($0)" }
        let before = Self.resident
        for key in keys { _ = limiter.admit(key, at: trace[0].instant) }
        return Double(Self.resident - before) / Double(limiter.count)
    }

    private static var resident: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4_096 } ?? 0
    }
}
