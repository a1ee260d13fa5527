import ErrorContract
import HoldfastTesting
import ResilientHTTP
import Testing
import Timekeeping

@Suite(.timeLimit(.minutes(10))) struct WithRetryTests {
    private let clock = ManualClock()
    private var environment: ClientEnvironment { ClientEnvironment(clock: MonotonicClock(clock), chance: { 1 }) }

    @Test("Repeats an operation with the policy's delays until it succeeds")
    func repeats() async throws {
        let environment = environment
        let work = Task {
            var calls = 0
            return try await withRetry(context: "sync_data", environment: environment) {
                calls += 1
                if calls < 3 { throw TransportError(.connectionLost, message: "", wasSent: true) }
                return calls
            }
        }
        for pause in [1, 2] {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(pause))
        }
        #expect(try await work.value == 3)
    }

    @Test("Throws a permanent failure at once, with its context")
    func permanent() async throws {
        struct Odd: Error {}
        let error = await failure {
            try await withRetry(context: "sync_data", environment: environment) { throw Odd() }
        }
        #expect(error?.context == "sync_data" && error?.attempts == 1 && error?.kind == .custom)
    }

    @Test("Begins no delay that would end past the time limit")
    func deadline() async throws {
        let error = await failure {
            try await withRetry(timeout: .seconds(1), environment: environment) {
                throw TransportError(.timeout, message: "", wasSent: true)
            }
        }
        #expect(error?.kind == .timeout && clock.now == .init())
    }
}
