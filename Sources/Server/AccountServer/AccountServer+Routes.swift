import AccountContract
import AccountCore
package import AccountRoutes
import AppLinks
import ErrorContract
import Foundation
public import Hummingbird
import NIOCore
package import OpenAPI
import Pages
import RateLimiting
package import ServerMiddleware

extension AccountServer {
    /// Adds the account routes to the router of an app, or to a group of the router: the account API, recovery, pages, the reference, and
    /// in development the local mailbox.
    ///
    /// All error responses of these routes have a code and a standard format (see `ContractError`). Requests have ids, deadlines and rate
    /// limits. If more requests are in flight than ``AccountServerConfiguration/load`` admits, the server refuses further requests with
    /// 503. Middleware of the router also applies to the account routes.
    ///
    /// The app's own routes don't change. The app's router responds to unknown paths and wrong methods. If this router is a
    /// `ContractRouter`, its error responses also have the standard format.
    ///
    /// In a group with a path, ``AccountServerConfiguration/resetBaseURL`` must end with that path.
    /// - Parameter router: The router. Its context provides the address of the connection, which identifies clients in limits and logs.
    ///
    /// - Throws: Mustache's error if a built-in template can't be read.
    public func addRoutes<Context: RemoteAddressRequestContext & Sendable>(to router: some RouterMethods<Context>) throws {
        let group = ContractGroup(
            in: router.group(context: MountedContext<Context>.self),
            renderer: renderer,
            deadline: configuration.requestDeadline
        ) {
            RequestMetricsMiddleware(metrics: metrics)
            SecurityHeadersMiddleware(securityHeaders)
            RateLimitFieldsMiddleware()
        }
        if configuration.offersDevelopmentPages { try addMailbox(to: group) }
        try addAccountRoutes(to: group, isPartOfApp: true)
    }

    /// Adds the pages of the local mailbox. Only for development.
    ///
    /// The routes only accept requests whose host name is a name of this machine, even if the server listens on a public address.
    /// - Parameter router: The router, or a group of it.
    /// - Throws: Mustache's error if the page's template can't be read.
    package func addMailbox<Context: RequestContext>(to router: some RouterMethods<Context>) throws {
        try MailboxRoutes<Context>(mailbox: mailbox, localization: localization).add(to: router)
    }

    /// Adds the account routes with a limit for the number of requests in flight. Above the limit, the server refuses sign-ins and
    /// registrations first, because they cost the most.
    ///
    /// - Parameters:
    ///   - router: The router, or a group of it, whose middleware already adds ids and deadlines and renders errors.
    ///   - isPartOfApp: Whether the router is that of an app, without the other routes of a standalone server.
    /// - Throws: Mustache's error if a built-in template can't be read.
    package func addAccountRoutes<Context: LimitedRequestContext & Sendable>(
        to router: some RouterMethods<Context>,
        isPartOfApp: Bool = false
    ) throws {
        let shed = LoadSheddingMiddleware<Context>(shedding, reader: configuration.reader) { _, context in
            // The code compares the template of the route instead of the path, because a client can spell a path in several ways.
            let path = context.endpointPath ?? ""
            return [AccountPath.login, AccountPath.register].contains { path.hasSuffix($0) } ? .deferrable : .essential
        } client: { [limits] in
            limits.client(of: $0, in: $1).network
        }
        try addRoutes(behind: router.group().add(middleware: shed), describedBy: apiDescription(isPartOfApp: isPartOfApp))
    }

    /// Returns the health routes, which run the checks of ``readiness``.
    /// - Parameter context: The type of the router's context.
    package func healthRoutes<Context: RequestContext>(_ context: Context.Type) -> HealthRoutes<Context> {
        HealthRoutes(readiness)
    }

