import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import HoldfastTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct HashingGateCancellationTests {
    @Test("A canceled caller leaves the queue at once, and its place is free")
    func whileWaiting() async throws {
        let hashing = PlainHashing()
        let gate = try HashingGate(hashing: hashing, width: 1, queueLimit: 1, clock: ManualClock())
        hashing.hold()
        let inside = Task { try await gate.hash(try Password("inside")) }
        await until { hashing.running == 1 }
        for round in 0..<20 {
            let waiting = Task { try await gate.hash(try Password("cancelled \(round)")) }
            await until { gate.queueLength == 1 }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(gate.queueLength == 0)
        }
        let next = Task { try await gate.hash(try Password("next")) }
        await until { gate.queueLength == 1 }
        hashing.release(2)
        #expect(try await inside.value == "1:inside")
        #expect(try await next.value == "1:next")
        #expect(hashing.begun == ["inside", "next"], "nothing is hashed for those who left")
    }

    @Test("A cancellation in the middle of the queue keeps the order of the others")
    func inTheMiddle() async throws {
        let hashing = PlainHashing()
        let gate = try HashingGate(hashing: hashing, width: 1, queueLimit: 8, clock: ManualClock())
        hashing.hold()
        var tasks: [Task<String, any Error>] = []
        for (index, name) in ["a", "b", "c", "d"].enumerated() {
            tasks.append(Task { try await gate.hash(try Password(name)) })
            await until { hashing.running == 1 && gate.queueLength == index }
        }
        tasks[2].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[2].value }
        hashing.release(3)
        for index in [0, 1, 3] { _ = try await tasks[index].value }
        #expect(hashing.begun == ["a", "b", "d"])
    }

    @Test("Refuses a caller that was canceled before it enters, even if there is room")
    func beforehand() async throws {
        let gate = try HashingGate(hashing: PlainHashing(), width: 1, queueLimit: 0)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await gate.hash(try Password("cancelled"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await gate.hash(try Password("next")) == "1:next")
    }

    @Test("A caller canceled during its hash still gets the hash, then the slot is free")
    func whileHashing() async throws {
        let hashing = PlainHashing()
        let gate = try HashingGate(hashing: hashing, width: 1, queueLimit: 0)
        hashing.hold()
        let inside = Task { try await gate.hash(try Password("inside")) }
        await until { hashing.running == 1 }
        inside.cancel()
        hashing.release(2)
        #expect(try await inside.value == "1:inside")
        #expect(try await gate.hash(try Password("next")) == "1:next")
    }

    @Test("Races of cancellations and departures lose no slot")
    func races() async throws {
        let gate = try HashingGate(hashing: PlainHashing(), width: 2, queueLimit: 1_000, clock: ManualClock())
        for _ in 0..<20 {
            let tasks = (0..<40).map { number in Task { try await gate.hash(try Password("\(number)")) } }
            for (index, task) in tasks.enumerated() where index.isMultiple(of: 3) { task.cancel() }
            for (index, task) in tasks.enumerated() {
                switch await task.result {
                case .success(let hash): #expect(hash == "1:\(index)")
                case .failure(let error): #expect(error is CancellationError && index.isMultiple(of: 3))
                }
            }
            #expect(gate.queueLength == 0)
        }
        let strict = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<2 { group.addTask { try await gate.hash(try Password("both places")) } }
            return try await group.reduce(into: 0) { count, _ in count += 1 }
        }
        #expect(strict == 2)
    }
}
