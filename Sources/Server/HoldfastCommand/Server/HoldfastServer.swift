import AccountContract
import AccountCore
import AccountRoutes
import AppLinks
import Email
import ErrorContract
import ErrorLab
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Idempotency
import Logging
import NIOCore
import Observability
import Pages
import RateLimiting
import SQLiteStores
import ServerMiddleware
import ServiceLifecycle

/// The composition root: the one place that names concrete stores and puts the parts together.
struct HoldfastServer: Sendable, CustomStringConvertible {
    typealias Context = HoldfastContext

    let configuration: ServerConfiguration
    let stores: Stores
    let mailbox: MailboxFolder
    let signIn: SignIn
    let metrics = PrometheusMetrics(prefix: "holdfast_", descriptions: PrometheusDescription.ofServer)
    let startedAt = Date()
    let address = BoundAddress()
    /// Where `OPS_LISTEN` listens, if it is set.
    let opsAddress = BoundAddress()
    let connections: Connections
    let opsConnections: Connections?
    var description: String { "HoldfastServer" }
    private let keys: ServerKeys
    private let recovery: PasswordRecovery
    private let localization: Localization
    let limitStore: SQLiteRateLimitStore<ServerTime>
    private let limits: RateLimits
    private let shares: FairShares
    private let idempotency: IdempotencyKeys
    let shedding: LoadShedding
    let gate: HashingGate
    private let audit: AuditTrail<ServerTime>
    private let accountMetrics: AccountMetrics
    private let time: ServerTime
    private let steady: SteadyTime
    private let mailBounds: MailBounds
    private let logger: Logger

    /// Opens the data folder and puts the server together; nothing listens yet.
    /// - Parameters:
    ///   - hashing: Makes and checks password hashes; Argon2id if not given.
    ///   - time: The clocks to go by.
    init(
        configuration: ServerConfiguration,
        logger: Logger,
        hashing: (any PasswordHashing)? = nil,
        time: ServerTime = .system
    ) async throws {
        self.configuration = configuration
        self.time = time
        self.logger = logger
        var connectionLimits = configuration.connections
        connectionLimits.capacity = min(connectionLimits.capacity, Self.connectionCapacity(logger))
        connections = Connections(limits: connectionLimits, identity: configuration.limits.identity, metrics: metrics)
        opsConnections = configuration.ops == nil ? nil : Connections(limits: ConnectionLimits(capacity: 64), metrics: metrics)
        stores = try Stores(configuration.dataFolder, isServing: true)
        steady = try await SteadyTime(stores.database, snapshot: time.snapshot)
        keys = try stores.keys(secret: configuration.secret)
        mailbox = try MailboxFolder(directory: stores.folder.mailbox, now: time.wall)
        localization = Localization(fallback: configuration.defaultLanguage)
        limitStore = try await SQLiteRateLimitStore(
            configuration.limits.rules,
            database: stores.database,
            journal: stores.folder.limitJournal,
            committed: AccountLimit.committed,
            memory: configuration.limits.memory,
            secret: keys.limitKeys,
            clock: time,
            time: time.snapshot,
            logger: logger
        )
        limits = RateLimits(store: limitStore, identity: configuration.limits.identity, metrics: metrics)
        shares = FairShares(of: AccountLimit.resetGlobal.rawValue, clock: time, metrics: metrics)
        idempotency = IdempotencyKeys(
            store: SQLiteIdempotencyStore(stores.database, bounds: configuration.idempotency.bounds),
            secret: IdempotencySecret(keys.idempotencyKeys),
            lifetime: configuration.idempotency.lifetime,
            clock: time,
            logger: logger,
            metrics: metrics,
            now: steady.now
        )
        shedding = LoadShedding(
            limit: configuration.load.requestsInFlight,
            waiting: configuration.load.requestsWaiting,
            refusalDelay: .milliseconds(500),
            clock: time,
            metrics: metrics
        )
        accountMetrics = AccountMetrics(factory: metrics)
        gate = try HashingGate(
            hashing: hashing ?? Argon2Hashing(),
            width: ProcessorCount.available,
            decoyKey: keys.decoys,
            clock: time
        )
        audit = AuditTrail(store: stores.audit, clock: time, now: time.wall, logger: logger)
        signIn = SignIn(
            accounts: stores.accounts,
            sessions: stores.sessions,
            gate: gate,
            tokens: await AccessTokens(keys: keys),
            devices: DeviceTokens(keys: keys),
            policy: configuration.passwordPolicy,
            audit: audit,
            metrics: accountMetrics,
            now: time.wall,
            steady: steady.now
        )
        recovery = PasswordRecovery(
            intents: stores.intents,
            tokens: stores.resetTokens,
            gate: gate,
            devices: DeviceTokens(keys: keys),
            policy: configuration.passwordPolicy,
            audit: audit,
            metrics: accountMetrics,
            now: time.wall,
            steady: steady.now
        )
        mailBounds = MailBounds(configuration.limits.resetMails)
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
            renderer: renderer,
            connections: connections,
            securityHeaders: securityHeaders
        )
        var application = Application(
            router: try router(),
            server: try configuration.tls.map { try .tls(plain, tlsConfiguration: $0.configuration) } ?? plain,
            configuration: .init(address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: { [address, configuration] channel in
                address.set(
                    to: channel,
                    scheme: configuration.tls == nil ? "http" : "https",
                    host: configuration.host,
                    port: configuration.port
                )
            },
            logger: logger
        )
        if let ops = try opsApplication() { application.addServices(ops) }
        for service in services { application.addServices(service) }
        return application
    }

