public import AccountContract
package import AccountCore
import AccountRoutes
public import CoreMetrics
package import Email
import ErrorContract
import Foundation
public import Hummingbird
public import Idempotency
public import Logging
package import PasswordHashes
import PostgresStores
import RateLimiting
package import ServerMiddleware
import ServiceLifecycle
import Timekeeping

/// Serves accounts, sessions, password recovery and their pages, as a part of a Hummingbird app or as a standalone server.
///
/// An app adds the routes to its router and the services to its application:
///
/// ```swift
/// let accounts = try await AccountServer(try .environment(dataFolder: URL(filePath: "data")))
/// let router = Router(context: AppContext.self)
/// try accounts.addRoutes(to: router)
/// router.get("/hello") { request, _ in "Hello, \(try await accounts.user(of: request).firstName)" }
/// let application = Application(router: router, services: accounts.services, onServerRunning: accounts.serverRuns(on:))
/// ```
///
/// Use this type to run the whole server in your own process. To serve only some of the routes, or to use other stores, combine
/// `AccountRoutes` and `AccountCore` yourself. To verify access tokens in another service, use `TokenVerifier`, which needs no database.
///
/// Only one server can use a data folder at a time, because several servers would count the rate limits separately. The server therefore
/// locks its data folder until its ``services`` end; see ``AccountServerConfiguration/sharesDataFolder``. With PostgreSQL and Valkey, any
/// number of servers can share accounts and limits, each with its own data folder. Copies of this value share one server, and several tasks
/// can call all methods at the same time.
public struct AccountServer: Sendable {
    /// The version of Holdfast.
    public static let version = "0.1.0"

    /// The configuration that the server was created with.
    public let configuration: AccountServerConfiguration
    /// The secret with which the server hashes idempotency keys. Use it also for the idempotency keys of your own routes. It stays the same
    /// after a restart.
    public let idempotencySecret: IdempotencySecret
    /// The lock of the data folder, which prevents a second server on the folder.
    let folderLock: DataFolderLock
    /// The stores of accounts, emails and keys.
    package let stores: Stores
    /// The folder of the local mailbox.
    package let mailbox: MailboxFolder
    /// Signs users in and out, and refreshes sessions.
    package let authentication: Authentication
    /// Creates accounts.
    package let registration: Registration
    /// Issues and verifies access tokens.
    package let tokens: AccessTokens
    /// The keys that sign access tokens.
    package let signingKeys: SigningKeys
    /// The address on which the server listens.
    package let address = BoundAddress()
    /// Admits requests up to the configured number in flight.
    package let shedding: LoadShedding
    /// Hashes passwords, at most as many at the same time as there are processors.
    package let gate: HashingGate
    /// The store of limits.
    package let limitStore: any PersistentRateLimitStore
    /// The factory of all counters and timers.
    package let metrics: any MetricsFactory
    /// The changes that signed-in users make.
    let settings: AccountSettings
    /// The changes that emailed links make.
    let links: AccountLinks
    /// Requests, validates and confirms password resets.
    let recovery: PasswordRecovery
    /// The languages of texts, and the default language for clients that accept none of these languages.
    let localization: Localization
    /// Decides about requests by the rate limits.
    let limits: RateLimits
    /// Admits clients of networks that have used little of the quota of `reset-global`, even if the quota is used up.
    let shares: FairShares
    /// Claims and finishes the idempotency keys of the account routes.
    let idempotency: IdempotencyKeys
    /// Writes audit events in batches.
    let audit: AuditTrail<ServerTime>
    /// The counters of accounts, such as outcomes of sign-ins.
    let accountMetrics: AccountMetrics
    /// The clocks of the server.
    package let time: ServerTime
    /// The clock of sessions, of the email queue and of idempotency keys. It continues after a restart, and doesn't jump when the wall
    /// clock is set.
    let steady: any PersistentTime
    /// The current limits of reset emails.
    let mailBounds: MailBounds
    /// Whether the server is shutting down.
    package let drain = Drain()
    /// The logger of the server and its services.
    package let logger: Logger

