import RateLimiting
import Testing

@Suite(.timeLimit(.minutes(10))) struct SingleFlightTests {
    private struct Broken: Error {}

    private let flight = SingleFlight<Int>()
    /// The number of operations that have begun.
    private let runs = Recorded(0)

    /// Starts a caller of an operation that returns its number when the gate is finished, or -1 if it was canceled.
    private func call(_ gate: AsyncStream<Void>, isCancellable: Bool = true) -> Task<(value: Int, isShared: Bool), any Error> {
        Task { [flight, runs] in
            try await flight.run(isCancellable: isCancellable, unless: { .join }) {
                runs.update { $0 += 1 }
                let number = runs.value
                for await _ in gate {}
                return Task.isCancelled ? -1 : number
            }
        }
    }

    private func waitForCallers(_ count: Int) async { while flight.waiting != count { await Task.yield() } }

    @Test("Runs one operation for all callers, and only its starter doesn't share it")
    func sharedResult() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let callers = (0..<5).map { _ in call(gate) }
        await waitForCallers(5)
        #expect(!flight.isIdle)
        open.finish()
        var starters = 0
        for caller in callers {
            let result = try await caller.value
            #expect(result.value == 1)
            if !result.isShared { starters += 1 }
        }
        #expect(starters == 1 && runs.value == 1)
        #expect(flight.isIdle)
    }

    @Test("Passes the error of an operation to all callers, and then runs another one")
    func sharedError() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let callers = (0..<3).map { _ in
            Task { [flight] in
                try await flight.run(unless: { .join }) {
                    for await _ in gate {}
                    throw Broken()
                }.value
            }
        }
        await waitForCallers(3)
        open.finish()
        for caller in callers { await #expect(throws: Broken.self) { try await caller.value } }
        let next = try await flight.run(unless: { .join }) { 7 }
        #expect(next.value == 7 && !next.isShared)
        #expect(flight.isIdle)
    }

    @Test("A canceled starter returns at once, and the operation continues for the others")
    func canceledStarter() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let starter = call(gate)
        await waitForCallers(1)
        let other = call(gate)
        await waitForCallers(2)
        starter.cancel()
        await #expect(throws: CancellationError.self) { try await starter.value }
        #expect(flight.waiting == 1)
        open.finish()
        let result = try await other.value
        #expect(result.value == 1 && result.isShared)
        #expect(flight.isIdle)
    }

    @Test("An operation whose only caller was canceled continues, and a later call joins it")
    func abandonedOperation() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let starter = call(gate)
        await waitForCallers(1)
        starter.cancel()
        await #expect(throws: CancellationError.self) { try await starter.value }
        #expect(flight.waiting == 0 && !flight.isIdle)
        let later = call(gate)
        await waitForCallers(1)
        open.finish()
        let result = try await later.value
        #expect(result.value == 1 && result.isShared && runs.value == 1)
        #expect(flight.isIdle)
    }

    @Test("A caller that is canceled before it enters starts no operation")
    func canceledBeforeEntry() async throws {
        let caller = Task { [flight, runs] in
            while !Task.isCancelled { await Task.yield() }
            return try await flight.run(unless: { .join }) {
                runs.update { $0 += 1 }
                return 1
            }.value
        }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(runs.value == 0)
        #expect(flight.isIdle)
    }

    @Test("A caller that can't be canceled gets the result although its task is canceled")
    func nonCancellableCaller() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let starter = call(gate, isCancellable: false)
        await waitForCallers(1)
        starter.cancel()
        let other = call(gate, isCancellable: false)
        other.cancel()
        await waitForCallers(2)
        open.finish()
        let (first, second) = (try await starter.value, try await other.value)
        #expect(first.value == 1 && !first.isShared)
        #expect(second.value == 1 && second.isShared)
        #expect(flight.isIdle)
    }

    @Test("Returns a result that exists already, also while an operation runs")
    func ready() async throws {
        let early = try await flight.run(unless: { .ready(5) }) { 6 }
        #expect(early.value == 5 && early.isShared)
        #expect(flight.isIdle)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let caller = call(gate)
        await waitForCallers(1)
        let late = try await flight.run(unless: { .ready(5) }) { 6 }
        #expect(late.value == 5 && late.isShared && flight.waiting == 1)
        open.finish()
        #expect(try await caller.value.value == 1)
        #expect(flight.isIdle)
    }

    @Test("Throws the error of an operation that can't succeed, and starts none")
    func hopeless() async throws {
        await #expect(throws: Broken.self) {
            try await flight.run(unless: { .hopeless(Broken()) }) { [runs] in
                runs.update { $0 += 1 }
                return 1
            }
        }
        #expect(runs.value == 0)
        #expect(flight.isIdle)
    }

    @Test("Calls the landing of the starter once, before any caller gets the outcome")
    func landingBeforeResults() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let steps = Recorded<[String]>([])
        let callers = (0..<4).map { _ in
            Task { [flight] in
                let landing: @Sendable (SingleFlight<Int>.Outcome) -> Void = { outcome in
                    let value = try? outcome.get()
                    steps.update { $0.append("landing \(value ?? 0)") }
                }
                let result = try await flight.run(unless: { .join }, landing: landing) {
                    for await _ in gate {}
                    return 3
                }
                steps.update { $0.append("result \(result.value)") }
            }
        }
        await waitForCallers(4)
        open.finish()
        for caller in callers { try await caller.value }
        #expect(steps.value == ["landing 3"] + Array(repeating: "result 3", count: 4))
        #expect(flight.isIdle)
    }

    @Test("Passes the error of an operation to its landing")
    func landingOfError() async throws {
        let isBroken = Recorded(false)
        let landing: @Sendable (SingleFlight<Int>.Outcome) -> Void = { outcome in
            if case .failure(let error) = outcome { isBroken.update { $0 = error is Broken } }
        }
        await #expect(throws: Broken.self) {
            try await flight.run(unless: { .join }, landing: landing) { throw Broken() }
        }
        #expect(isBroken.value)
        #expect(flight.isIdle)
    }

    @Test("No caller enters between the end of an operation and its landing")
    func noEntryBeforeLanding() async throws {
        let cached = Recorded<Int?>(nil)
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<200 {
                group.addTask { [flight, runs] in
                    try await flight.run(
                        unless: { cached.value.map { .ready($0) } ?? .join },
                        landing: { outcome in
                            let value = try? outcome.get()
                            cached.update { $0 = value }
                        }
                    ) {
                        runs.update { $0 += 1 }
                        await Task.yield()
                        return runs.value
                    }.value
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(values == Array(repeating: 1, count: 200))
        #expect(runs.value == 1)
        #expect(flight.isIdle)
    }
}