    /// What `OPS_LISTEN` serves, without TLS: the first to listen and the last to end.
    private func opsApplication() throws -> (any Service)? {
        guard let ops = configuration.ops, let opsConnections else { return nil }
        let router = ContractRouter(
            context: Context.self,
            renderer: renderer,
            deadline: configuration.requestDeadline,
            outermost: [
                AccessLogMiddleware(quiet: ["/health/live", "/health/ready", "/metrics"]), LingeringCloseMiddleware(),
                SecurityHeadersMiddleware(SecurityHeaders(isStrictTransport: false)),
            ]
        )
        health.addLive(to: router)
        addOperatorRoutes(to: router)
        return OpsListener(
            address: ops,
            application: Application(
                router: router,
                server: .contractHTTP1(renderer: renderer, connections: opsConnections),
                configuration: .init(address: .hostname(ops.host, port: ops.port)),
                onServerRunning: { [opsAddress] in opsAddress.set(to: $0, scheme: "http", host: ops.host, port: ops.port) },
                logger: logger
            )
        )
    }

    /// What the server does beside answering, in the order of their start; the first is the last to end: it saves what the last
    /// requests were charged.
    var services: [any Service] {
        [
            limitStore,
            idempotency,
            audit,
            DecoyUpkeep(accounts: stores.accounts, decoys: stores.decoys, gate: gate, clock: time, logger: logger),
            MailService(server: self),
            Sweeper(
                sessions: stores.sessions,
                tokens: stores.resetTokens,
                freezeTokens: stores.freezeTokens,
                intents: stores.intents,
                sentResets: stores.sentResets,
                audit: stores.audit,
                rules: signIn.rules,
                clock: time,
                now: time.wall,
                steady: steady.now,
                keepTime: { [steady] in try await steady.keep() },
                logger: logger
            ),
        ]
    }

    /// The worker that makes mails, with links that begin with the configured address or, failing that, `bound`.
    func mailWorker(bound: URL) throws -> MailWorker<ServerTime> {
        let templates = try MailTemplates(
            settings: .init(
                appName: configuration.appName,
                sender: configuration.emailFrom,
                linkBase: configuration.resetBaseURL ?? bound,
                linkStyle: configuration.resetLinkStyle,
                linkLifetime: configuration.recoveryRules.linkLifetime,
                resetSubject: configuration.resetSubject,
                resetPreview: configuration.resetPreview
            ),
            folder: configuration.mailTemplates
        )
        return MailWorker(
            intents: stores.intents,
            accounts: stores.accounts,
            tokens: stores.resetTokens,
            freezeTokens: stores.freezeTokens,
            rendering: templates,
            delivery: mailDelivery,
            rules: configuration.recoveryRules,
            schedule: mailSchedule,
            clock: time,
            now: time.wall,
            steady: steady.now,
            quota: ResetMailQuota(stores.sentResets) { [mailBounds] in mailBounds.now },
            audit: audit,
            metrics: accountMetrics,
            isServerBusy: { [shedding] in shedding.load.running > 4 * ProcessorCount.available },
            logger: logger
        )
    }

    private var mailDelivery: any MailDelivery {
        switch configuration.mail {
        case .mailbox: mailbox
        case .smtp(let settings): SMTPDelivery(settings: settings, now: time.wall)
        }
    }

    private var mailSchedule: MailWorker<ServerTime>.Schedule {
        var schedule = MailWorker<ServerTime>.Schedule(pause: configuration.mailPause)
        if case .smtp(let settings) = configuration.mail {
            // A delivery ends by itself before its lease does; what is left is for the database.
            schedule.lease = settings.timeout + .seconds(15)
            schedule.width = settings.connectionLimit
        }
        return schedule
    }

    private var pageSettings: PageTemplates.Settings {
        PageTemplates.Settings(
            appName: configuration.appName,
            linkBase: configuration.resetBaseURL,
            appScheme: configuration.appScheme,
            minimumPasswordLength: configuration.passwordPolicy.minimumLength
        )
    }

    /// What errors look like, on every route and below them all.
    private var renderer: ContractErrorRenderer {
        ContractErrorRenderer(
            // Apps in the field read this form there, whatever the server's own is.
            forms: ErrorForms(configuration.errorForm, below: [AccountPath.legacyPasswordReset: .success]),
            localization: localization,
            // Never from the request: without a configured address the reference is relative to this server.
            pages: (configuration.resetBaseURL?.webOrigin ?? "") + pageSettings.basePath + ErrorPages.path
        )
    }

