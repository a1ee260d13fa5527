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
    /// Adds the routes of the accounts to an app's router or to a group of it: the account API, recovery, pages, the reference, and in
    /// development the local mailbox.
    ///
    /// Their errors are in the contract. Requests have ids, deadlines and rate limits, and are refused above the number that
    /// ``AccountServerConfiguration/load`` admits. Middleware of the router stays around all of it. Routes of the app are not changed: paths
    /// that no route has, and methods that a path does not have, are answered as the router answers them. With a
    /// `ContractRouter` these responses are in the contract, too.
    ///
    /// In a group with a path, let ``AccountServerConfiguration/resetBaseURL`` end with that path.
    /// - Parameter router: The router. Its context knows the address of the connection, which limits and logs identify clients by.
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
        try addAccountRoutes(to: group)
    }

    package func addMailbox<Context: RequestContext>(to router: some RouterMethods<Context>) throws {
        try MailboxRoutes<Context>(mailbox: mailbox, localization: localization).add(to: router)
    }

    /// Adds the routes of the accounts behind the limit of requests in flight.
    package func addAccountRoutes<Context: LimitedRequestContext & Sendable>(to router: some RouterMethods<Context>) throws {
        let shed = LoadSheddingMiddleware<Context>(shedding, reader: configuration.reader) { _, context in
            // By the route and not by the request's path, which has many spellings.
            let path = context.endpointPath ?? ""
            return [AccountPath.login, AccountPath.register].contains { path.hasSuffix($0) } ? .deferrable : .essential
        } client: { [limits] in
            limits.client(of: $0, in: $1).network
        }
        try addRoutes(behind: router.group().add(middleware: shed))
    }

    package func healthRoutes<Context: RequestContext>(_ context: Context.Type) -> HealthRoutes<Context> {
        HealthRoutes(readiness)
    }

    var readiness: Readiness {
        var checks: [Readiness.Check] = [
            .init("shutdown") { [drain] in if drain.hasBegun { throw ContractError(.serverServiceUnavailable) } },
            .init("database") { [stores] in try await stores.ping() },
            .init("mail") { [stores] in try await stores.intents.ping() },
        ]
        // Without Valkey the limits go on with a share of each quota.
        if configuration.sharedLimits == nil { checks.append(.init("limits") { [limitStore] in try await limitStore.ping() }) }
        return Readiness(checks: checks)
    }

    /// Adds the page at `/`, for a server that is nothing but an account server.
    package func addHomePage<Context: RequestContext>(to router: some RouterMethods<Context>) throws {
        let home = try HomePage(
            appName: configuration.appName,
            basePath: pageSettings.basePath,
            isDevelopment: configuration.offersDevelopmentPages
        )
        HomeRoute<Context>(page: home, localization: localization).add(to: router)
    }

    private func addRoutes<Context: LimitedRequestContext & Sendable>(behind router: RouterGroup<Context>) throws {
        SessionRoutes<Context>(
            authentication: authentication,
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
            lock: AccountLock(tokens: stores.accountLockTokens, audit: audit, now: time.wall),
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
            changePassword: "\(pageSettings.basePath)/reset-password",
            signingKeys: signingKeys
        ).add(to: router)
        try ReferenceRoutes<Context>(apiDescription, address: { [address] in address.known }).add(to: router)
        ErrorPageRoutes<Context>(
            pages: try ErrorPages(appName: configuration.appName, basePath: pageSettings.basePath)
        ).add(to: router)
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
    package var renderer: ContractErrorRenderer {
        ContractErrorRenderer(
            // Apps in the field read this form there, whatever the server's own is.
            forms: ErrorForms(configuration.errorForm, below: [AccountPath.legacyPasswordReset: .success]),
            localization: localization,
            // Never from the request: without a configured address the reference is relative to this server.
            pages: (configuration.resetBaseURL?.webOrigin ?? "") + pageSettings.basePath + ErrorPages.path
        )
    }

    package var securityHeaders: SecurityHeaders {
        SecurityHeaders(isStrictTransport: configuration.environment == .production)
    }

    /// The API as this server serves it.
    package var apiDescription: APIDescription { APIDescription(settings: APISettings(configuration)) }
}

/// The context of the account routes within an app's own.
struct MountedContext<Parent: RemoteAddressRequestContext & Sendable>: LimitedRequestContext, ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?
    let limits = RequestLimits()

    init(context: Parent) {
        coreContext = context.coreContext
        remoteAddress = context.remoteAddress
    }
}

extension APISettings {
    /// What the description of the API shows of a configuration.
    init(_ configuration: AccountServerConfiguration) {
        self.init(appName: configuration.appName, version: AccountServer.version)
        baseURL = configuration.publicBaseURL
        errorForm = configuration.errorForm
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
    /// The address of the routes. The configured address of links may be that of the page.
    var publicBaseURL: String? {
        guard let base = resetBaseURL, let origin = base.webOrigin else { return nil }
        return origin + PageTemplates.Settings(appName: "", linkBase: base, appScheme: nil, minimumPasswordLength: 8).basePath
    }
}
