public import AccountCore
import HTTPTypes
public import Hummingbird

/// The resources under `/.well-known`: the association files of apps, a redirect for password managers, and the public keys for other
/// services.
///
/// Create the association files with `AppLinks`. Clients can cache these files for an hour. Serve the routes on the host of the emailed
/// links, directly below its root.
///
/// ```swift
/// WellKnownRoutes<AppContext>(
///     appleAssociation: try AssociationFile(apps: [AppIdentifier("ABCDE12345.com.example.notes")]).bytes,
///     androidLinks: nil,
///     changePassword: "/reset-password",
///     signingKeys: signingKeys
/// ).add(to: router)
/// ```
public struct WellKnownRoutes<Context: RequestContext>: Sendable {
    /// The file for universal links; `nil` if there is no app.
    private let appleAssociation: [UInt8]?
    /// The file for Android app links; `nil` if there is no app.
    private let androidLinks: [UInt8]?
    private let changePassword: String
    private let signingKeys: SigningKeys

    /// Creates the routes.
    /// - Parameters:
    ///   - appleAssociation: The file for universal links; `nil` if there is no app.
    ///   - androidLinks: The file for Android app links; `nil` if there is no app.
    ///   - changePassword: The address to which password managers send users to change a password.
    ///   - signingKeys: The keys whose public halves are served.
    public init(appleAssociation: [UInt8]?, androidLinks: [UInt8]?, changePassword: String, signingKeys: SigningKeys) {
        self.appleAssociation = appleAssociation
        self.androidLinks = androidLinks
        self.changePassword = changePassword
        self.signingKeys = signingKeys
    }

    /// Adds the routes to a router or a group. Password managers test the path
    /// `resource-that-should-not-exist-whose-status-code-should-not-be-200`. The response to it is the same as for any unknown path.
    public func add(to router: some RouterMethods<Context>) {
        if let appleAssociation {
            router.get("/.well-known/apple-app-site-association") { _, _ in json(appleAssociation) }
        }
        if let androidLinks {
            router.get("/.well-known/assetlinks.json") { _, _ in json(androidLinks) }
        }
        router.get("/.well-known/change-password") { _, _ in
            Response(status: .found, headers: [.location: changePassword])
        }
        router.get("/.well-known/jwks.json") { request, _ in try await keySet(request) }
    }

    /// Returns the public keys with an `ETag`, or 304 if the client already has these keys. Clients can cache the keys for
    /// `SigningKeySet.publicationAge`.
    /// - Throws: An error of the store.
    private func keySet(_ request: Request) async throws -> Response {
        let (document, tag) = try await signingKeys.published()
        let age = Int(SigningKeySet.publicationAge / .seconds(1))
        let headers: HTTPFields = [.cacheControl: "public, max-age=\(age)", .eTag: tag]
        guard request.headers[values: .ifNoneMatch].allSatisfy({ !$0.contains(tag) }) else {
            return Response(status: .notModified, headers: headers)
        }
        var response = Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: document)))
        response.headers[.contentType] = "application/json"
        return response
    }

    /// Returns the file with the content type `application/json` and without a redirect, because Apple's servers accept nothing else.
    private func json(_ bytes: [UInt8]) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json", .cacheControl: "public, max-age=3600"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}
