import AccountCore
import Dispatch
import Foundation
import GRDB
import RateLimiting
import Synchronization
import Testing

@testable import SQLiteStores

@Suite(.timeLimit(.minutes(10))) struct GroupCommitEndingTests {
    @Test("A caller canceled while its write is queued returns at once, without a write")
    func cancelledWhileWaiting() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            try await writer.hold {
                let patient = Task { try await stores.database.write { try $0.insert(1) } }
                try await writer.until { stores.database.groupCommit.waiting == 1 }
                let task = Task { try await stores.database.write { try $0.insert(2) } }
                try await writer.until { stores.database.groupCommit.waiting == 2 }
                task.cancel()
                // The caller gets the error while the writer is still blocked.
                await #expect(throws: CancellationError.self) { try await task.value }
                _ = patient
            }
            try await stores.database.write { try $0.insert(3) }
            #expect(try await writer.numbers() == [1, 3])
        }
    }

    @Test("A caller canceled before its call gets an error, without a write")
    func cancelledBefore() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await stores.database.write { try $0.insert(1) }
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await writer.numbers() == [])
        }
    }

    @Test("A started write is finished, and its caller gets the result")
    func cancelledWhileRunning() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            let hasBegun = Atomic(false)
            let goOn = DispatchSemaphore(value: 0)
            let task = Task {
                try await stores.database.write { database in
                    hasBegun.store(true, ordering: .sequentiallyConsistent)
                    goOn.wait()
                    try database.insert(1)
                    return 42
                }
            }
            try await writer.until { hasBegun.load(ordering: .sequentiallyConsistent) }
            task.cancel()
            goOn.signal()
            #expect(try await task.value == 42)
            #expect(try await writer.numbers() == [1])
        }
    }

    @Test("For any cancellation, a write is executed and reported, or neither")
    func cancelledAtAnyTime() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            let told = try await concurrently(400) { number -> Int? in
                let task = Task { try await stores.database.write { try $0.insert(number) } }
                for _ in 0..<(number % 7) { await Task.yield() }
                if number % 2 == 0 { task.cancel() }
                do {
                    try await task.value
                    return number
                } catch is CancellationError {
                    return nil
                }
            }
            #expect(try await writer.numbers() == told.compactMap { $0 }.sorted())
        }
    }

    @Test("Closing executes queued writes and refuses later ones")
    func closing() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "holdfast.sqlite3").path
        let stores = try TemporaryStores(path: path)
        let writer = try await HeldWriter(stores)
        let told = try await withThrowingTaskGroup(of: Int?.self) { tasks in
            for number in 0..<100 {
                tasks.addTask { (try? await stores.database.write { try $0.insert(number) }).map { number } }
            }
            tasks.addTask {
                try stores.database.close()
                return nil
            }
            return try await tasks.reduce(into: Set()) { told, number in _ = number.map { told.insert($0) } }
        }
        await #expect(throws: StoreFailure.self) { try await stores.database.write { try $0.insert(1_000) } }
        let again = try stores.reopened()
        let kept = try await again.database.pool.read { try Int.fetchSet($0, sql: "SELECT value FROM number") }
        #expect(kept == told)
        try again.database.close()
        _ = writer
    }

    @Test("The queue is bounded and ordered, and appoints one caller to serve it")
    func bounds() {
        struct Nothing: PendingWrite {
            let consumedQuota: (@Sendable () -> ConsumedQuota?)? = nil
            func begin() -> Bool { true }
            func perform(in database: Database) {}
            func end(_ failure: (any Error)?) {}
        }
        var line = WriteLine()
        #expect(line.enter(Nothing()) == .first)
        for _ in 1..<WriteLine.capacity { #expect(line.enter(Nothing()) == .waits) }
        #expect(line.enter(Nothing()) == .full)
        var taken = 0
        while case let batch = line.nextBatch(), !batch.isEmpty {
            #expect(batch.count <= WriteLine.batchLimit)
            taken += batch.count
        }
        #expect(taken == WriteLine.capacity)
        #expect(line.enter(Nothing()) == .first)
        line.close()
        #expect(line.enter(Nothing()) == .closed)
        #expect(line.nextBatch().count == 1)
    }
}
