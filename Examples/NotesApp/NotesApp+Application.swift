import AccountServer
import ErrorContract
import Foundation
import Hummingbird
import Logging
import NIOCore
import SQLiteStores
import ServerMiddleware

/// What a request carries: that bodies are read by the contract's reader, and where it comes from.
struct NotesContext: ContractRequestContext, RemoteAddressRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

/// Puts the app together.
/// - Parameters:
///   - lease: How long the idempotency key of a note stays taken when the process is killed; longer than the route takes.
///   - accounts: The configuration of the accounts that the app mounts beside its own routes.
///   - onListening: Called with the port once the app listens.
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
