import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing
import Timekeeping

@testable import AccountCore

/// The brown-out of `scripts/attack brown-out` in simulated time: known clients sign in at a server that hashes at a fifth of its
/// rate.
@Suite("Hashing at a fifth of the normal rate") struct HashingBrownOutTests {
    @Test("Serves the known clients 90% of the possible hashes", arguments: 0..<2)
    func goodput(seed: Int) throws {
        let outcome = try BrownOut(clients: 100, capacity: 50, seed: UInt64(seed)).run()
        #expect(outcome.goodput >= 0.9, "\(outcome.goodput)")
        #expect(outcome.delays.allSatisfy { $0 >= 1 && $0 <= 60 })
        #expect(outcome.success(from: 10, to: 15) >= 0.95, "\(outcome.success(from: 10, to: 15))")
    }
}

/// Clients that sign in at four fifths of the rate at which a server hashes. From the 3rd second to the 33rd it hashes at a fifth
/// of its rate.
private struct BrownOut {
    struct Call: Sendable {
        var begin: Duration
        var end: Duration
        var isGood: Bool
    }

    struct Outcome {
        var calls: [Call]
        var delays: [Int]
        var ideal: Double

        var goodput: Double {
            Double(calls.count { $0.isGood && $0.end >= .seconds(3) && $0.end < .seconds(33) }) / ideal
        }

        /// The fraction of successful calls among those that began in some seconds after the recovery.
        func success(from first: Int, to last: Int) -> Double {
            let span = calls.filter { $0.begin >= .seconds(33 + first) && $0.begin < .seconds(33 + last) }
            return Double(span.count(where: \.isGood)) / Double(max(1, span.count))
        }
    }

    var clients: Int
    /// Hashes per second.
    var capacity: Double
    var seed: UInt64

    func run() throws -> Outcome {
        let (clock, executor, calls) = (ManualClock(), SteppedExecutor(), Shared<Call>())
        let server = HashingServer(rate: capacity, seed: seed, clock: clock, executor: executor)
        let url = try #require(URL(string: "https://accounts.example.org"))
        let rate = capacity * 0.8 / Double(clients)
        for number in 0..<clients {
            let chance = Chance(seed: seed &* 1_000_003 &+ UInt64(number))
            var client = APIClient(
                baseURL: url,
                transport: server.transport(of: "network \(number)"),
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
                    let isGood = (try? await client.send(.post, "/api/auth/login", body: nil)) != nil
                    calls.add(Call(begin: begin, end: clock.now.offset, isGood: isGood))
                }
            }
        }
        executor.run(clock, until: .seconds(3))
        server.change(rate: capacity / 5)
        executor.run(clock, until: .seconds(33))
        server.change(rate: capacity)
        executor.run(clock, until: .seconds(200))
        return Outcome(calls: calls.all, delays: server.delays.all, ideal: capacity / 5 * 30)
    }
}

/// Four threads that take their jobs from a ``HashQueue``, in simulated time.
private final class HashingServer: Sendable {
    /// The end of a sign-in.
    enum End: Sendable { case hashed, refused(Duration), cancelled }
    typealias Job = CheckedContinuation<End, Never>

    private struct State {
        var queue = HashQueue<Job>(width: 4, limit: 64, longestWait: .seconds(1))
        var rate: Double
        var random: SplitMix64
    }

    let delays = Shared<Int>()
    private let state: Mutex<State>
    private let clock: ManualClock
    private let executor: SteppedExecutor

    init(rate: Double, seed: UInt64, clock: ManualClock, executor: SteppedExecutor) {
        state = Mutex(State(rate: rate, random: SplitMix64(seed: seed)))
        (self.clock, self.executor) = (clock, executor)
    }

    func change(rate: Double) { state.withLock { $0.rate = rate } }

    func transport(of network: String) -> any HTTPTransport { Transport(server: self, network: network) }

    private func signIn(from network: String, timeout: Duration) async -> End {
        let ticket = state.withLock { $0.queue.nextTicket() }
        let deadline = Task(executorPreference: executor) { [self] in
            try await clock.sleep(for: timeout)
            state.withLock { $0.queue.cancel(ticket) }?.resume(returning: .cancelled)
        }
        defer { deadline.cancel() }
        return await withCheckedContinuation { job in
            let admission = state.withLock { state in
                let chance = Double.random(in: 0..<1, using: &state.random)
                return state.queue.enter(job, ticket, as: .attempt, from: network, at: clock.now.offset, chance: chance)
            }
            switch admission {
            case .start(let job): compute(job)
            case .waiting(let displaced): displaced.map { $0.job.resume(returning: .refused($0.delay)) }
            case .refused(let refusal): refusal.job.resume(returning: .refused(refusal.delay))
            case .cancelled(let job): job.resume(returning: .cancelled)
            }
        }
    }

    private func compute(_ first: Job) {
        _ = Task(executorPreference: executor) { [self] in
            var job: Job? = first
            while let current = job {
                try await clock.sleep(for: .seconds(4 / state.withLock(\.rate)))
                current.resume(returning: .hashed)
                job = state.withLock { $0.queue.finish(at: clock.now.offset) }
            }
        }
    }

    private struct Transport: HTTPTransport {
        let server: HashingServer
        let network: String

        func send(
            _ request: HTTPRequest,
            body: RequestBody?,
            timeout: Duration
        ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
            let begin = server.clock.now.offset
            let end = await server.signIn(from: network, timeout: timeout)
            switch end {
            case .hashed where server.clock.now.offset - begin < timeout: return (HTTPResponse(status: .ok), ResponseBody())
            case .refused(let delay):
                let seconds = Int(delay.components.seconds)
                server.delays.add(seconds)
                return (HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "\(seconds)"]), ResponseBody())
            case .hashed, .cancelled: throw TransportError(.timeout, message: "", wasSent: true)
            }
        }
    }
}

/// A list to which concurrent tasks append values.
private final class Shared<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    var all: [Value] { values.withLock(\.self) }
    func add(_ value: Value) { values.withLock { $0.append(value) } }
}

/// A random source with the same sequence in every run.
private final class Chance: Sendable {
    private let generator: Mutex<SplitMix64>

    init(seed: UInt64) {
        generator = Mutex(SplitMix64(seed: seed))
    }

    func next() -> Double { generator.withLock { Double.random(in: 0..<1, using: &$0) } }
}
