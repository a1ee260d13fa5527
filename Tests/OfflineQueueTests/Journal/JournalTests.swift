import Foundation
import JournalTesting
import OfflineQueue
import Synchronization
import Testing

@Suite struct JournalTests {
    @Test("Finds the frames of a transaction after the journal is opened again") func reopens() async throws {
        let folder = TemporaryFolder()
        let journal = try await Journal.open(folder.path, state: TestRecords())
        try await journal.transact(durability: .powerLoss) { _, transaction in
            transaction.append(kind: 1, payload: [1, 2, 3])
            transaction.append(kind: 2, payload: [])
        }
        let other = try await Journal.open(folder.path, state: TestRecords())
        #expect(other.withState { $0.payloads } == [[1, 2, 3]])
    }

    @Test("Shows a transaction the frames that another journal of the folder has appended") func sharesFolder() async throws {
        let folder = TemporaryFolder()
        let journals = [
            try await Journal.open(folder.path, state: TestRecords()), try await Journal.open(folder.path, state: TestRecords()),
        ]
        let sequence = try await journals[0].transact { _, transaction in transaction.append(kind: 1, payload: [4]) }
        try await journals[1].transact { state, _ in #expect(state.payloads == [[4]]) }
        #expect(try journals[1].payload(of: sequence) == [4])
    }

    @Test("Appends nothing if the closure throws, or if a payload is too large") func refuses() async throws {
        let folder = TemporaryFolder()
        var options = JournalOptions()
        options.maximumPayload = 10
        let journal = try await Journal.open(folder.path, state: TestRecords(), options: options)
        await #expect(throws: CocoaError.self) {
            try await journal.transact { _, transaction in
                transaction.append(kind: 1, payload: [1])
                throw CocoaError(.userCancelled)
            }
        }
        await #expect(throws: JournalError.tooLarge) {
            try await journal.transact { _, transaction in
                transaction.append(kind: 1, payload: [1])
                transaction.append(kind: 1, payload: [UInt8](repeating: 0, count: 11))
            }
        }
        #expect(try await journal.transact { state, _ in state.payloads } == [])
    }

    @Test("Reads payloads of any size, also after another journal has compacted the folder") func readsPayloads() async throws {
        let folder = TemporaryFolder()
        var options = JournalOptions()
        // A background sync would notice the compaction.
        options.isMaintained = false
        let journal = try await Journal.open(folder.path, state: TestRecords(), options: options)
        let other = try await Journal.open(folder.path, state: TestRecords(), options: options)
        var payloads: [UInt64: [UInt8]] = [:]
        for size in [0, 1, 20, 16_383, 5, 16_384, 300_000, 7, 1_000_000, 0, 40] {
            let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* size) }
            let sequence = try await journal.transact { _, transaction in transaction.append(kind: 1, payload: payload) }
            payloads[sequence] = payload
        }
        let ended = try #require(payloads.keys.max())
        try await other.transact { _, transaction in transaction.append(kind: 2, payload: TestRecords.end(of: ended)) }
        try await other.compact()
        // The journal that has not noticed yet reads from the earlier file.
        for (sequence, payload) in payloads { #expect(try journal.payload(of: sequence) == payload) }
        try await journal.transact { _, _ in }
        payloads[ended] = nil
        for (sequence, payload) in payloads { #expect(try journal.payload(of: sequence) == payload) }
        #expect(throws: JournalError.missing(ended)) { try journal.payload(of: ended) }
        #expect(throws: JournalError.missing(1_000)) { try journal.payload(of: 1_000) }
    }

    @Test("Compacts if dead bytes exceed live bytes and threshold, and keeps unknown kinds") func compacts()
        async throws
    {
        let folder = TemporaryFolder()
        var options = JournalOptions()
        options.compactionThreshold = 100_000
        let journal = try await Journal.open(folder.path, state: TestRecords(), options: options)
        try await journal.transact { _, transaction in transaction.append(kind: TestRecords.Kind.unknown, payload: [7]) }
        let size = { try FileManager.default.attributesOfItem(atPath: folder.path + "/journal")[.size] as? Int ?? 0 }
        var largest = 0
        for _ in 0..<500 {
            let sequence = try await journal.transact { _, transaction in
                transaction.append(kind: 1, payload: [UInt8](repeating: 1, count: 1_000))
            }
            try await journal.transact(durability: .powerLoss) { _, transaction in
                transaction.append(kind: 2, payload: TestRecords.end(of: sequence))
            }
            largest = max(largest, try size())
        }
        try await journal.compact()
        #expect(largest < 500_000)
        #expect(try size() < 300_000)
        let other = try await Journal.open(folder.path, state: TestRecords())
        #expect(other.withState { $0.payloads } == [[7]])
    }

    @Test("Stores files that only their owner may read") func isPrivate() async throws {
        let folder = TemporaryFolder()
        let journal = try await Journal.open(folder.path + "/a/b", state: TestRecords())
        try await journal.transact { _, transaction in transaction.append(kind: 1, payload: [1]) }
        try await journal.compact()
        let permissions = { try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int }
        #expect(try permissions(folder.path + "/a/b") == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/a/b")
        #expect(Set(names) == ["journal", "lock"])
        for name in names { #expect(try permissions(folder.path + "/a/b/" + name) == 0o600) }
    }

    @Test("Syncs frames within the delay without a call") func syncsLater() async throws {
        let folder = TemporaryFolder()
        let files = ObservedFiles()
        let journal = try await Journal.open(folder.path, state: TestRecords(), files: files)
        let before = files.syncCount
        try await journal.transact { _, transaction in transaction.append(kind: 1, payload: [1]) }
        try await eventually { files.syncCount > before }
    }

    @Test("Lets many durable transactions share syncs") func groupsSyncs() async throws {
        let folder = TemporaryFolder()
        let files = ObservedFiles()
        let journal = try await Journal.open(folder.path, state: TestRecords(), files: files)
        try await withThrowingTaskGroup { group in
            for task in 0..<64 {
                group.addTask {
                    try await journal.transact(durability: .powerLoss) { _, transaction in
                        transaction.append(kind: 1, payload: [UInt8(task)])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(journal.withState { $0.records.count } == 64)
        #expect(files.syncCount < 64)
    }

    @Test("Recognizes a copy of the folder until it is adopted, also after a compaction") func recognizesCopies() async throws {
        let folder = TemporaryFolder()
        let original = try await Journal.open(folder.path + "/a", state: TestRecords())
        try await original.transact { _, transaction in transaction.append(kind: 1, payload: [1]) }
        #expect(!original.report.isRestored)
        try FileManager.default.copyItem(atPath: folder.path + "/a", toPath: folder.path + "/b")
        for _ in 0..<2 {
            let copy = try await Journal.open(folder.path + "/b", state: TestRecords())
            #expect(copy.report.isRestored)
            try await copy.compact()
        }
        try await Journal.open(folder.path + "/b", state: TestRecords()).adopt()
        let copy = try await Journal.open(folder.path + "/b", state: TestRecords())
        #expect(!copy.report.isRestored)
        #expect(copy.withState { $0.payloads } == [[1]])
    }

    @Test("Recognizes another device by its id") func recognizesDevices() async throws {
        let folder = TemporaryFolder()
        var options = JournalOptions()
        options.deviceID = "one"
        #expect(try await !Journal.open(folder.path, state: TestRecords(), options: options).report.isRestored)
        #expect(try await !Journal.open(folder.path, state: TestRecords(), options: options).report.isRestored)
        options.deviceID = "two"
        #expect(try await Journal.open(folder.path, state: TestRecords(), options: options).report.isRestored)
    }
}

/// A folder for one test.
final class TemporaryFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "j-\(UInt32.random(in: 0 ... .max))").path

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Waits for a condition.
func eventually(_ condition: () throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while try !condition() {
        try #require(ContinuousClock.now < deadline, "the condition does not come true")
        try await Task.sleep(for: .milliseconds(2))
    }
}
