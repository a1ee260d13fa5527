import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import Idempotency
import SQLiteStores
import ServerMiddleware
import Synchronization
import Testing

/// Runs the example of `docs/server/resilience.md`.
@Suite struct ServerResiliencePageTests {
    struct Account: Sendable {
        let id: String
    }

    struct AppContext: ContractRequestContext {
        var coreContext: CoreRequestContextStorage
        let account = Account(id: "ana")

        init(source: ApplicationRequestContextSource) {
            coreContext = .init(source: source)
        }
    }

    @Test("An order sent twice is executed once")
    func orders() async throws {
        let count = Mutex(0)
        let order: @Sendable (Request, AppContext) async throws -> String = { _, _ in
            "order \(count.withLock { $0 += 1; return $0 })"
        }
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder.appending(path: "keys.sqlite3").path)
            let secret = IdempotencySecret()
            // snippet: server-resilience
            let keys = IdempotencyKeys(store: SQLiteIdempotencyStore(database), secret: secret)
            let router = ContractRouter(context: AppContext.self, deadline: RequestDeadline(.seconds(30)))
            router.get("/health/live") { _, _ in "live" }
            let guarded = router.group().add(middleware: LoadSheddingMiddleware(LoadShedding(limit: 256)))
            guarded.group("/orders").idempotent(by: keys) { _, context in .account(context.account.id) }.post(use: order)
            var application = Application(router: router, server: .contractHTTP1())
            application.addServices(keys)
            // snippet end
            try await withApplication { [application] logger, listening in
                Application(
                    responder: application.responder,
                    server: application.server,
                    configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                    services: application.services,
                    onServerRunning: { listening($0.localAddress?.port ?? 0) },
                    logger: logger
                )
            } _: { url in
                for _ in 0..<2 {
                    let response = try await RawHTTP.send("POST", "/orders", to: url, headers: [#"Idempotency-Key: "a""#])
                    #expect(response.text == "order 1")
                }
                #expect(try await RawHTTP.send("GET", "/health/live", to: url).text == "live")
            }
            try database.close()
        }
    }

    @Test("A repeated note is stored once, with its key")
    func notes() async throws {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder.appending(path: "notes.sqlite3").path)
            let keys = IdempotencyKeys(store: SQLiteIdempotencyStore(database))
            let router = ContractRouter(context: AppContext.self)
            try await database.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL)") }
            // snippet: server-idempotent-transaction
            router.group("/notes").idempotent(by: keys) { _, context in .account(context.account.id) }
                .post { request, _ in
                    let title = try await String(buffer: request.body.collect(upTo: 1_000))
                    return try await IdempotentRequest.commit { key in
                        try await database.write { database in
                            try database.execute(sql: "INSERT INTO note (title) VALUES (?)", arguments: [title])
                            let response = try IdempotentResponse.json(["id": database.lastInsertedRowID], status: 201)
                            try key?.finish(with: response, in: database)
                            return response
                        }
                    }
                }
            // snippet end
            try await withApplication { logger, listening in
                Application(
                    router: router,
                    configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                    services: [keys],
                    onServerRunning: { listening($0.localAddress?.port ?? 0) },
                    logger: logger
                )
            } _: { url in
                for number in 0..<2 {
                    let note = try await RawHTTP.send(
                        "POST",
                        "/notes",
                        to: url,
                        headers: ["Idempotency-Key: b"],
                        body: Array("Buy tea".utf8)
                    )
                    #expect(note.status == 201 && note.text == #"{"id":1}"#)
                    #expect(note["Idempotency-Replayed"] == (number == 0 ? nil : "true"))
                }
            }
            try database.close()
        }
    }
}
