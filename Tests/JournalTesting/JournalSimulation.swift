import HoldfastTesting
import OfflineQueue
import PrivateFiles

/// A random history of a journal that two processes use, with a crash at each call and at each byte that is written.
package final class JournalSimulation {
    /// The result of histories.
    package struct Result: Sendable {
        package var crashes = 0
        package var transactions = 0
        package var compactions = 0
        package var failures: [String] = []

        package init() {}

        package static func += (left: inout Self, right: Self) {
            left.crashes += right.crashes
            left.transactions += right.transactions
            left.compactions += right.compactions
            left.failures += right.failures
        }
    }

    private typealias Core = JournalCore<TestRecords>
    private static let folder = "/disk/queue"

    private let seed: UInt64
    private let options: JournalOptions
    private var random: SplitMix64
    private var disk = SimulatedDisk()
    private var processes: [Core]
    private var compactions: [Compaction<TestRecords>?] = [nil, nil]
    private var result = Result()
    /// The records after each transaction; the last one may not have been acknowledged.
    private var expected: [[[UInt8]]] = [[]]
    /// The last sequence number after each of them that was acknowledged.
    private var sequences: [UInt64] = [0]
    /// How many transactions were acknowledged.
    private var acknowledged = 0
    /// How many of them as surviving a loss of power.
    private var durable = 0
    private var nextRecord = 0
    private var isNested = false
    /// Whether the steps are printed.
    package var isVerbose = false

    package init(seed: UInt64) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        var options = JournalOptions()
        (options.reserve, options.growth) = (40, 90)
        self.options = options
        processes = []
        processes = [newProcess(), newProcess()]
    }

    private func newProcess(on disk: SimulatedDisk? = nil) -> Core {
        Core(folder: Self.folder, state: TestRecords(), files: disk ?? self.disk, options: options)
    }

    /// Runs a history of a number of steps.
    package func run(steps: Int) -> Result {
        disk.observe = { [unowned self] call in check(call) }
        for step in 0..<steps where result.failures.isEmpty {
            do {
                try self.step()
            } catch {
                result.failures.append("seed \(seed), step \(step): \(error)")
            }
        }
        result.transactions = acknowledged
        return result
    }

    private func step() throws {
        let process = Int.random(in: 0..<2, using: &random)
        let choice = Int.random(in: 0..<22, using: &random)
        if isVerbose {
            print("process \(process): step \(choice); \(acknowledged) acknowledged, \(durable) durable; \(disk.fileNames)")
        }
        switch choice {
        case 0..<10: try transact(process)
        case 10..<13: try sync(process)
        case 13: try exclusively(process) { _ in }
        case 14:
            compactions[process] = nil
            processes[process] = newProcess()
        case 15..<18: try compact(process)
        case 18: try crash(losesPower: false)
        case 19, 20: try die(process)
        default: try crash(losesPower: true)
        }
    }

    private func transact(_ process: Int) throws {
        let count = Int.random(in: 1...3, using: &random)
        // Reads the frames of other processes, whose records this transaction may end.
        try exclusively(process) { _ in }
        var live = processes[process].state.records
        var frames: [(kind: UInt8, payload: [UInt8])] = []
        for _ in 0..<count {
            if !live.isEmpty, Int.random(in: 0..<3, using: &random) > 0 {
                let record = live.remove(at: Int.random(in: 0..<live.count, using: &random))
                frames.append((TestRecords.Kind.end, TestRecords.end(of: record.sequence)))
            } else {
                nextRecord += 1
                // Few lengths of payloads, so that new frames often have the offsets of frames of lost transactions.
                let payload =
                    Array("\(seed % 10)-\(nextRecord)".utf8)
                    + [UInt8](repeating: 0, count: [0, 0, 3, 40].randomElement(using: &random) ?? 0)
                frames.append((Bool.random(using: &random) ? TestRecords.Kind.record : TestRecords.Kind.unknown, payload))
            }
        }
        // The records of earlier transactions come first.
        let ended = Set(frames.filter { $0.kind == TestRecords.Kind.end }.map(\.payload))
        let left = processes[process].state.records.filter { !ended.contains(TestRecords.end(of: $0.sequence)) }.map(\.payload)
        expected.append(left + frames.filter { $0.kind != TestRecords.Kind.end }.map(\.payload))
        try exclusively(process) { core in
            try core.transact { _, transaction in
                for frame in frames { transaction.append(kind: frame.kind, payload: frame.payload) }
            }
        }
        acknowledged += 1
        sequences.append(processes[process].lastSequence)
    }

    /// Kills one process while it writes a transaction. The other one continues.
    private func die(_ process: Int) throws {
        var writes = Int.random(in: 0..<2, using: &random)
        disk.fail = { call, _ in
            if writes < 0 { return .damaged }
            if call == .write { writes -= 1 }
            return writes < 0 ? .damaged : nil
        }
        let before = expected.count
        do {
            try transact(process)
            disk.fail = nil
        } catch is FileFailure {
            disk.fail = nil
            compactions[process] = nil
            processes[process] = newProcess()
            // The transaction is there if the bytes that were not written are zeros.
            try exclusively(1 - process) { _ in }
            if expected.count > before, processes[1 - process].state.payloads == expected.last {
                acknowledged += 1
                sequences.append(processes[1 - process].lastSequence)
            } else {
                expected.removeLast(expected.count - before)
            }
        }
    }

    private struct Busy: Error {}

    /// Runs a closure under the lock. A process may have to open the lock file again.
    private func exclusively<Value>(_ process: Int, _ body: (inout Core) throws -> Value) throws -> Value {
        for _ in 0..<2 {
            if let value = try processes[process].exclusively(body) { return value }
        }
        throw Busy()
    }

    /// Notes which transactions the journal reports as durable, so that a crash must not lose them.
    private func noteDurable(_ process: Int) {
        let synced = processes[process].syncedSequence
        durable = max(durable, sequences.lastIndex { $0 <= synced } ?? 0)
    }

    private func sync(_ process: Int) throws {
        guard let task = processes[process].prepareSync() else { return }
        let strength = try task.run()
        processes[process].finishSync(task, strength)
        noteDurable(process)
        if Bool.random(using: &random) { try exclusively(process) { core in try core.mark() } }
    }

    private func compact(_ process: Int) throws {
        guard var compaction = compactions[process] else {
            // Other steps follow before the compaction continues.
            compactions[process] = try processes[process].beginCompaction()
            return
        }
        compactions[process] = nil
        while try compaction.step() {}
        if Bool.random(using: &random) { try compaction.settle(with: processes[process]) }
        do {
            if try exclusively(process, { core in try core.finish(&compaction) }) { result.compactions += 1 }
        } catch let failure as FileFailure where failure.isMissing {
            // A process that was opened meanwhile has removed the draft.
        }
    }

    /// Crashes the processes, and continues with the disk that is left.
    private func crash(losesPower: Bool) throws {
        let observe = disk.observe
        disk = losesPower ? disk.afterPowerLoss(&random) : disk.afterKill()
        compactions = [nil, nil]
        processes = [newProcess(), newProcess()]
        disk.observe = observe
        let highest = acknowledged
        if losesPower { acknowledged = durable }
        try exclusively(0) { _ in }
        let found = processes[0].state.payloads
        guard let count = (acknowledged...highest).last(where: { expected[$0] == found }) else {
            result.failures.append("seed \(seed): lost at a crash")
            return
        }
        expected.removeLast(expected.count - 1 - count)
        sequences.removeLast(sequences.count - 1 - count)
        (acknowledged, durable) = (count, count)
    }

    /// Crashes a copy of the disk, and requires that the journal is repaired to what was acknowledged.
    private func check(_ call: SimulatedDisk.Call) {
        guard call != .read, call != .status, result.failures.isEmpty else { return }
        check(disk.afterKill(), atLeast: acknowledged, call, "kill")
        for _ in 0..<2 { check(disk.afterPowerLoss(&random), atLeast: durable, call, "loss of power") }
    }

    private func check(_ disk: SimulatedDisk, atLeast minimum: Int, _ call: SimulatedDisk.Call, _ cause: String) {
        result.crashes += 1
        // A crash while the journal is repaired, now and then.
        if !isNested, Int.random(in: 0..<64, using: &random) == 0 {
            isNested = true
            disk.observesBytes = false
            disk.observe = { [unowned self, unowned disk] call in
                guard call != .read, call != .status else { return }
                check(disk.afterKill(), atLeast: minimum, call, "\(cause), then kill")
                check(disk.afterPowerLoss(&random), atLeast: durable, call, "\(cause), then loss of power")
            }
        }
        defer { if disk.observe != nil { isNested = false } }
        var core = newProcess(on: disk)
        do {
            try core.exclusively { _ in }
        } catch {
            return result.failures.append("seed \(seed): after \(cause): \(error)")
        }
        let found = core.state.payloads
        if !expected[minimum...].contains(found) {
            let text = { (records: [[UInt8]]) in records.map { String(decoding: $0.filter { $0 != 0 }, as: UTF8.self) } }
            result.failures.append(
                "seed \(seed): \(call) after \(cause): \(text(found)), not one of \(expected[minimum...].map(text)); \(core.report)"
            )
        }
        if !core.report.quarantined.isEmpty { result.failures.append("seed \(seed): \(call) after \(cause): \(core.report)") }
    }
}
