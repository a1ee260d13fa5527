import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import Testing

@testable import SQLiteStores

@Suite(.timeLimit(.minutes(10))) struct ServerLocksTests {
    private func withLocks(_ body: (TemporaryStores, ServerLocks, URL) async throws -> Void) async throws {
        try await withStores { stores in
            let folder = URL(filePath: stores.path).deletingLastPathComponent().appending(path: "servers")
            try await body(stores, ServerLocks(folder: folder), folder)
        }
    }

    private func files(_ folder: URL) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }

    @Test("A lock lasts as long as its holder, and its file is removed with it")
    func life() async throws {
        try await withLocks { _, locks, folder in
            var lock: ServerLock? = try locks.take()
            let name = try #require(lock?.name)
            #expect(locks.isHeld(name))
            #expect(try files(folder) == ["\(name).lock"])
            lock = nil
            #expect(!locks.isHeld(name))
            #expect(try files(folder) == [])
        }
    }

    @Test("Removes files of ended servers, and keeps those of running ones")
    func abandoned() async throws {
        try await withLocks { _, locks, folder in
            let lock = try locks.take()
            let dead = UUID().uuidString.lowercased()
            for name in ["\(dead).lock", ".draft"] { try Data().write(to: folder.appending(path: name)) }
            locks.removeAbandoned()
            #expect(try files(folder) == ["\(lock.name).lock"])
            #expect(!locks.isHeld(dead))
            #expect(locks.isHeld("../../holdfast.sqlite3"), "a name that no lock has")
        }
    }

    @Test("Each of 200 servers that start during removals gets a lock")
    func race() async throws {
        try await withLocks { _, locks, folder in
            let taken = try await concurrently(200) { number in
                if number.isMultiple(of: 2) { locks.removeAbandoned() }
                return try locks.take()
            }
            #expect(taken.allSatisfy { locks.isHeld($0.name) })
            #expect(try files(folder).count == 200)
        }
    }

    @Test("A lease is released when its holder has ended, and not before")
    func lease() async throws {
        try await withLocks { stores, locks, _ in
            var first: SQLiteMailIntentQueue? = SQLiteMailIntentQueue(stores.database, locks: locks, holder: try locks.take())
            let second = SQLiteMailIntentQueue(stores.database, locks: locks, holder: try locks.take())
            let intent = MailIntent(
                subject: .passwordReset(try EmailAddress("ana@example.com")),
                language: .english,
                createdAt: .after(0)
            )
            try await second.enqueue(intent)
            #expect(try await first?.claim(limit: 1, at: .after(0), leaseEnd: .after(120)) == [intent])
            #expect(try await second.releaseAbandoned(at: .after(1)) == 0)
            #expect(try await second.claim(limit: 1, at: .after(119), leaseEnd: .after(300)) == [])
            first = nil
            // The thread that served the last call of `first` can hold a reference for a moment longer.
            while try await second.releaseAbandoned(at: .after(1)) == 0 { await Task.yield() }
            #expect(try await second.claim(limit: 1, at: .after(1), leaseEnd: .after(300)) == [intent])
            #expect(try await second.releaseAbandoned(at: .after(2)) == 0, "its own")
        }
    }
}
