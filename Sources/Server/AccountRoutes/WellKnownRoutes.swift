import HTTPTypes
public import Hummingbird

/// The files under `/.well-known` that associate apps and password managers with this server.
///
/// Create the files with `AppLinks`. They are the same for all requests and may be cached for an hour. Serve them under the host of the
/// emailed links, without a path before them.
public struct WellKnownRoutes<Context: RequestContext>: Sendable {
    private let appleAssociation: [UInt8]?
    private let androidLinks: [UInt8]?
    private let changePassword: String

    /// Creates the routes.
    /// - Parameters:
    ///   - appleAssociation: The file for universal links; `nil` if there is no app.
    ///   - androidLinks: The file for Android app links; `nil` if there is no app.
    ///   - changePassword: The address to which password managers send users to change a password.
    public init(appleAssociation: [UInt8]?, androidLinks: [UInt8]?, changePassword: String) {
        self.appleAssociation = appleAssociation
        self.androidLinks = androidLinks
        self.changePassword = changePassword
    }

    /// Adds the routes to a router or a group. The probe of password managers,
    /// `resource-that-should-not-exist-whose-status-code-should-not-be-200`, gets the same response as any unknown path.
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
    }

    /// Returns the file with exactly this content type and without a redirect: Apple's servers accept nothing else.
    private func json(_ bytes: [UInt8]) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json", .cacheControl: "public, max-age=3600"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}
