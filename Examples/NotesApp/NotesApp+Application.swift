import ErrorContract
import Hummingbird
import Logging
import NIOCore
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
/// - Parameter onListening: Called with the port once the app listens.
func makeApplication(
    port: Int,
    deadline: RequestDeadline,
    logger: Logger = Logger(label: "notes"),
    onListening: @escaping @Sendable (Int) -> Void = { _ in }
) throws -> some ApplicationProtocol {
    let renderer = ContractErrorRenderer(catalogue: try ErrorCatalogue.standard.adding([.noteLocked]))
    let router = ContractRouter(context: NotesContext.self, renderer: renderer, deadline: deadline)
    let keys = IdempotencyKeys(logger: logger)
    let guarded = router.group().add(middleware: LoadSheddingMiddleware(LoadShedding(limit: 64)))
    NoteRoutes(notes: NoteShelf(), keys: keys).add(to: guarded)
    return Application(
        router: router,
        server: .contractHTTP1(renderer: renderer),
        configuration: .init(address: .hostname("127.0.0.1", port: port)),
        services: [keys],
        onServerRunning: { channel in onListening(channel.localAddress?.port ?? port) },
        logger: logger
    )
}
