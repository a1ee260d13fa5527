import AccountContract
import AccountStoreTesting
import ErrorContract
import HoldfastTesting
import Testing

@testable import AccountCore

@Suite(.timeLimit(.minutes(10))) struct HashingGateTests {
    /// Returns a gate whose hashing is blocked after the decoy's hash.
    private func makeGate(width: Int, queueLimit: Int) throws -> (gate: HashingGate, hashing: PlainHashing) {
        let hashing = PlainHashing()
        let gate = try HashingGate(
            hashing: hashing,
            width: width,
            queueLimit: queueLimit,
            clock: ManualClock(),
            chance: { 0 }
        )
        hashing.hold()
        return (gate, hashing)
    }

    @Test("Hashes at most the width at once, and serves every caller", arguments: [1, 2, 3])
    func width(_ width: Int) async throws {
        let (gate, hashing) = try makeGate(width: width, queueLimit: 64)
        let hashes = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<8 {
                group.addTask { try await gate.hash(try Password("password \(number)")) }
            }
            await until { hashing.running == width && gate.queueLength == 8 - width }
            hashing.release(8)
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(hashes == Set((0..<8).map { "1:password \($0)" }))
        #expect(hashing.peak == width)
        #expect(gate.queueLength == 0)
    }

    @Test("Refuses a caller past the queue's limit at once, with a retry delay")
    func queueLimit() async throws {
        let (gate, hashing) = try makeGate(width: 1, queueLimit: 2)
        let inside = Task { try await gate.hash(try Password("inside")) }
        await until { hashing.running == 1 }
        let waiting = (0..<2).map { number in Task { try await gate.hash(try Password("waiting \(number)")) } }
        await until { gate.queueLength == 2 }
        for _ in 0..<3 {
            let refusal = await #expect(throws: AccountError.self) { try await gate.hash(try Password("late")) }
            #expect(refusal?.code == .serverServiceUnavailable)
            #expect(refusal?.retryAfter == .seconds(1))
        }
        let late = await #expect(throws: AccountError.self) { try await gate.verify(try Password("late"), against: nil) }
        #expect(late?.code == .serverServiceUnavailable)
        hashing.release(3)
        _ = try await inside.value
        for task in waiting { _ = try await task.value }
        #expect(!hashing.begun.contains("late"))
        hashing.release()
        #expect(try await gate.hash(try Password("later")) == "1:later", "the places are free again")
    }

    @Test("Orders attempts fairly by network, callers with proven credentials first")
    func networks() async throws {
        let (gate, hashing) = try makeGate(width: 1, queueLimit: 64)
        var tasks: [Task<String, any Error>] = []
        func add(_ name: String, from network: String, as purpose: HashingPurpose = .attempt) async {
            let origin = AuditOrigin(client: network, requestID: nil)
            let count = tasks.count
            tasks.append(
                Task { try await AuditOrigin.$current.withValue(origin) { try await gate.hash(try Password(name), as: purpose) } }
            )
            await until { hashing.running == 1 && gate.queueLength == count }
        }
        for name in ["flood 1", "flood 2", "flood 3"] { await add(name, from: "192.0.2.0/24") }
        await add("user", from: "198.51.100.0/24")
        await add("confirm", from: "192.0.2.0/24", as: .entitled)
        hashing.release(5)
        for task in tasks { _ = try await task.value }
        #expect(hashing.begun == ["flood 1", "confirm", "flood 2", "user", "flood 3"])
    }

    @Test("Without a queue, refuses a second caller")
    func noQueue() async throws {
        let (gate, hashing) = try makeGate(width: 1, queueLimit: 0)
        let inside = Task { try await gate.hash(try Password("inside")) }
        await until { hashing.running == 1 }
        await #expect(throws: AccountError.self) { try await gate.hash(try Password("second")) }
        hashing.release()
        _ = try await inside.value
    }

    @Test("Hashes in order of arrival")
    func firstComeFirstServed() async throws {
        let (gate, hashing) = try makeGate(width: 1, queueLimit: 64)
        let names = ["a", "b", "c", "d", "e"]
        var tasks: [Task<String, any Error>] = []
        for (index, name) in names.enumerated() {
            tasks.append(Task { try await gate.hash(try Password(name)) })
            await until { hashing.running == 1 && gate.queueLength == index }
        }
        for (index, task) in tasks.enumerated() {
            #expect(hashing.begun == Array(names.prefix(index + 1)))
            hashing.release()
            _ = try await task.value
            await until { hashing.begun.count == min(index + 2, names.count) }
        }
        #expect(hashing.begun == names)
    }

    @Test("A failed hash frees its slot and throws its error to the caller")
    func failure() async throws {
        struct Broken: Error {}
        let hashing = PlainHashing()
        hashing.fail("bad", with: Broken())
        let gate = try HashingGate(hashing: hashing, width: 1, queueLimit: 0)
        for _ in 0..<3 {
            await #expect(throws: Broken.self) { try await gate.hash(try Password("bad")) }
        }
        #expect(try await gate.hash(try Password("good")) == "1:good")
        #expect(gate.needsRehash("old"))
        #expect(!gate.needsRehash("1:new"))
    }

    @Test("A gate with no width or a negative queue fails a precondition")
    func impossibleGate() async {
        await #expect(processExitsWith: .failure) { _ = try HashingGate(hashing: PlainHashing(), width: 0) }
        await #expect(processExitsWith: .failure) { _ = try HashingGate(hashing: PlainHashing(), width: 1, queueLimit: -1) }
    }
}
