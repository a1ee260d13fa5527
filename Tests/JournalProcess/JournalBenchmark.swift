import Foundation
import OfflineQueue

/// Measures a journal with records of 512 bytes.
enum JournalBenchmark {
    private static let records = 100_000

    /// A state of the size that a queue has: a slot of 32 bytes per record.
    private struct Slots: JournalState {
        struct Slot {
            var sequence: UInt64
            var created: UInt64
            var lane: UInt32
            var owner: UInt32
            var size: UInt32
            var isLive: Bool
        }

        var slots: [Slot] = []
        var liveBytes = 0

        mutating func restart() { self = Slots() }

        mutating func apply(_ frame: JournalFrame) {
            if frame.header.kind == 1 {
                slots.append(
                    Slot(
                        sequence: frame.header.sequence,
                        created: 0,
                        lane: 0,
                        owner: 0,
                        size: UInt32(frame.header.storedSize),
                        isLive: true
                    )
                )
                liveBytes += frame.header.storedSize
            } else if let index = index(of: frame.payload.number) {
                slots[index].isLive = false
                liveBytes -= Int(slots[index].size)
            }
        }

        func keeps(_ frame: JournalFrameHeader) -> Bool { index(of: frame.sequence).map { slots[$0].isLive } ?? false }

        private func index(of sequence: UInt64) -> Int? {
            var (low, high) = (0, slots.count)
            while low < high {
                let middle = (low + high) / 2
                if slots[middle].sequence < sequence { low = middle + 1 } else { high = middle }
            }
            return low < slots.count && slots[low].sequence == sequence ? low : nil
        }
    }

    static func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "j-\(UInt32.random(in: 0 ... .max))").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let payload = [UInt8](repeating: 7, count: 512)
        let journal = try await Journal.open(folder, state: Slots())
        print("100,000 records of 512 bytes, one process")

        var times = try await measure(records) {
            _ = try await journal.transact { _, transaction in transaction.append(kind: 1, payload: payload) }
        }
        report("append, survives a kill", times)
        times = try await measure(1_000) {
            _ = try await journal.transact(durability: .powerLoss) { _, transaction in
                transaction.append(kind: 1, payload: payload)
            }
        }
        report("append, survives a loss of power", times)
        let durable = try await ContinuousClock().measure {
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { [journal] in
                        for _ in 0..<1_000 {
                            try await journal.transact(durability: .powerLoss) { _, transaction in
                                transaction.append(kind: 1, payload: payload)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        print("8 tasks, survives a loss of power: \(Int(8_000 / (durable / .seconds(1)))) records/s")

        let other = Process()
        other.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        other.arguments = ["open", folder]
        try other.run()
        other.waitUntilExit()
        let sequences = journal.withState { $0.slots.map(\.sequence) }
        times = try await measure(10_000) { _ = try journal.payload(of: sequences[Int.random(in: 0..<sequences.count)]) }
        report("read a payload", times)

        // Two of three records are ended; appends go on while the journal compacts itself.
        let ended = sequences.enumerated().filter { $0.offset % 3 > 0 }.map(\.element)
        times = []
        for sequence in ended {
            times += try await measure(1) {
                _ = try await journal.transact { _, transaction in transaction.append(kind: 2, payload: sequence.bytes) }
            }
        }
        report("end a record, with compactions", times)
        let compaction = try await ContinuousClock().measure { try await journal.compact() }
        print("compaction of \(sequences.count - ended.count) live records: \(compaction)")
        print("memory at most: \(peakMemory() / 1024) KB in all")
    }

    /// Opens a journal in a new process, so that the growth of the process's memory is the memory of the journal.
    static func open(_ folder: String) async throws {
        _ = try await Journal.open(folder + "/empty", state: Slots())
        let before = residentMemory()
        var journal = try await Journal.open(folder, state: Slots())
        let memory = residentMemory() - before
        let peak = peakMemory() - before
        var opens: [Duration] = []
        for _ in 0..<9 {
            opens.append(try await ContinuousClock().measure { journal = try await Journal.open(folder, state: Slots()) })
        }
        report("open, \(journal.withState { $0.slots.count }) records", opens)
        print("memory beyond that of an empty journal: \(memory / 1024) KB, at most \(peak / 1024) KB while it was opened")
    }

    private static func measure(_ count: Int, _ body: () async throws -> Void) async throws -> [Duration] {
        var times: [Duration] = []
        times.reserveCapacity(count)
        for _ in 0..<count { times.append(try await ContinuousClock().measure(body)) }
        return times
    }

    private static func report(_ name: String, _ times: [Duration]) {
        let times = times.sorted()
        func text(_ share: Double) -> String {
            let time = times[min(times.count - 1, Int(Double(times.count) * share))]
            return (time / .microseconds(1)).formatted(.number.precision(.fractionLength(1)))
        }
        print("\(name): median \(text(0.5)) µs, p99 \(text(0.99)) µs, p99.9 \(text(0.999)) µs, at most \(text(1)) µs")
    }

    private static func residentMemory() -> Int { memory("VmRSS:") }
    private static func peakMemory() -> Int { memory("VmHWM:") }

    private static func memory(_ field: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
        return (line?.split(separator: " ").dropLast().last).flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }.map {
            $0 * 1024
        } ?? 0
    }
}

extension [UInt8] {
    fileprivate var number: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}

extension UInt64 {
    fileprivate var bytes: [UInt8] { (0..<8).reversed().map { UInt8(truncatingIfNeeded: self >> (8 * UInt64($0))) } }
}
