import AccountCore
import Foundation
import GRDB
import Synchronization
import Testing

@testable import SQLiteStores

@Suite(.timeLimit(.minutes(10))) struct GroupCommitTests {
    private struct Refusal: Error {}

    private final class Telling: Sendable {
        let told = Atomic(0)
        let wasEarly = Atomic(false)
    }

    @Test("Writes that arrive during a commit share one durable transaction in their order")
    func sharing() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            let order = Mutex<[Int]>([])
            let before = stores.database.groupCommit.commits
            let outcomes = try await writer.batch(50) { number, database in
                order.withLock { $0.append(number) }
                try database.insert(number)
            }
            #expect(outcomes.allSatisfy { (try? $0.get()) != nil })
            #expect(order.withLock { $0 } == Array(0..<50))
            #expect(try await writer.numbers() == Array(0..<50))
            #expect(stores.database.groupCommit.commits - before == 2, "the write that they waited for, and theirs")
            #expect(try await stores.database.synchronousLevel() == 2)
        }
    }

    @Test("More writes than a batch holds use several transactions")
    func manyBatches() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            let before = stores.database.groupCommit.commits
            let count = WriteLine.batchLimit + 1
            _ = try await writer.batch(count) { try $1.insert($0) }
            #expect(try await writer.numbers().count == count)
            #expect(stores.database.groupCommit.commits - before == 3)
        }
    }

    @Test("A failed write rolls back its own changes, and nothing of the others")
    func isolation() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            let outcomes = try await writer.batch(30) { number, database in
                try database.insert(number)
                if number % 3 == 1 { throw Refusal() }
                if number % 3 == 2 { try database.insert(0) }
            }
            for (number, outcome) in outcomes.enumerated() {
                switch (number % 3, outcome) {
                case (0, .success): break
                case (1, .failure(let error)): #expect(error is Refusal)
                case (2, .failure(let error)): #expect(error is StoreFailure)
                default: Issue.record("write \(number): \(outcome)")
                }
            }
            #expect(try await writer.numbers() == Array(stride(from: 0, to: 30, by: 3)))
        }
    }

    @Test("A single write that fails leaves no changes")
    func aloneAndFailing() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            await #expect(throws: Refusal.self) {
                try await stores.database.write { database in
                    try database.insert(1)
                    throw Refusal()
                }
            }
            #expect(try await writer.numbers() == [])
        }
    }

    @Test("Returns to no caller before the commit")
    func toldAfterTheCommit() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            let telling = Telling()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<200 {
                    tasks.addTask {
                        try await stores.database.write { database in
                            try database.insert(number)
                            // No other connection that reads sees it yet.
                            let seen = try DatabaseQueue(path: stores.path).read {
                                try Bool.fetchOne(
                                    $0,
                                    sql: "SELECT EXISTS (SELECT 1 FROM number WHERE value = ?)",
                                    arguments: [number]
                                )
                            }
                            if seen == true { telling.wasEarly.store(true, ordering: .relaxed) }
                        }
                        telling.told.add(1, ordering: .relaxed)
                        #expect(try await writer.numbers().contains(number), "who was told finds it")
                    }
                }
                try await tasks.waitForAll()
            }
            let (wasEarly, told) = (telling.wasEarly.load(ordering: .relaxed), telling.told.load(ordering: .relaxed))
            #expect(!wasEarly)
            #expect(told == 200)
        }
    }

    @Test("A failed commit fails all of its writes, and the next succeeds")
    func failingCommit() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            let outcomes = try await writer.batch(10) { number, database in
                if number == 5 {
                    // A deferred foreign key is checked at the commit.
                    try database.execute(sql: "PRAGMA defer_foreign_keys = ON")
                    try database.execute(sql: "INSERT INTO number (value, owner) VALUES (5, 999)")
                } else {
                    try database.insert(number)
                }
            }
            for outcome in outcomes { #expect(throws: StoreFailure.self) { try outcome.get() } }
            #expect(try await writer.numbers() == [])
            try await stores.database.write { try $0.insert(77) }
            #expect(try await writer.numbers() == [77])
        }
    }

    @Test("On a full disk exactly the reported writes are stored, and it recovers later")
    func diskFull() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            try await stores.execute("CREATE TABLE heap (bytes BLOB)")
            let pages = try await stores.number("PRAGMA page_count")
            _ = try await stores.database.pool.writeWithoutTransaction {
                try Int.fetchOne($0, sql: "PRAGMA max_page_count = \(pages + 20)")
            }
            let outcomes = try await writer.batch(20) { number, database in
                try database.insert(number)
                if number == 10 { try database.execute(sql: "INSERT INTO heap VALUES (zeroblob(10000000))") }
            }
            #expect(throws: StoreFailure.self) { try outcomes[10].get() }
            let kept = outcomes.indices.filter { (try? outcomes[$0].get()) != nil }
            #expect(try await writer.numbers() == kept)
            _ = try await stores.database.pool.writeWithoutTransaction {
                try Int.fetchOne($0, sql: "PRAGMA max_page_count = 1000000")
            }
            try await stores.database.write { try $0.insert(77) }
            #expect(try await writer.numbers() == kept + [77])
        }
    }

    @Test("A lock of a second process delays writes, and fails the batch if it lasts")
    func busy() async throws {
        try await withStores { stores in
            let writer = try await HeldWriter(stores)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: stores.path, configuration: configuration)
            // The writes must not give up if the machine pauses.
            _ = try await stores.database.pool.writeWithoutTransaction {
                try Int.fetchOne($0, sql: "PRAGMA busy_timeout = 600000")
            }
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<10 { tasks.addTask { try await stores.database.write { try $0.insert(number) } } }
                try await writer.until { stores.database.groupCommit.isBusy || stores.database.groupCommit.waiting > 0 }
                try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
                try await tasks.waitForAll()
            }
            #expect(try await writer.numbers() == Array(0..<10))
            _ = try await stores.database.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA busy_timeout = 1") }
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            for outcome in try await writes(10..<20, stores) {
                let error = #expect(throws: StoreFailure.self) { try outcome.get() }
                #expect(error?.isBusy == true)
            }
            try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
            #expect(try await writer.numbers() == Array(0..<10))
        }
    }

    private func writes(_ numbers: Range<Int>, _ stores: TemporaryStores) async throws -> [Result<Void, any Error>] {
        try await concurrently(numbers.count) { number in
            do { return .success(try await stores.database.write { try $0.insert(numbers.lowerBound + number) }) } catch {
                return .failure(error)
            }
        }
    }
}
