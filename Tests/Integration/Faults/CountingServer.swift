import Foundation
import HTTPTypes
import Hummingbird
import Idempotency
import Logging
import NIOCore
import SQLiteStores
import ServerMiddleware
import Synchronization

/// A server that counts executed operations by the name in the path.
final class CountingServer: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// The number of times that an operation was executed.
    subscript(name: String) -> Int { counts.withLock { $0[name] ?? 0 } }

    /// Resets the count of an operation.
    func forget(_ name: String) { counts.withLock { $0[name] = nil } }

    /// Runs the server for the duration of a closure, with its keys in a SQLite file.
    func run(_ body: (URL) async throws -> Void) async throws {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder.appending(path: "keys.sqlite3").path)
            let keys = IdempotencyKeys(store: SQLiteIdempotencyStore(database))
            let router = ContractRouter(context: HoldfastTestContext.self)
            let effect: @Sendable (Request, HoldfastTestContext) async throws -> Response = { [self] request, context in
                let bytes = try await request.body.collect(upTo: 65_536).readableBytes
                let name = try context.parameters.require("name")
                counts.withLock { $0[name, default: 0] += 1 }
                let text = #"{"name":"\#(name)","bytes":\#(bytes)}"#
                return Response(
                    status: .ok,
                    headers: [.contentType: "application/json"],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: text))
                )
            }
            router.get("/") { _, _ in Response(status: .noContent) }
            router.idempotent(by: keys).post("/effects/:name", use: effect).put("/effects/:name", use: effect)
            try await withApplication { logger, listening in
                Application(
                    router: router,
                    server: .contractHTTP1(),
                    configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                    onServerRunning: { listening($0.localAddress?.port ?? 0) },
                    logger: logger
                )
            } _: {
                try await body($0)
            }
            try database.close()
        }
    }
}

/// A context with the address of its connection.
struct HoldfastTestContext: RequestContext, RemoteAddressRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}
