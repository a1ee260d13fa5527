import Dispatch
import Foundation
import GRDB
import Synchronization

@testable import SQLiteStores

/// A table of numbers, and a write that blocks the writer until it is released, so that a test controls which writes share a
/// transaction.
struct HeldWriter: Sendable {
    let stores: TemporaryStores
    private let gate = DispatchSemaphore(value: 0)

    init(_ stores: TemporaryStores) async throws {
        self.stores = stores
        try await stores.execute(
            "CREATE TABLE number (value INTEGER NOT NULL PRIMARY KEY, owner INTEGER REFERENCES number(value))"
        )
    }

    /// Runs concurrent writes behind one that ends when they all wait, and returns the result of each.
    func batch(_ count: Int, _ write: @escaping @Sendable (Int, Database) throws -> Void) async throws -> [Result<
        Void, any Error
    >] {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await stores.database.write { [gate] _ in gate.wait() } }
            try await until { stores.database.groupCommit.isBusy }
            let outcomes = try await withThrowingTaskGroup(of: (Int, Result<Void, any Error>).self) { writers in
                for number in 0..<count {
                    writers.addTask {
                        do { return (number, .success(try await stores.database.write { try write(number, $0) })) } catch {
                            return (number, .failure(error))
                        }
                    }
                    // One by one, so that they are queued in the order of their numbers.
                    try await until { stores.database.groupCommit.waiting == number + 1 }
                }
                gate.signal()
                return try await writers.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            try await tasks.waitForAll()
            return (0..<count).compactMap { outcomes[$0] }
        }
    }

    /// Blocks the writer while `body` runs.
    func hold(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await stores.database.write { [gate] _ in gate.wait() } }
            try await until { stores.database.groupCommit.isBusy }
            do { try await body() } catch {
                gate.signal()
                throw error
            }
            gate.signal()
            try await tasks.waitForAll()
        }
    }

    /// Returns the numbers in the table as another connection sees them.
    func numbers() async throws -> [Int] {
        try await stores.database.pool.read { try Int.fetchAll($0, sql: "SELECT value FROM number ORDER BY value") }
    }

    /// Waits until other tasks have made a condition true.
    func until(_ condition: () -> Bool) async throws {
        while !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

extension Database {
    /// Inserts a number into the table.
    func insert(_ number: Int) throws {
        try execute(sql: "INSERT INTO number (value) VALUES (?)", arguments: [number])
    }
}
