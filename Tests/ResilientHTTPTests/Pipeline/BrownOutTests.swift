import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing

@testable import ResilientHTTP

/// The brown-out of `scripts/brown-out` in simulated time: exact, and without sockets.
@Suite("A server at a fifth of its capacity") struct BrownOutTests {
    private let clock = ManualClock()
    private let executor = SteppedExecutor()

    private struct Call: Sendable {
        var begin: Duration
        var end: Duration
        var isGood: Bool
    }

    private final class CallLog: Sendable {
        private let ended = Mutex<[Call]>([])
        var all: [Call] { ended.withLock(\.self) }
        func note(_ call: Call) { ended.withLock { $0.append(call) } }
    }

    private struct Story {
        var calls: [Call]
        var sent: [Duration]

        /// Requests in the brown-out per call that began in it.
        var attemptsPerCall: Double {
            Double(sent.count { $0 >= .seconds(3) && $0 < .seconds(33) })
                / Double(calls.count { $0.begin >= .seconds(3) && $0.begin < .seconds(33) })
        }

        /// What was served in the brown-out, of so many that could have been.
        func goodput(of ideal: Double) -> Double {
            Double(calls.count { $0.isGood && $0.end >= .seconds(3) && $0.end < .seconds(33) }) / ideal
        }

        /// The part that succeeded of the calls that began from an instant on.
        func success(from instant: Duration) -> Double {
            let later = calls.filter { $0.begin >= instant }
            return Double(later.count(where: \.isGood)) / Double(later.count)
        }
    }

    /// Runs clients, each with a pipeline of its own, for 48 s, of which from the 3rd to the 33rd the server does a fifth.
    private func run(clients: Int, rate: Double, middleware: () -> [any ClientMiddleware]) throws -> Story {
        let (clock, executor) = (clock, executor)
        let capacity = Double(clients) * rate * 1.25
        let server = BrownServer(rate: capacity, clock: clock)
        let url = try #require(URL(string: "https://api.example.org"))
        let calls = CallLog()
        for number in 0..<clients {
            let chance = Chance(seed: UInt64(number))
            let client = APIClient(
                baseURL: url,
                transport: server,
                middleware: middleware(),
                surroundings: ClientSurroundings(
                    clock: MonotonicClock(clock),
                    wallClock: { Date(timeIntervalSince1970: 1_762_252_200) },
                    chance: { chance.next() }
                )
            )
            var random = SplitMix64(seed: UInt64(1_000 + number))
            var next = Duration.zero
            while true {
                next += .seconds(-log(Double.random(in: 1e-9...1, using: &random)) / rate)
                guard next < .seconds(48) else { break }
                let begin = next
                _ = Task(executorPreference: executor) {
                    try await clock.sleep(until: .init(offset: begin))
                    let isGood = (try? await client.send(.get, "/a")) != nil
                    calls.note(Call(begin: begin, end: clock.now.offset, isGood: isGood))
                }
            }
        }
        executor.run(clock, until: .seconds(3))
        server.change(rate: capacity / 5)
        executor.run(clock, until: .seconds(33))
        server.change(rate: capacity)
        executor.run(clock, until: .seconds(200))
        return Story(calls: calls.all, sent: server.instants)
    }

    @Test("Phones that hold back cost it less than a request per call, so that it serves more, and all is well soon after")
    func phones() throws {
        let ours = try run(clients: 100, rate: 0.4) { ClientPipeline.standard() }
        #expect(ours.attemptsPerCall < 0.65, "\(ours.attemptsPerCall)")
        #expect(ours.goodput(of: 300) > 0.72, "\(ours.goodput(of: 300))")
        // Of so few requests a well server refuses one in a thousand, too, when they happen to come at once.
        #expect(ours.success(from: .seconds(38)) > 0.98, "\(ours.success(from: .seconds(38)))")
    }

    @Test("Retries alone multiply what it has to refuse, and it serves next to nothing: the test can tell the difference")
    func withoutGate() throws {
        let retrying = try run(clients: 100, rate: 0.4) { [RetryMiddleware()] }
        #expect(retrying.attemptsPerCall > 1, "\(retrying.attemptsPerCall)")
    }
}

/// Chance that is the same in every run.
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
    private let state: Mutex<(capacity: ServerCapacity, instants: [Duration])>

    init(rate: Double, clock: ManualClock) {
        self.clock = clock
        state = Mutex((ServerCapacity(rate: rate), []))
    }

    /// When requests came.
    var instants: [Duration] { state.withLock(\.instants) }

    func change(rate: Double) { state.withLock { $0.capacity.change(rate: rate, at: clock.now.offset) } }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let now = clock.now.offset
        let answer = state.withLock { state in
            state.instants.append(now)
            return state.capacity.take(at: now)
        }
        let wait: Duration =
            switch answer {
            case .served(let wait): min(wait, timeout)
            case .refused: .milliseconds(1)
            case .ignored: timeout
            }
        do { try await clock.sleep(for: wait) } catch { throw TransportError(.cancelled, message: "", wasSent: true) }
        switch answer {
        case .served(let wait) where wait < timeout: return (HTTPResponse(status: .ok), ResponseBody())
        case .refused: return (HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "2"]), ResponseBody())
        case .served, .ignored: throw TransportError(.timeout, message: "", wasSent: true)
        }
    }
}
