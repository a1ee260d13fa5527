import AccountCore
import AccountRoutes
import AccountServer
import ErrorLab
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import Observability
import ServerMiddleware
import ServiceLifecycle

/// An ``AccountServer`` as a process of its own: its listeners, the routes for operators and developers, and what it logs of requests.
struct HoldfastServer: Sendable, CustomStringConvertible {
    typealias Context = HoldfastContext

    let accounts: AccountServer
    let metrics: PrometheusMetrics
    let startedAt = Date()
    /// Where `OPS_LISTEN` listens, if it is set.
    let opsAddress = BoundAddress()
    let connections: Connections
    let opsConnections: Connections?
    var description: String { "HoldfastServer" }
    private var configuration: AccountServerConfiguration { accounts.configuration }

    /// Opens the data folder; nothing listens yet.
    /// - Parameters:
    ///   - hashing: Makes and checks password hashes; Argon2id if `nil`.
    ///   - time: The clocks of the server; those of the machine and of the database if `nil`.
    init(
        configuration: AccountServerConfiguration,
        logger: Logger,
        hashing: (any PasswordHashing)? = nil,
        time: ServerTime? = nil
    ) async throws {
        let metrics = PrometheusMetrics(prefix: "holdfast_", descriptions: PrometheusDescription.ofServer)
        self.metrics = metrics
        var limits = configuration.connections
        limits.capacity = min(limits.capacity, Self.connectionCapacity(logger))
        connections = Connections(limits: limits, identity: configuration.limits.identity, metrics: metrics)
        opsConnections = configuration.ops == nil ? nil : Connections(limits: ConnectionLimits(capacity: 64), metrics: metrics)
        accounts = try await AccountServer(configuration, logger: logger, metrics: metrics, hashing: hashing, time: time)
    }

    /// As many as the system allows besides the files of a server that is at work.
    private static func connectionCapacity(_ logger: Logger) -> Int {
        let open = OpenFiles.raiseLimit()
        if open < 4_352 { logger.notice("Few connections at once", metadata: ["limit": "\(max(64, open - 256))"]) }
        return max(64, open - 256)
    }

