import AppLinks
import Foundation
import Hummingbird
import Logging
import OpenAPI
import ServerMiddleware
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// A configuration of a server.
enum ServedAs: String, CaseIterable, CustomTestStringConvertible {
    case development, production, withApps

    var testDescription: String { rawValue }

    func configure(_ configuration: inout AccountServerConfiguration) throws {
        guard self != .development else { return }
        configuration.environment = .production
        configuration.resetBaseURL = URL(string: "https://accounts.example.com/app/")
        guard self == .withApps else { return }
        configuration.associatedApps.apple = try AssociationFile(apps: [try AppIdentifier("ABCDE12345.com.example.app")])
        let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")
        configuration.associatedApps.android = try AssetLinks(
            package: try AndroidPackage("com.example.app"),
            fingerprints: [try CertificateFingerprint(fingerprint)]
        )
    }
}

@Suite struct RouteDescriptionTests {
    @Test("Every route has a description, and every description a route", arguments: ServedAs.allCases)
    func routes(served: ServedAs) async throws {
        try await withFolder { folder in
            var configuration = AccountServerConfiguration(port: 0, dataFolder: folder)
            configuration.environment = .development
            try served.configure(&configuration)
            let server = try await HoldfastServer(configuration: configuration, logger: Logger(label: "test"))
            // The lab sends any requested response and describes itself.
            let offered = try server.router().routes.filter { !$0.path.description.hasPrefix("/dev/lab") }
            let routes = Set(offered.map { "\($0.method) \(plain($0.path.description))" })
            let described = Set(server.accounts.apiDescription().operations.map { "\($0.method.rawValue) \(plain($0.path))" })
            #expect(routes.subtracting(described).sorted() == [], "add a row in OpenAPI/Operations")
            #expect(described.subtracting(routes).sorted() == [], "no route serves this")
        }
    }

    /// Returns the path without a trailing slash and without the names of parameters.
    private func plain(_ path: String) -> String {
        path.split(separator: "/").map { $0.hasPrefix(":") || $0.hasPrefix("{") ? "*" : String($0) }.joined(separator: "/")
    }
}
