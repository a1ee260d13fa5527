import Foundation
import HoldfastTesting
import OfflineQueue
import Synchronization
import TestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A process that appends numbered records, and acknowledges each transaction through its standard output.
package struct RecordWriter {
    /// The records of a writer that are not ended: the last ones, without a gap.
    package static let live: UInt64 = 10

    private let journal: Journal<TestRecords>
    private let name: UInt8

    /// - Parameter name: A number that no other writer of the journal has.
    package init(folder: String, name: UInt8) async throws {
        var options = JournalOptions()
        options.compactionThreshold = 100_000
        journal = try await Journal.open(folder, state: TestRecords(), options: options)
        self.name = name
    }

    /// Returns the last number of the transaction that follows the one whose last number is `last`.
    package static func next(after last: UInt64) -> UInt64 { last + 1 + last % 3 }

    /// Appends records until the process is killed.
    package func run() async throws -> Never {
        while true {
            let number = try await journal.transact { [name] state, transaction in
                let records = state.numbers(of: name)
                let last = records.last?.number ?? 0
                let next = Self.next(after: last)
                for number in last + 1...next {
                    let payload = [name] + TestRecords.end(of: number) + [UInt8](repeating: 1, count: Int(number * 7919 % 3000))
                    transaction.append(kind: TestRecords.Kind.record, payload: payload)
                }
                for record in records where record.number + Self.live <= next {
                    transaction.append(kind: TestRecords.Kind.end, payload: TestRecords.end(of: record.sequence))
                }
                return next
            }
            let line = Array("\(number)\n".utf8)
            guard write(1, line, line.count) == line.count else { exit(1) }
        }
    }
}

extension TestRecords {
    /// The records of a writer.
    fileprivate func numbers(of name: UInt8) -> [(number: UInt64, sequence: UInt64)] {
        records.filter { $0.payload.first == name }.map { record in
            (record.payload[1..<9].reduce(0) { $0 << 8 | UInt64($1) }, record.sequence)
        }
    }
}

/// Kills processes that write records at random moments, and compares the journal with the acknowledged records.
package struct KillRounds {
    /// The result of the rounds.
    package struct Result: Sendable {
        package var kills = 0
        package var acknowledged = 0
        /// The number of kills that left an incomplete transaction.
        package var cuts = 0
        package var failures: [String] = []
    }

    private let program: String
    private let folder: String
    private var random: SplitMix64

    /// - Parameter program: The path of `holdfast-journal-process`.
    package init(program: String, folder: String, seed: UInt64) {
        (self.program, self.folder, random) = (program, folder, SplitMix64(seed: seed))
    }

    /// Runs rounds with two writers, both of which are killed.
    package mutating func run(kills: Int) async throws -> Result {
        var result = Result()
        var last: [UInt64] = [0, 0]
        while result.kills < kills, result.failures.isEmpty {
            let writers = try (0..<2).map { try Writer(program, folder: folder, name: $0) }
            for writer in writers.shuffled(using: &random) {
                // Most of the kills while records are written, some while the journal is opened.
                let waits = Int.random(in: 0..<8, using: &random) > 0
                let pause = UInt32.random(in: 0..<4_000, using: &random)
                try await onThread {
                    if waits { writer.waitForFirst() }
                    usleep(pause)
                    writer.kill()
                }
                result.kills += 1
            }
            let lines = try await onThread { writers.map { $0.acknowledged() } }
            let acknowledged = zip(lines, last).map { $0.last ?? $1 }
            let journal = try await Journal.open(folder, state: TestRecords())
            if journal.report.cutBytes > 0 { result.cuts += 1 }
            if !journal.report.quarantined.isEmpty { result.failures.append("\(journal.report)") }
            for name in 0..<2 {
                let numbers = journal.withState { $0.numbers(of: UInt8(name)).map(\.number) }
                let found = numbers.last ?? 0
                result.acknowledged += Int(acknowledged[name] - last[name])
                let isExpected = found == acknowledged[name] || found == RecordWriter.next(after: acknowledged[name])
                let isWhole = numbers == Array(found + 1 - min(found, RecordWriter.live)..<found + 1)
                if !isExpected || !isWhole {
                    result.failures.append("kill \(result.kills): acknowledged \(acknowledged[name]), found \(numbers)")
                }
                last[name] = found
            }
        }
        return result
    }

    private final class Writer: Sendable {
        private let process = Process()
        private let output = Pipe.make()
        private let bytes = Mutex(Data())

        init(_ program: String, folder: String, name: Int) throws {
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = ["append", folder, "\(name)"]
            process.standardOutput = output
            try process.start()
        }

        /// Blocks the thread until the process has printed its first lines, or has ended.
        func waitForFirst() {
            let first = output.fileHandleForReading.availableData
            bytes.withLock { $0 += first }
        }

        func kill() {
            #if canImport(Darwin)
                Darwin.kill(process.processIdentifier, SIGKILL)
            #elseif canImport(Glibc)
                Glibc.kill(process.processIdentifier, SIGKILL)
            #else
                Musl.kill(process.processIdentifier, SIGKILL)
            #endif
        }

        /// Blocks the thread until the process has ended, and returns the numbers of whole lines.
        func acknowledged() -> [UInt64] {
            let rest = output.fileHandleForReading.readDataToEndOfFile()
            try? output.fileHandleForReading.close()
            process.waitForEnd()
            let bytes = bytes.withLock { $0 + rest }
            guard let end = bytes.lastIndex(of: 10) else { return [] }
            return bytes[..<end].split(separator: 10).compactMap { UInt64(String(decoding: $0, as: UTF8.self)) }
        }
    }
}
