import AccountContract
import AccountCore
import ArgumentParser
import Foundation
import OpenAPI
import Pages
import RateLimiting

extension HoldfastServer {
    /// The API as this server serves it.
    var apiDescription: APIDescription { APIDescription(settings: APISettings(configuration)) }
}

extension APISettings {
    /// What the description of the API shows of a configuration.
    init(_ configuration: ServerConfiguration) {
        self.init(appName: configuration.appName, version: Holdfast.configuration.version)
        baseURL = configuration.resetBaseURL.flatMap(Self.address)
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

    /// The address of the routes, which the configured one may lead to the page of.
    private static func address(_ base: URL) -> String? {
        guard let origin = base.webOrigin else { return nil }
        return origin + PageTemplates.Settings(appName: "", linkBase: base, appScheme: nil, minimumPasswordLength: 8).basePath
    }
}
