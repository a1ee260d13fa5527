import ErrorContract
import HoldfastTesting
import ResilientHTTP
import Testing
import Timekeeping

@Suite(.timeLimit(.minutes(1))) struct WithRetryTests {
    private let clock = ManualClock()
    private var environment: ClientEnvironment { ClientEnvironment(clock: MonotonicClock(clock), chance: { 1 }) }

    @Test("An operation is repeated after the pauses of the policy until it succeeds")
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

    @Test("What can't be repaired by repeating is thrown at once, under its context")
    func permanent() async throws {
        struct Odd: Error {}
        let error = await failure {
            try await withRetry(context: "sync_data", environment: environment) { throw Odd() }
        }
        #expect(error?.context == "sync_data" && error?.attempts == 1 && error?.kind == .custom)
    }

    @Test("No pause is begun that would end after the time is up")
    func deadline() async throws {
        let error = await failure {
            try await withRetry(timeout: .seconds(1), environment: environment) {
                throw TransportError(.timeout, message: "", wasSent: true)
            }
        }
        #expect(error?.kind == .timeout && clock.now == .init())
    }
}