    /// The readiness checks, in the order in which they run. If a check fails, the server is not ready, and the later checks don't run.
    ///
    /// The `shutdown` check comes first, so that a server that is shutting down does no I/O for the response. With Valkey, the limits are
    /// not checked: if Valkey fails, each server uses the configured fallback, by default half of each quota.
    var readiness: Readiness {
        var checks: [Readiness.Check] = [
            .init("shutdown") { [drain] in if drain.hasBegun { throw ContractError(.serverServiceUnavailable) } },
            .init("database") { [stores] in try await stores.ping() },
            .init("mail") { [stores] in try await stores.intents.ping() },
        ]
        // If Valkey fails, the limits use their fallback, so the server stays ready.
        if configuration.sharedLimits == nil { checks.append(.init("limits") { [limitStore] in try await limitStore.ping() }) }
        return Readiness(checks: checks)
    }

    /// Adds the page at `/`, for a standalone account server. An app has its own home page.
    /// - Parameter router: The router.
    /// - Throws: Mustache's error if the template can't be read.
    package func addHomePage<Context: RequestContext>(to router: some RouterMethods<Context>) throws {
        let home = try HomePage(
            appName: configuration.appName,
            basePath: pageSettings.basePath,
            isDevelopment: configuration.offersDevelopmentPages
        )
        HomeRoute<Context>(page: home, localization: localization).add(to: router)
    }

    /// Adds all account routes: sessions, settings, links, recovery, pages, the files under `/.well-known`, and the reference.
    /// - Parameters:
    ///   - router: A group with a middleware that limits the number of requests in flight.
    ///   - description: The description of the API, which the reference shows.
    private func addRoutes<Context: LimitedRequestContext & Sendable>(
        behind router: RouterGroup<Context>,
        describedBy description: APIDescription
    ) throws {
        let environment = RouteEnvironment(
            limits: limits,
            shares: shares,
            idempotency: idempotency,
            reader: configuration.reader,
            localization: localization
        )
        SessionRoutes<Context>(authentication: authentication, registration: registration, environment: environment)
            .add(to: router)
        AccountSettingsRoutes<Context>(settings: settings, authentication: authentication, environment: environment)
            .add(to: router)
        AccountLinkRoutes<Context>(links: links, authentication: authentication, environment: environment).add(to: router)
        RecoveryRoutes<Context>(
            recovery: recovery,
            environment: environment,
            forms: renderer.forms,
            rules: configuration.recoveryRules
        ).add(to: router)
        try addPages(to: router, environment)
        WellKnownRoutes<Context>(
            appleAssociation: configuration.associatedApps.apple?.bytes,
            androidLinks: configuration.associatedApps.android?.bytes,
            changePassword: "\(pageSettings.basePath)/reset-password",
            signingKeys: signingKeys
        ).add(to: router)
        try ReferenceRoutes<Context>(description, address: { [address] in address.known }).add(to: router)
        ErrorPageRoutes<Context>(
            pages: try ErrorPages(appName: configuration.appName, basePath: pageSettings.basePath)
        ).add(to: router)
    }

    /// Adds the pages behind the emailed links. The server accepts their forms only from the configured address or, if no address is
    /// configured, from the address on which the server listens.
    /// - Parameters:
    ///   - router: A group with a middleware that limits the number of requests in flight.
    ///   - environment: The parts that the route types share.
    private func addPages<Context: LimitedRequestContext & Sendable>(
        to router: RouterGroup<Context>,
        _ environment: RouteEnvironment
    ) throws {
        let templates = try PageTemplates(settings: pageSettings)
        let origins = OriginGuard { [address, configuration] origin in
            if let base = configuration.resetBaseURL { return base.webOrigin == origin }
            guard let bound = address.known else { return false }
            // A browser omits the default port of the scheme.
            let local = URL(string: "\(bound.scheme ?? "http")://localhost:\(bound.port ?? 80)")
            return bound.webOrigin == origin || local?.webOrigin == origin
        }
        RecoveryPageRoutes<Context>(
            recovery: recovery,
            lock: AccountLock(tokens: stores.accountLockTokens, audit: audit, now: time.wall),
            environment: environment,
            templates: templates,
            origins: origins
        ).add(to: router)
        AccountPageRoutes<Context>(
            links: links,
            registration: registration,
            environment: environment,
            templates: templates,
            origins: origins
        ).add(to: router)
    }

