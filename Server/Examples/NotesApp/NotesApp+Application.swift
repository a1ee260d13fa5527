import ErrorContract
import Hummingbird
import Logging
import ServerMiddleware

/// What a request carries: here only that bodies are read by the contract's reader.
struct NotesContext: ContractRequestContext {
    var coreContext: CoreRequestContextStorage

    init(source: Source) {
        coreContext = .init(source: source)
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
    NoteRoutes(notes: NoteShelf()).add(to: router)
    return Application(
        router: router,
        server: .contractHTTP1(renderer: renderer),
        configuration: .init(address: .hostname("127.0.0.1", port: port)),
        onServerRunning: { channel in onListening(channel.localAddress?.port ?? port) },
        logger: logger
    )
}