    /// Opens and locks the data folder, creating it if it is missing, and connects to the configured databases. No background work starts
    /// until you run the ``services``.
    ///
    /// With PostgreSQL, the initializer migrates the tables and registers the server. If another server is migrating the tables, the
    /// initializer waits for up to two minutes.
    /// - Parameters:
    ///   - configuration: The configuration; see ``AccountServerConfiguration/environment(dataFolder:)``.
    ///   - logger: The logger of the services.
    ///   - metrics: The factory of all counters and timers.
    /// - Throws: An error if another server uses the data folder; an error of the file system or of the database.
    public init(
        _ configuration: AccountServerConfiguration,
        logger: Logger = Logger(label: "holdfast.accounts"),
        metrics: any MetricsFactory = MetricsSystem.factory
    ) async throws {
        try await self.init(configuration, logger: logger, metrics: metrics, hashing: nil)
    }

    /// Creates a server like the public initializer. With this initializer, tests can also replace the password hashing and the clocks.
    /// - Parameters:
    ///   - hashing: Creates and verifies password hashes; Argon2id if `nil`.
    ///   - time: The clocks of the server. With `nil`, the server uses the clocks of the machine and of the database.
    package init(
        _ configuration: AccountServerConfiguration,
        logger: Logger,
        metrics: any MetricsFactory,
        hashing: (any PasswordHashing)? = nil,
        time injected: ServerTime? = nil
    ) async throws {
        self.metrics = metrics
        self.configuration = configuration
        self.logger = logger
        folderLock = try DataFolderLock(DataFolder(configuration.dataFolder), isShared: configuration.sharesDataFolder)
        stores = try await Stores.open(configuration, servedBy: Self.version, logger: logger, metrics: metrics)
        // All servers of a deployment use the clock of the database.
        let time = injected ?? stores.deployment.map { ServerTime.system(wall: $0.time.now) } ?? .system
        self.time = time
        steady = try await stores.steadyTime(injected?.snapshot)
        let keys = try stores.keys(secret: configuration.secret)
        let previous = try configuration.previousSecret.map { [stores] in try stores.keys(secret: $0) }
        mailbox = try MailboxFolder(directory: stores.folder.mailbox, now: time.wall)
        localization = Localization(fallback: configuration.defaultLanguage)
        limitStore = try await stores.limits(
            configuration.limits,
            sharedIn: configuration.sharedLimits,
            secret: keys.limitKeys,
            clock: time,
            snapshot: time.snapshot,
            logger: logger,
            metrics: metrics
        )
        if stores.deployment != nil, configuration.sharedLimits == nil, configuration.limitScope == .server {
            logger.warning("Rate limits apply per server: N servers admit up to N times each limit")
        }
        limits = RateLimits(store: limitStore, identity: configuration.limits.identity, metrics: metrics)
        shares = FairShares(of: AccountLimit.resetGlobal.rawValue, clock: time, metrics: metrics)
        idempotencySecret = IdempotencySecret(keys.idempotencyKeys)
        idempotency = IdempotencyKeys(
            store: stores.idempotency(configuration.idempotency.bounds),
            secret: idempotencySecret,
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
        signingKeys = SigningKeys(
            store: stores.signingKeys,
            secrets: SigningKeySecrets(keys, previous: previous),
            clock: MonotonicClock(time),
            now: time.wall,
            logger: logger
        )
        // The first start of this version creates the first signing key. A token in the format of earlier versions is valid only if it was
        // issued before this key was created.
        _ = try await signingKeys.stored()
        tokens = AccessTokens(
            keys: signingKeys,
            audience: configuration.tokens.audience ?? configuration.appName,
            acceptingLegacy: [keys] + (previous.map { [$0] } ?? [])
        ) { [address] in
            configuration.tokens.issuer ?? configuration.publicBaseURL ?? address.known?.absoluteString ?? "http://localhost"
        }
        authentication = Authentication(
            stores: stores,
            gate: gate,
            tokens: tokens,
            devices: DeviceTokens(keys: keys, previous: previous),
            signInRules: configuration.accountRules.signIn,
            audit: audit,
            metrics: accountMetrics,
            now: time.wall,
            steady: steady.now,
            logger: logger
        )
        registration = Registration(
            authentication: authentication,
            stores: stores,
            gate: gate,
            policy: configuration.passwordPolicy,
            mode: configuration.accountRules.registration,
            audit: audit,
            now: time.wall,
            steady: steady.now
        )
        settings = AccountSettings(
            authentication: authentication,
            stores: stores,
            gate: gate,
            policy: configuration.passwordPolicy,
            deletionGrace: configuration.accountRules.deletionGrace,
            audit: audit,
            now: time.wall,
            steady: steady.now
        )
        links = AccountLinks(
            authentication: authentication,
            stores: stores,
            gate: gate,
            policy: configuration.passwordPolicy,
            audit: audit,
            now: time.wall,
            steady: steady.now
        )
        recovery = PasswordRecovery(
            stores: stores,
            gate: gate,
            devices: DeviceTokens(keys: keys, previous: previous),
            policy: configuration.passwordPolicy,
            audit: audit,
            metrics: accountMetrics,
            now: time.wall,
            steady: steady.now
        )
        mailBounds = MailBounds(configuration.limits.resetMails)
    }

    /// Returns the user of the access token in a request's `Authorization` header, for the app's routes.
    ///
    /// The method verifies the signature, and reads the account and its session from the store. It therefore refuses a token as soon as its
    /// session has ended.
    /// - Parameter request: The request.
    /// - Throws: `ContractError` with `AUTH_TOKEN_MISSING`, `AUTH_TOKEN_INVALID` or `AUTH_TOKEN_EXPIRED`. If the session has ended, the
    ///   password was changed, or the account is not active, the code is `AUTH_SESSION_EXPIRED`. Errors of the store are rethrown.
    public func user(of request: Request) async throws -> AccountUser {
        try await authentication.user(of: request)
    }

    /// Returns the client to which the idempotency key of a request belongs: the account of the access token, or the client's address if
    /// the request has no token. Pass this method to the idempotency middleware of your own routes.
    ///
    /// ```swift
    /// router.group("/notes").idempotent(by: keys, owner: accounts.idempotencyOwner(of:in:))
    /// ```
    /// - Throws: `ContractError`, as ``user(of:)`` does.
    @Sendable
    public func idempotencyOwner(of request: Request, in context: some RemoteAddressRequestContext) async throws
        -> IdempotencyOwner
    {
        if request.headers[.authorization] != nil, let id = try await user(of: request).id { return .account(id.rawValue) }
        let peer = context.remoteAddress.flatMap(IPAddress.init)
        return .client(configuration.limits.identity.client(peer: peer, headers: request.headers))
    }
}

/// Password hashing with Argon2id. Hashes that were imported from other systems are verified in the formats of these systems. The server
/// replaces such a hash at the next sign-in.
///
/// Each call blocks its thread until the hash is computed, so call the methods on a thread outside of the cooperative pool.
package struct Argon2Hashing: PasswordHashing {
    /// Creates and verifies Argon2id hashes.
    private let argon2: Argon2id

    /// Creates the hashing.
    /// - Parameter parameters: The cost of new hashes. Hashes with other parameters are replaced at the next sign-in.
    package init(parameters: Argon2id.Parameters = .standard) {
        argon2 = Argon2id(parameters: parameters)
    }

    /// Returns an Argon2id hash with a random salt. Blocks the thread until the hash is computed.
    package func hash(_ password: String) throws -> String { try argon2.hash(password) }

    /// Returns whether a password matches a hash of Argon2id or of another system. Blocks the thread until the hash is computed.
    /// - Parameters:
    ///   - password: The password.
    ///   - hash: The stored hash. An unknown format never matches.
    package func verify(_ password: String, against hash: String) -> Bool {
        guard !hash.hasPrefix("$argon2") else { return argon2.verify(password, against: hash) }
        return (try? ImportedHash(hash))?.verify(password) ?? false
    }

    /// Returns whether the parameters of a hash differ from the parameters of new hashes. The server replaces such a hash at the next
    /// sign-in.
    package func needsRehash(_ hash: String) -> Bool { argon2.needsRehash(hash) }

    /// Returns a hash that matches no password, but takes as long to verify as the given hash. Returns `nil` for an unknown format.
    package func decoy(like hash: String) -> String? {
        hash.hasPrefix("$argon2") ? argon2.decoy(like: hash) : (try? ImportedHash(hash))?.decoy
    }
}
