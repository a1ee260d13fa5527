import AccountServer
import ErrorContract
import Foundation
import Hummingbird
import Logging
import NIOCore
import SQLiteStores
import ServerMiddleware

/// The context of a request. `ContractRequestContext` decodes bodies with the contract's reader, and `RemoteAddressRequestContext` provides
/// the address of the client, which limits and idempotency keys use.
struct NotesContext: ContractRequestContext, RemoteAddressRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

/// Creates the application: the account server's routes, the routes of the notes, and the services of both.
/// - Parameters:
///   - port: The TCP port on 127.0.0.1; 0 for any free port.
///   - deadline: The time after which a client gets 504.
///   - lease: The time after which a repetition may claim the idempotency key of a killed process. It must be longer than `deadline`.
///   - configuration: The configuration of the accounts. Its data folder also contains the notes.
///   - logger: The logger of the accounts, the keys and the application.
///   - onListening: A closure that is called with the port when the application listens.
/// - Throws: Errors of the configuration and of the databases.
func makeApplication(
    port: Int,
    deadline: RequestDeadline,
    lease: Duration = .seconds(60),
    accounts configuration: AccountServerConfiguration,
    logger: Logger = Logger(label: "notes"),
    onListening: @escaping @Sendable (Int) -> Void = { _ in }
) async throws -> some ApplicationProtocol {
    let accounts = try await AccountServer(configuration, logger: logger)
    let renderer = ContractErrorRenderer(catalogue: try ErrorCatalogue.standard.adding([.noteLocked]))
    let router = ContractRouter(context: NotesContext.self, renderer: renderer, deadline: deadline)
    let database = try SQLiteDatabase(path: configuration.dataFolder.appending(path: "notes.sqlite3").path)
    let keys = IdempotencyKeys(
        store: SQLiteIdempotencyStore(database),
        secret: accounts.idempotencySecret,
        lease: lease,
        logger: logger
    )
    let guarded = router.group().add(middleware: LoadSheddingMiddleware(LoadShedding(limit: 64)))
    NoteRoutes(notes: try await NoteShelf(database), accounts: accounts, keys: keys).add(to: guarded)
    try accounts.addRoutes(to: router)
    return Application(
        router: router,
        server: .contractHTTP1(renderer: renderer),
        configuration: .init(address: .hostname("127.0.0.1", port: port)),
        services: accounts.services + [keys],
        onServerRunning: { channel in
            accounts.serverRuns(on: channel)
            onListening(channel.localAddress?.port ?? port)
        },
        logger: logger
    )
}
