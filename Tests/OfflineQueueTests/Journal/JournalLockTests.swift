import DataServerTesting
import Foundation
import JournalTesting
import OfflineQueue
import PrivateFiles
import TestSupport
import Testing

/// Locks of real files, between journals, processes and tasks.
@Suite struct JournalLockTests {
    /// Whether another process could lock a file.
    private func isFree(_ path: String) throws -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    @Test("Keeps a lock when another descriptor is closed, and frees it despite a child") func lock() throws {
        let folder = TemporaryFolder()
        try SystemFiles().createFolder(folder.path)
        let path = folder.path + "/lock"
        let file = try OpenFile(path, creating: true)
        #expect(try file.lock())
        #expect(try !OpenFile(path, creating: false).lock())
        #expect(try !isFree(path))
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/cat")
        child.standardInput = Pipe.make()
        try child.start()
        defer {
            child.terminate()
            child.waitForEnd()
        }
        file.unlock()
        #expect(try isFree(path))
    }

    @Test("Holds no lock between calls") func holdsNoLock() async throws {
        let folder = TemporaryFolder()
        let journal = try await Journal.open(folder.path, state: TestRecords())
        #expect(try isFree(folder.path + "/lock"))
        try await journal.transact { _, transaction in transaction.append(kind: 1, payload: [1]) }
        #expect(try isFree(folder.path + "/lock"))
    }

    @Test("Locks the new file when the lock file was replaced") func replacedLock() async throws {
        let folder = TemporaryFolder()
        let journal = try await Journal.open(folder.path, state: TestRecords())
        try FileManager.default.removeItem(atPath: folder.path + "/lock")
        let other = try await Journal.open(folder.path, state: TestRecords())
        try await append(50, to: [journal, other])
        let found = try await Journal.open(folder.path, state: TestRecords())
        #expect(found.withState { $0.records.count } == 100)
        #expect(found.report.cutBytes == 0)
    }

    @Test("Lets two journals of one process append at the same time") func twoJournals() async throws {
        let folder = TemporaryFolder()
        let journals = [
            try await Journal.open(folder.path, state: TestRecords()), try await Journal.open(folder.path, state: TestRecords()),
        ]
        try await append(200, to: journals)
        let found = try await Journal.open(folder.path, state: TestRecords())
        #expect(found.withState { $0.records.count } == 400)
        for journal in journals {
            try await journal.transact { state, _ in #expect(state.records == found.withState { $0.records }) }
        }
    }

    private func append(_ count: Int, to journals: [Journal<TestRecords>]) async throws {
        try await withThrowingTaskGroup { group in
            for journal in journals {
                group.addTask {
                    for number in 0..<count {
                        try await journal.transact { _, transaction in
                            transaction.append(kind: 1, payload: [UInt8(truncatingIfNeeded: number)])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Throws without a change when the lock is not free in time") func busy() async throws {
        let folder = TemporaryFolder()
        var options = JournalOptions()
        options.lockTimeout = .milliseconds(20)
        let journal = try await Journal.open(folder.path, state: TestRecords(), options: options)
        let lock = try OpenFile(folder.path + "/lock", creating: false)
        #expect(try lock.lock())
        await #expect(throws: JournalError.busy) {
            try await journal.transact { _, transaction in transaction.append(kind: 1, payload: [1]) }
        }
        lock.unlock()
        #expect(try await journal.transact { state, _ in state.payloads } == [])
    }

    @Test("Appends nothing when a task is canceled while it waits for the lock") func canceled() async throws {
        let folder = TemporaryFolder()
        let journal = try await Journal.open(folder.path, state: TestRecords())
        let lock = try OpenFile(folder.path + "/lock", creating: false)
        #expect(try lock.lock())
        let task = Task {
            try await journal.transact { _, transaction in transaction.append(kind: 1, payload: [1]) }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        lock.unlock()
        #expect(try await journal.transact { state, _ in state.payloads } == [])
    }

    @Test("Finds exactly the acknowledged records after kills at random moments") func kills() async throws {
        let folder = TemporaryFolder()
        let program = try #require(ServerProcess.path(ofBuilt: "holdfast-journal-process"))
        var rounds = KillRounds(program: program, folder: folder.path, seed: .random(in: 0 ... .max))
        let result = try await rounds.run(kills: 20)
        #expect(result.failures == [])
        #expect(result.acknowledged > 0)
    }
}