    /// Changes the limits when they are to be read anew.
    var limitReload: LimitReload {
        LimitReload(limits: limits, mailBounds: mailBounds, logger: logger) { [configuration] in
            var fresh = ServerConfiguration(
                host: configuration.host,
                port: configuration.port,
                dataFolder: configuration.dataFolder
            )
            try fresh.read(isServing: true)
            return fresh.limits
        }
    }

    private var securityHeaders: SecurityHeaders {
        SecurityHeaders(isStrictTransport: configuration.environment == .production)
    }

    /// What sees every response as it is sent. As one chain it takes less than as six: the compiler knows the types of its parts.
    @MiddlewareFixedTypeBuilder<Request, Response, Context>
    private var outermost: some MiddlewareProtocol<Request, Response, Context> {
        TraceContextMiddleware()
        AccessLogMiddleware(quiet: ["/health/live", "/health/ready", "/metrics"])
        RequestMetricsMiddleware(metrics: metrics)
        LingeringCloseMiddleware()
        SecurityHeadersMiddleware(securityHeaders)
        RateLimitFieldsMiddleware()
    }

    /// All routes behind the middleware that every request passes.
    func router() throws -> ContractRouter<Context> {
        let router = ContractRouter(
            context: Context.self,
            renderer: renderer,
            deadline: configuration.requestDeadline,
            outermost: [outermost]
        )
        health.addLive(to: router)
        if configuration.ops == nil { addOperatorRoutes(to: router) }
        if configuration.offersDevelopmentPages {
            try MailboxRoutes<Context>(mailbox: mailbox, localization: localization).add(to: router)
            try ErrorLabRoutes<Context>(renderer: renderer).add(to: router)
        }
        // Those above are never refused for their number: who looks after the server must see it when it is busy.
        let shed = LoadSheddingMiddleware<Context>(shedding, reader: configuration.reader) { _, context in
            // By the route and not by the request's path, which has many spellings.
            [AccountPath.login, AccountPath.register].contains(context.endpointPath) ? .deferrable : .essential
        } client: { [limits] in
            limits.client(of: $0, in: $1).network
        }
        try addAccountRoutes(to: router.group().add(middleware: shed))
        return router
    }

    private var health: HealthRoutes<Context> {
        HealthRoutes(checks: [
            .init("database") { [stores] in try await stores.database.ping() },
            .init("mail") { [stores] in try await stores.intents.ping() },
            .init("limits") { [limitStore] in try await limitStore.ping() },
        ])
    }

    /// What operators and their tools need; never refused for the number of requests.
    private func addOperatorRoutes(to router: some RouterMethods<Context>) {
        health.addReady(to: router)
        if let access = configuration.metricsAccess {
            MetricsRoute(access: access) { [self] in await metricsText() }.add(to: router)
        }
    }

    private func addAccountRoutes(to router: RouterGroup<Context>) throws {
        SessionRoutes(
            signIn: signIn,
            limits: limits,
            idempotency: idempotency,
            reader: configuration.reader,
            localization: localization
        ).add(to: router)
        RecoveryRoutes<Context>(
            recovery: recovery,
            limits: limits,
            shares: shares,
            idempotency: idempotency,
            reader: configuration.reader,
            localization: localization,
            forms: renderer.forms,
            rules: configuration.recoveryRules
        ).add(to: router)
        RecoveryPageRoutes<Context>(
            recovery: recovery,
            freeze: AccountFreeze(tokens: stores.freezeTokens, audit: audit, now: time.wall),
            limits: limits,
            shares: shares,
            templates: try PageTemplates(settings: pageSettings),
            origins: OriginGuard { [address, configuration] origin in
                if let base = configuration.resetBaseURL { return base.webOrigin == origin }
                guard let bound = address.known else { return false }
                return bound.webOrigin == origin || "\(bound.scheme ?? "http")://localhost:\(bound.port ?? 80)" == origin
            },
            reader: configuration.reader,
            localization: localization
        ).add(to: router)
        WellKnownRoutes<Context>(
            appleAssociation: configuration.associatedApps.apple?.bytes,
            androidLinks: configuration.associatedApps.android?.bytes,
            changePassword: "\(pageSettings.basePath)/reset-password"
        ).add(to: router)
        // The page at `/`.
        let home = try HomePage(
            appName: configuration.appName,
            basePath: pageSettings.basePath,
            isDevelopment: configuration.offersDevelopmentPages
        )
        HomeRoute<Context>(page: home, localization: localization).add(to: router)
        try ReferenceRoutes<Context>(apiDescription, address: { [address] in address.known }).add(to: router)
        ErrorPageRoutes<Context>(
            pages: try ErrorPages(appName: configuration.appName, basePath: pageSettings.basePath)
        ).add(to: router)
    }
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

/// Runs the mail worker once it is known where the server listens.
private struct MailService: Service, CustomStringConvertible {
    let server: HoldfastServer
    /// The service group logs its services by their descriptions.
    var description: String { "MailService" }

    func run() async throws {
        let bound = try? await cancelWhenGracefulShutdown { try await server.address.get() }
        guard let bound else { return }
        try await server.mailWorker(bound: bound).run()
    }
}
