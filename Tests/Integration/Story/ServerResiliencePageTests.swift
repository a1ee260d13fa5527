import Foundation
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

    @Test("A repeated order is executed once")
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
            guarded.group("/orders").idempotent(by: keys) { _, context in context.account.id }.post(use: order)
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
}
