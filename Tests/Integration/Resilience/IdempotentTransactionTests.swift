import ErrorContract
import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import Idempotency
import SQLiteStores
import ServerMiddleware
import Synchronization
import Testing

/// Tests of `IdempotentRequest.commit` with orders in SQLite, over HTTP.
@Suite struct IdempotentTransactionTests {
    /// A fault that occurs once.
    private final class Fault: Sendable {
        private struct Trouble: Error {}
        private let isPending = Atomic(true)

        func fail() throws {
            if isPending.exchange(false, ordering: .relaxed) { throw Trouble() }
        }
    }

    /// Two servers on one database, with a wall clock that the test moves.
    private struct Shop: Sendable {
        let database: SQLiteDatabase
        let servers: [URL]
        let wall: WallClock

        func order(_ server: Int = 0, key: String? = "k") async throws -> RawHTTP.Answer {
            let headers = key.map { ["Idempotency-Key: \($0)"] } ?? []
            return try await RawHTTP.send("POST", "/orders", to: servers[server], headers: headers, body: Array("tea".utf8))
        }

        var orders: Int {
            get async throws { try await database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM shop_order") ?? 0 } }
        }
    }

    private final class WallClock: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_750_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(by seconds: Double) { date.withLock { $0 += seconds } }
    }

    /// Starts two servers, and runs a test.
    /// - Parameters:
    ///   - within: Runs in each transaction after its insert.
    ///   - before: Runs before each transaction, with the number of the server.
    ///   - after: Runs after each transaction and before the response, with the number of the server.
    ///   - body: The test.
    private func withShop(
        within: @escaping @Sendable () throws -> Void = {},
        before: @escaping @Sendable (Int) async throws -> Void = { _ in },
        after: @escaping @Sendable (Int) async throws -> Void = { _ in },
        _ body: (Shop) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder.appending(path: "shop.sqlite3").path)
            try await database.write { try $0.execute(sql: "CREATE TABLE shop_order (id INTEGER PRIMARY KEY, item TEXT)") }
            let (wall, secret) = (WallClock(), IdempotencySecret())
            func start(_ number: Int, _ body: (URL) async throws -> Void) async throws {
                let store = SQLiteIdempotencyStore(database)
                let keys = IdempotencyKeys(store: store, secret: secret) { wall.now }
                let router = ContractRouter(context: BasicContractContext.self)
                router.group("/orders").idempotent(by: keys) { _, _ in .account("ana") }.post { request, _ in
                    let item = try await String(buffer: request.body.collect(upTo: 1_000))
                    try await before(number)
                    let response = try await IdempotentRequest.commit { key in
                        try await database.write { database in
                            try database.execute(sql: "INSERT INTO shop_order (item) VALUES (?)", arguments: [item])
                            try within()
                            let response = try IdempotentResponse.json(["order": database.lastInsertedRowID], status: 201)
                            try key?.finish(with: response, in: database)
                            return response
                        }
                    }
                    try await after(number)
                    return response
                }
                try await withApplication { logger, listening in
                    Application(
                        router: router,
                        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                        onServerRunning: { listening($0.localAddress?.port ?? 0) },
                        logger: logger
                    )
                } _: { url in
                    try await body(url)
                }
            }
            try await start(0) { first in
                try await start(1) { second in
                    try await body(Shop(database: database, servers: [first, second], wall: wall))
                }
            }
            try database.close()
        }
    }

    @Test("Returns the response of a committed transaction on another server, too")
    func replay() async throws {
        try await withShop { shop in
            let first = try await shop.order()
            #expect(first.status == 201 && first.text == #"{"order":1}"# && first["Idempotency-Replayed"] == nil)
            let again = try await shop.order(1)
            #expect(again.status == 201 && again.text == first.text && again["Idempotency-Replayed"] == "true")
            #expect(try await shop.order(key: nil).status == 201)
            #expect(try await shop.orders == 2)
        }
    }

    @Test("Does the work once if the route throws after its commit")
    func failureAfterCommit() async throws {
        let fault = Fault()
        try await withShop(after: { _ in try fault.fail() }) { shop in
            #expect(try await shop.order().status == 500)
            let again = try await shop.order()
            #expect(again.status == 201 && again["Idempotency-Replayed"] == "true")
            #expect(try await shop.orders == 1)
        }
    }

    @Test("Stores nothing and releases the key if the transaction throws")
    func failureWithin() async throws {
        let fault = Fault()
        try await withShop(within: { try fault.fail() }) { shop in
            #expect(try await shop.order().status == 500)
            #expect(try await shop.orders == 0)
            let again = try await shop.order()
            #expect(again.status == 201 && again["Idempotency-Replayed"] == nil)
        }
    }

    @Test("Rolls back and responds with 409 if another server has claimed the key")
    func lostKey() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        try await withShop(before: { server in
            guard server == 0 else { return }
            arrival.finish()
            for await _ in gate {}
        }) { shop in
            async let slow = shop.order(0)
            for await _ in arrivals {}
            shop.wall.advance(by: 61)
            #expect(try await shop.order(1).text == #"{"order":1}"#)
            opening.finish()
            let late = try await slow
            #expect(late.status == 409 && late["Retry-After"] != nil)
            #expect(APIError(late.decoded).repeatedRequest == .running)
            #expect(try await shop.orders == 1)
            let again = try await shop.order(0)
            #expect(again.text == #"{"order":1}"# && again["Idempotency-Replayed"] == "true")
        }
    }
}
