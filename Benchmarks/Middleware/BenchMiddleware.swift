import ErrorContract
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import RateLimiting
import SQLiteStores
import ServerMiddleware

/// Serves one route with different middleware, each variant on a free port, for `scripts/bench-middleware`.
@main
enum BenchMiddleware {
    /// The middleware in front of the route.
    enum Variant: String, CaseIterable {
        case bare, id, contract, limit, kept
        /// All middleware as in the documentation: a ``ContractRouter`` on its engine, with its deadline.
        case documented
    }

    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let kept = try await keptLimits(in: folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for variant in Variant.allCases {
                group.addTask {
                    switch variant {
                    case .bare: try await serve(bareRouter(), variant)
                    case .documented: try await serve(documentedRouter(), variant, server: .contractHTTP1())
                    default: try await serve(router(variant, kept: kept), variant)
                    }
                }
            }
            group.addTask { try await kept.run() }
            try await group.next()
        }
    }

    /// A quota that no client reaches; the requests are counted nevertheless.
    private static let rules = [RateLimitRule(.requests(2_000_000_000, per: .seconds(60), name: "bench-ip"))]

    private static func keptLimits(in folder: URL) async throws -> SQLiteRateLimitStore<ContinuousClock> {
        try await SQLiteRateLimitStore(
            rules,
            database: try SQLiteDatabase(path: folder.appending(path: "limits.sqlite3").path),
            journal: folder.appending(path: "limits.journal"),
            secret: KeySecret(),
            clock: ContinuousClock(),
            logger: Logger(label: "bench")
        )
    }

    private static func bareRouter() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("/") { _, _ in "Hello" }
        return router
    }

    private static func documentedRouter() -> ContractRouter<BenchContext> {
        let router = ContractRouter(context: BenchContext.self, outermost: [RateLimitFieldsMiddleware()])
        router.add(middleware: RateLimitMiddleware(RateLimits(rules), .client("bench-ip")))
        router.get("/") { _, _ in "Hello" }
        return router
    }

    private static func router(
        _ variant: Variant,
        kept: SQLiteRateLimitStore<ContinuousClock>
    ) -> Router<BenchContext> {
        let router = Router(context: BenchContext.self)
        switch variant {
        case .limit:
            let limit = RateLimitMiddleware<BenchContext>(RateLimits(rules), .client("bench-ip"))
            router.add(middleware: ContractMiddleware(limit: limit))
        case .kept:
            let limit = RateLimitMiddleware<BenchContext>(RateLimits(store: kept), .client("bench-ip"))
            router.add(middleware: ContractMiddleware(limit: limit))
        case .contract: router.add(middleware: ContractMiddleware())
        default: router.add(middleware: RequestIDMiddleware())
        }
        router.get("/") { _, _ in "Hello" }
        return router
    }

    private static func serve<Builder: HTTPResponderBuilder>(
        _ router: Builder,
        _ variant: Variant,
        server: HTTPServerBuilder = .http1()
    ) async throws where Builder.Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        var logger = Logger(label: "bench")
        logger.logLevel = .error
        let application = Application(
            router: router,
            server: server,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(Data("\(variant.rawValue) \(channel.localAddress?.port ?? 0)\n".utf8))
            },
            logger: logger
        )
        try await application.run()
    }
}

struct BenchContext: LimitedRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?
    let limits = RequestLimits()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}
