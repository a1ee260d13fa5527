import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Timekeeping

@testable import ResilientHTTP

/// Clients of one server that works at a fifth of its capacity for half a minute, in exact simulated time without sockets.
struct BrownOut {
    /// The treatment of requests that would wait too long.
    enum Refusal: Sendable {
        /// It responds with 503 and `Retry-After: 2`.
        case named
        /// It does not respond.
        case silent
    }

    var clients: Int
    /// Calls per second of one client.
    var rate: Double
    var refusal = Refusal.named
    var seed: UInt64 = 0
    /// The fraction of its capacity that the server has in the brown-out.
    var share = 0.2

    /// One call.
    struct Call: Sendable {
        var begin: Duration
        var end: Duration
        var isGood: Bool
    }

    /// The result of a brown-out.
    struct Outcome {
        var calls: [Call]
        var sent: [Duration]
        /// The number of calls that could have been served in the brown-out.
        var ideal: Double

        /// Requests in the brown-out per call that began in it.
        var attemptsPerCall: Double {
            Double(sent.count { $0 >= .seconds(3) && $0 < .seconds(33) })
                / Double(calls.count { $0.begin >= .seconds(3) && $0.begin < .seconds(33) })
        }

        /// The calls served in the brown-out, as a fraction of those that could have been.
        var goodput: Double {
            Double(calls.count { $0.isGood && $0.end >= .seconds(3) && $0.end < .seconds(33) }) / ideal
        }

        /// The fraction of successful calls among those that began in a span after the recovery.
        func success(from first: Duration = .zero, to last: Duration = .seconds(15)) -> Double {
            let later = calls.filter { $0.begin >= .seconds(33) + first && $0.begin < .seconds(33) + last }
            return Double(later.count(where: \.isGood)) / Double(max(1, later.count))
        }

        /// The seconds after the recovery from which 99% of the calls of every later second succeeded.
        var secondsToRecover: Int {
            (0..<15).last { success(from: .seconds($0), to: .seconds($0 + 1)) < 0.99 }.map { $0 + 1 } ?? 0
        }
    }

    private final class CallLog: Sendable {
        private let ended = Mutex<[Call]>([])
        var all: [Call] { ended.withLock(\.self) }
        func note(_ call: Call) { ended.withLock { $0.append(call) } }
    }

    /// Makes one call of a client to a server, and returns whether it succeeded.
    typealias Caller = @Sendable (APIClient, any HTTPTransport) async -> Bool

    /// Runs clients, each with its own pipeline, for 48 s. The brown-out is from the 3rd to the 33rd second.
    /// - Parameters:
    ///   - caller: Makes a call, such as through an adapter.
    ///   - middleware: Creates the pipeline of one client.
    func run(
        calling caller: @escaping Caller = { client, _ in (try? await client.send(.get, "/a")) != nil },
        _ middleware: () -> [any ClientMiddleware]
    ) throws -> Outcome {
        let (clock, executor) = (ManualClock(), SteppedExecutor())
        let capacity = Double(clients) * rate * 1.25
        let server = BrownServer(rate: capacity, refusal: refusal, clock: clock)
        guard let url = URL(string: "https://api.example.org") else { throw URLError(.badURL) }
        let calls = CallLog()
        for number in 0..<clients {
            let chance = Chance(seed: seed &* 1_000_003 &+ UInt64(number))
            var client = APIClient(
                baseURL: url,
                transport: server,
                middleware: middleware(),
                environment: ClientEnvironment(
                    clock: MonotonicClock(clock),
                    wallClock: { Date(timeIntervalSince1970: 1_762_252_200) },
                    chance: { chance.next() }
                )
            )
            client.attemptTimeout = .seconds(2)
            var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(100_000 + number))
            var next = Duration.zero
            while true {
                next += .seconds(-log(Double.random(in: 1e-9...1, using: &random)) / rate)
                guard next < .seconds(48) else { break }
                let begin = next
                _ = Task(executorPreference: executor) { [client] in
                    try await clock.sleep(until: .init(offset: begin))
                    let isGood = await caller(client, server)
                    calls.note(Call(begin: begin, end: clock.now.offset, isGood: isGood))
                }
            }
        }
        executor.run(clock, until: .seconds(3))
        server.change(rate: capacity * share)
        executor.run(clock, until: .seconds(33))
        server.change(rate: capacity)
        executor.run(clock, until: .seconds(200))
        return Outcome(calls: calls.all, sent: server.instants, ideal: capacity * share * 30)
    }
}

/// A random source with the same sequence in every run.
private final class Chance: Sendable {
    private let generator: Mutex<SplitMix64>

    init(seed: UInt64) {
        generator = Mutex(SplitMix64(seed: seed))
    }

    func next() -> Double { generator.withLock { Double.random(in: 0...1, using: &$0) } }
}

/// A server in memory with bounded workers and a bounded queue.
private final class BrownServer: HTTPTransport {
    private let clock: ManualClock
    private let refusal: BrownOut.Refusal
    private let state: Mutex<(capacity: ServerCapacity, instants: [Duration])>

    init(rate: Double, refusal: BrownOut.Refusal, clock: ManualClock) {
        (self.clock, self.refusal) = (clock, refusal)
        state = Mutex((ServerCapacity(rate: rate), []))
    }

    /// The instants of the requests.
    var instants: [Duration] { state.withLock(\.instants) }

    func change(rate: Double) { state.withLock { $0.capacity.change(rate: rate, at: clock.now.offset) } }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let now = clock.now.offset
        let response = state.withLock { state in
            state.instants.append(now)
            let response = state.capacity.take(at: now)
            return response == .refused && refusal == .silent ? .ignored : response
        }
        let wait: Duration =
            switch response {
            case .served(let wait): min(wait, timeout)
            case .refused: .milliseconds(1)
            case .ignored: timeout
            }
        do { try await clock.sleep(for: wait) } catch { throw TransportError(.cancelled, message: "", wasSent: true) }
        switch response {
        case .served(let wait) where wait < timeout: return (HTTPResponse(status: .ok), ResponseBody())
        case .refused: return (HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "2"]), ResponseBody())
        case .served, .ignored: throw TransportError(.timeout, message: "", wasSent: true)
        }
    }
}
