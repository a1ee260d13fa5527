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

/// An ``AccountServer`` as a standalone process, with listeners, request logs, and the routes for operators and developers.
struct HoldfastServer: Sendable, CustomStringConvertible {
    typealias Context = HoldfastContext

    /// The account API with its stores.
    let accounts: AccountServer
    /// The metrics of all parts of the server.
    let metrics: PrometheusMetrics
    /// The time at which the server was created, for the uptime in the metrics.
    let startedAt = Date()
    /// The address at which the listener for operators listens, if `OPS_LISTEN` is set.
    let opsAddress = BoundAddress()
    /// The open connections of the public listener.
    let connections: Connections
    /// The open connections of the listener for operators; `nil` without `OPS_LISTEN`.
    let opsConnections: Connections?
    var description: String { "HoldfastServer" }
    /// The configuration of the account API.
    private var configuration: AccountServerConfiguration { accounts.configuration }

    /// Creates the server and opens its data folder. The server does not listen yet.
    /// - Parameters:
    ///   - hashing: Creates and verifies password hashes; `nil` uses Argon2id.
    ///   - time: The clocks of the server; `nil` uses the clocks of the machine and of the database.
    init(
        configuration: AccountServerConfiguration,
        logger: Logger,
        hashing: (any PasswordHashing)? = nil,
        time: ServerTime? = nil
    ) async throws {
        let metrics = PrometheusMetrics(prefix: "holdfast_", descriptions: PrometheusDescription.ofServer)
        self.metrics = metrics
        var limits = configuration.connections
        limits.capacity = Self.connectionCapacity(limits.capacity, logger)
        connections = Connections(limits: limits, identity: configuration.limits.identity, metrics: metrics)
        opsConnections = configuration.ops == nil ? nil : Connections(limits: ConnectionLimits(capacity: 64), metrics: metrics)
        accounts = try await AccountServer(configuration, logger: logger, metrics: metrics, hashing: hashing, time: time)
    }

    /// Returns the smaller of a number of connections and the number that the limit of open files allows. The server reserves 256 files for
    /// its other work. If the limit of open files is the smaller one, the method logs it.
    private static func connectionCapacity(_ wanted: Int, _ logger: Logger) -> Int {
        let possible = max(64, OpenFiles.raiseLimit() - 256)
        if possible < wanted { logger.notice("Few open files: connections limited", metadata: ["limit": "\(possible)"]) }
        return min(wanted, possible)
    }

    /// Returns the application, which serves until its service group shuts down or its task is canceled.
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

    /// Returns the application at `OPS_LISTEN`, without TLS; `nil` if `OPS_LISTEN` is not set. The application starts before the public
    /// listener and its services, and ends after them.
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

    /// The outermost middleware, which receives every response in its final form. It combines six middlewares in one value. One value is
    /// faster than six separate middlewares, because the compiler knows the types of all parts.
    @MiddlewareFixedTypeBuilder<Request, Response, Context>
    private var outermost: some MiddlewareProtocol<Request, Response, Context> {
        TraceContextMiddleware()
        AccessLogMiddleware(quiet: ["/health/live", "/health/ready", "/metrics"])
        RequestMetricsMiddleware(metrics: accounts.metrics)
        LingeringCloseMiddleware()
        SecurityHeadersMiddleware(accounts.securityHeaders)
        RateLimitFieldsMiddleware()
    }

    /// Creates the router with all routes inside the common middleware.
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
            // The lab limits its delays itself. With a deadline, the response to a request with a longer delay would be 504. Clients can
            // also shorten the deadline, so a test of a client's timeout could get this response instead of the timeout.
            try ErrorLabRoutes<Context>(renderer: accounts.renderer, clock: accounts.time).add(to: router.withoutDeadline)
        }
        // The routes above are exempt from load shedding, because operators need them when the server is busy.
        try accounts.addAccountRoutes(to: router)
        try accounts.addHomePage(to: router)
        return router
    }

    /// Adds the routes for operators and their tools. These routes are exempt from load shedding.
    private func addOperatorRoutes(to router: some RouterMethods<Context>) {
        accounts.healthRoutes(Context.self).addReady(to: router)
        if let access = configuration.metricsAccess {
            MetricsRoute(access: access) { [self] in await metricsText() }.add(to: router)
        }
    }

    /// Returns the metrics in Prometheus' text format.
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
                    "The largest number of open connections.",
                    Double(connections.limits.capacity),
                    labels: labels
                ),
            ]
        }
        return metrics.text(with: readings)
    }
}

/// The context of a request, with its connection.
struct HoldfastContext: LimitedRequestContext, ErrorLabRequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    let channel: any Channel
    /// The limits that have counted the request.
    let limits = RequestLimits()
    /// The address of the client, or of the proxy in front of the server.
    var remoteAddress: SocketAddress? { channel.remoteAddress }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Adds `Connection: close` to each response with status 413, 408 or 504. The server sends these statuses if a body is too large or arrives
/// too slowly, or if the route does not respond in time. The client may then still be sending the body.
///
/// Without this middleware, the HTTP engine would read the rest of the body. With the header, the engine closes the connection one second
/// after the response, so that the client can read the response.
struct LingeringCloseMiddleware: RouterMiddleware {
    /// Passes the request on, and adds `Connection: close` to the responses 413, 408 and 504.
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

/// The error of a server that can't listen on the address for operators.
struct OpsListenFailure: Error {
    /// The configured address.
    let address: OpsAddress
    /// The reason.
    let error: any Error
}

/// The listener at `OPS_LISTEN`.
private struct OpsListener: Service, CustomStringConvertible {
    /// The configured address.
    let address: OpsAddress
    let application: any Service
    var description: String { "OpsListener" }

    /// Serves until the shutdown.
    /// - Throws: ``OpsListenFailure``, so that the message of the failure names the setting.
    func run() async throws {
        do {
            try await application.run()
        } catch {
            throw OpsListenFailure(address: address, error: error)
        }
    }
}

/// The process's limit of open files. Each connection counts as an open file.
enum OpenFiles {
    /// Raises the limit to the largest value that the system allows, at most 65,536.
    /// - Returns: The limit that then applies. The system can set a smaller limit than the requested one without an error.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return 1_024 }
        let earlier = limit.rlim_cur
        // 65,536 is more than any server needs. Some systems report no limit. macOS can refuse more than 10,240 (`OPEN_MAX`).
        for largest in [65_536, 10_240] as [rlim_t] where earlier < min(limit.rlim_max, largest) {
            limit.rlim_cur = min(limit.rlim_max, largest)
            if setrlimit(resource, &limit) == 0 { break }
        }
        guard getrlimit(resource, &limit) == 0 else { return Int(clamping: earlier) }
        return Int(clamping: limit.rlim_cur)
    }
}
