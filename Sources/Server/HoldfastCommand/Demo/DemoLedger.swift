import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import Idempotency
import Logging
import NIOCore
import SQLiteStores
import ServerMiddleware
import ServiceLifecycle

/// The server of the demo's notes. One transaction stores a note together with the idempotency key of its request.
struct DemoLedger: Sendable {
    private let database: SQLiteDatabase

    /// The body of a request.
    private struct Note: Decodable {
        let title: String
    }

    private struct Context: ContractRequestContext, RemoteAddressRequestContext {
        var coreContext: CoreRequestContextStorage
        let remoteAddress: SocketAddress?

        init(source: ApplicationRequestContextSource) {
            coreContext = .init(source: source)
            remoteAddress = source.channel.remoteAddress
        }
    }

    /// Creates the database with an empty table in a folder.
    init(_ folder: URL) async throws {
        database = try SQLiteDatabase(path: folder.appending(path: "notes.sqlite3").path)
        try await database.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL)") }
    }

    /// The titles of the notes, in the order in which they were stored.
    var titles: [String] {
        get async throws { try await database.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY id") } }
    }

    /// Runs the server on a loopback port while a closure runs. A request that is repeated with its idempotency key stores no second note.
    func serve(port: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let router = ContractRouter(context: Context.self)
        router.idempotent(by: IdempotencyKeys(store: SQLiteIdempotencyStore(database))).post("/notes") { request, context in
            let title = try await request.decode(as: Note.self, context: context).title
            return try await IdempotentRequest.commit { keyed in
                try await database.write { database in
                    try database.execute(sql: "INSERT INTO note (title) VALUES (?)", arguments: [title])
                    let response = try IdempotentResponse.json(["id": database.lastInsertedRowID], status: 201)
                    try keyed?.finish(with: response, in: database)
                    return response
                }
            }
        }
        let logger = Logger.standard(level: .error)
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            logger: logger
        )
        let group = ServiceGroup(services: [application], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            do {
                try await body()
                await group.triggerGracefulShutdown()
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            try await tasks.waitForAll()
        }
    }
}