    /// The settings of the pages behind emailed links.
    private var pageSettings: PageTemplates.Settings {
        PageTemplates.Settings(
            appName: configuration.appName,
            linkBase: configuration.resetBaseURL,
            appScheme: configuration.appScheme,
            minimumPasswordLength: configuration.passwordPolicy.minimumLength
        )
    }

    /// Renders the errors of all routes and of unknown paths.
    package var renderer: ContractErrorRenderer {
        // Released apps expect this format at this path, so the configured format doesn't apply to it. The path of a request also contains
        // the path of the group in which the routes are mounted.
        let legacyPaths = Set(["", pageSettings.basePath].map { $0 + AccountPath.legacyPasswordReset })
        return ContractErrorRenderer(
            forms: ErrorForms(
                configuration.errorForm,
                below: Dictionary(uniqueKeysWithValues: legacyPaths.map { ($0, ErrorForm.success) })
            ),
            localization: localization,
            // The links to the pages of error codes never contain the host of the request. If no address is configured, they are relative.
            pages: (configuration.resetBaseURL?.webOrigin ?? "") + pageSettings.basePath + ErrorPages.path
        )
    }

    /// The security headers of all responses; HSTS only in production.
    package var securityHeaders: SecurityHeaders {
        SecurityHeaders(isStrictTransport: configuration.environment == .production)
    }

    /// Returns the description of the API with the settings of this server.
    /// - Parameter isPartOfApp: Whether an app serves the API, without the other routes of a standalone server.
    package func apiDescription(isPartOfApp: Bool = false) -> APIDescription {
        var settings = APISettings(configuration)
        settings.isPartOfApp = isPartOfApp
        return APIDescription(settings: settings)
    }
}

/// The request context of the account routes. It is created from the context of the app in which the routes are mounted.
///
/// The rate limits of the account routes store their claims and decisions in ``limits``. The context of the app therefore needs no property
/// for them.
struct MountedContext<Parent: RemoteAddressRequestContext & Sendable>: LimitedRequestContext, ChildRequestContext {
    /// The storage that Hummingbird needs for a request.
    var coreContext: CoreRequestContextStorage
    /// The address of the connection, which identifies the client together with the trusted proxies.
    let remoteAddress: SocketAddress?
    /// The rate limits that count the request, and their decisions.
    let limits = RequestLimits()

    /// Creates the context of a request.
    init(context: Parent) {
        coreContext = context.coreContext
        remoteAddress = context.remoteAddress
    }
}

extension APISettings {
    /// Creates the settings that the description of the API shows. The settings include the rate limits only if the server enforces them,
    /// and not in a dry run, in which refusals are only logged.
    init(_ configuration: AccountServerConfiguration) {
        self.init(appName: configuration.appName, version: AccountServer.version)
        baseURL = configuration.publicBaseURL
        errorForm = configuration.errorForm
        registration =
            switch configuration.accountRules.registration {
            case .open: .open
            case .blind: .blind
            case .closed: .closed
            }
        minimumPasswordLength = configuration.passwordPolicy.minimumLength
        needsLettersAndDigits = configuration.passwordPolicy.requiresLettersAndDigits
        if configuration.limits.mode == .enforce {
            limits = configuration.limits.policies.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { Limit($0, quota: $1.quota, window: $1.window) }
        }
        servesAppleAssociation = configuration.associatedApps.apple != nil
        servesAndroidLinks = configuration.associatedApps.android != nil
        servesMetrics = configuration.metricsAccess != nil && configuration.ops == nil
        servesReadiness = configuration.ops == nil
        servesDevelopmentRoutes = configuration.offersDevelopmentPages
    }
}

extension AccountServerConfiguration {
    /// The address below which the routes are served; `nil` if no address is configured. It is the configured address of links, without the
    /// path of the reset page if that address includes it.
    var publicBaseURL: String? {
        guard let base = resetBaseURL, let origin = base.webOrigin else { return nil }
        return origin + PageTemplates.Settings(appName: "", linkBase: base, appScheme: nil, minimumPasswordLength: 8).basePath
    }
}