    /// Listens and serves until the group shuts down or the task is cancelled.
    func application() throws -> some ApplicationProtocol {
        let plain = HTTPServerBuilder.contractHTTP1(
            renderer: accounts.renderer,
            connections: connections,
            securityHeaders: accounts.securityHeaders
        )
        var application = Application(
            router: try router(),
            server: try configuration.tls.map { try .tls(plain, tlsConfiguration: $0.configuration) } ?? plain,
            configuration: .init(address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: accounts.serverRuns(on:),
            logger: accounts.logger
        )
        if let ops = try opsApplication() { application.addServices(ops) }
        for service in accounts.services { application.addServices(service) }
        return application
    }

    /// What `OPS_LISTEN` serves, without TLS: the first to listen and the last to end.
    private func opsApplication() throws -> (any Service)? {
        guard let ops = configuration.ops, let opsConnections else { return nil }
        let router = ContractRouter(
            context: Context.self,
            renderer: accounts.renderer,
            deadline: configuration.requestDeadline,
            outermost: [
                AccessLogMiddleware(quiet: ["/health/live", "/health/ready", "/metrics"]), LingeringCloseMiddleware(),
                SecurityHeadersMiddleware(SecurityHeaders(isStrictTransport: false)),
            ]
        )
        accounts.healthRoutes(Context.self).addLive(to: router)
        addOperatorRoutes(to: router)
        return OpsListener(
            address: ops,
            application: Application(
                router: router,
                server: .contractHTTP1(renderer: accounts.renderer, connections: opsConnections),
                configuration: .init(address: .hostname(ops.host, port: ops.port)),
                onServerRunning: { [opsAddress] in opsAddress.set(to: $0, scheme: "http", host: ops.host, port: ops.port) },
                logger: accounts.logger
            )
        )
    }

    /// What sees every response as it is sent. As one chain it takes less than as six: the compiler knows the types of its parts.
    @MiddlewareFixedTypeBuilder<Request, Response, Context>
    private var outermost: some MiddlewareProtocol<Request, Response, Context> {
        TraceContextMiddleware()
        AccessLogMiddleware(quiet: ["/health/live", "/health/ready", "/metrics"])
        RequestMetricsMiddleware(metrics: accounts.metrics)
        LingeringCloseMiddleware()
        SecurityHeadersMiddleware(accounts.securityHeaders)
        RateLimitFieldsMiddleware()
    }

    /// All routes behind the middleware that every request passes.
    func router() throws -> ContractRouter<Context> {
        let router = ContractRouter(
            context: Context.self,
            renderer: accounts.renderer,
            deadline: configuration.requestDeadline,
            outermost: [outermost]
        )
        accounts.healthRoutes(Context.self).addLive(to: router)
        if configuration.ops == nil { addOperatorRoutes(to: router) }
        if configuration.offersDevelopmentPages {
            try accounts.addMailbox(to: router)
            try ErrorLabRoutes<Context>(renderer: accounts.renderer).add(to: router)
        }
        // Those above are never refused for their number: who looks after the server must see it when it is busy.
        try accounts.addAccountRoutes(to: router)
        try accounts.addHomePage(to: router)
        return router
    }

    /// Adds what operators and their tools need; never refused for the number of requests.
    private func addOperatorRoutes(to router: some RouterMethods<Context>) {
        accounts.healthRoutes(Context.self).addReady(to: router)
        if let access = configuration.metricsAccess {
            MetricsRoute(access: access) { [self] in await metricsText() }.add(to: router)
        }
    }

    /// The metrics in Prometheus' text format.
    func metricsText() async -> String {
        var readings = ProcessReadings.all(startedAt: startedAt) + (await accounts.readings())
        for (listener, connections) in [("public", connections), ("ops", opsConnections)] {
            guard let connections else { continue }
            let labels = [("listener", listener)]
            readings += [
                .init("holdfast_connections_open", .gauge, "Open connections.", Double(connections.count), labels: labels),
                .init(
                    "holdfast_connections_capacity",
                    .gauge,
                    "The most connections that may be open.",
                    Double(connections.limits.capacity),
                    labels: labels
                ),
            ]
        }
        return metrics.text(with: readings)
    }
}

/// The context of a request, with the connection that it came on.
struct HoldfastContext: LimitedRequestContext, ErrorLabRequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let limits = RequestLimits()
    var remoteAddress: SocketAddress? { channel.remoteAddress }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Ends the connection of a client whose body was refused as too large or too slow, or whose route did not respond in time.
///
/// The engine would go on reading such a body to its end, however long that takes. `Connection: close` has it end the connection
/// a second after the response, so that the client can read it.
struct LingeringCloseMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: HoldfastContext,
        next: (Request, HoldfastContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard [.contentTooLarge, .requestTimeout, .gatewayTimeout].contains(response.status) else { return response }
        response.headers[.connection] = "close"
        return response
    }
}

/// The address for operators could not be listened on.
struct OpsListenFailure: Error {
    let address: OpsAddress
    let error: any Error
}

/// Serves at `OPS_LISTEN`.
private struct OpsListener: Service, CustomStringConvertible {
    let address: OpsAddress
    let application: any Service
    var description: String { "OpsListener" }

    func run() async throws {
        do {
            try await application.run()
        } catch {
            throw OpsListenFailure(address: address, error: error)
        }
    }
}

/// How many files and connections the system lets the process have open at once.
enum OpenFiles {
    /// Raises the limit as far as the process may.
    /// - Returns: The limit.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return 1_024 }
        // More than any server needs; some systems name no number.
        let wanted = min(limit.rlim_max, 65_536)
        if limit.rlim_cur < wanted {
            limit.rlim_cur = wanted
            if setrlimit(resource, &limit) != 0 { getrlimit(resource, &limit) }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
