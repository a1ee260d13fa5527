import ErrorContract
import HTTPTypes
public import Hummingbird

/// Checks whether a form was sent from a page of this site (protection against cross-site request forgery).
///
/// ```swift
/// let origins = OriginGuard { $0 == "https://accounts.example.com" }
/// guard origins.admits(request) else { throw ContractError(.resourceForbidden) }
/// ```
///
/// The guard checks two headers, if the request has them:
///
/// - `Sec-Fetch-Site` must be `same-origin` or `none`. Browsers have sent this header since 2023.
/// - `Origin` must belong to this site. The value `null` counts as absent, because a page with `Referrer-Policy: no-referrer` sends its
///   forms with this value.
///
/// A request with neither header does not come from a browser and needs no protection.
///
/// Use the guard for forms that browsers send with cookies or without authentication. Routes with bearer tokens don't need the guard,
/// because a browser never adds such a token by itself.
public struct OriginGuard: Sendable {
    private let isOwn: @Sendable (String) -> Bool

    /// Creates a guard.
    /// - Parameter isOwn: A closure that returns whether an origin, such as `https://example.com`, belongs to this site.
    public init(isOwn: @escaping @Sendable (String) -> Bool) {
        self.isOwn = isOwn
    }

    /// Returns whether a form comes from a page of this site, or from a client that is not a browser.
    /// - Parameter request: The request with the form.
    /// - Returns: `false` if another site caused the request. Refuse such a request with 403.
    public func admits(_ request: Request) -> Bool {
        let site = request.headers[.secFetchSite]
        guard site == nil || site == "same-origin" || site == "none" else { return false }
        guard let origin = request.headers[.origin], origin != "null" else { return true }
        return isOwn(origin)
    }
}

extension Request {
    /// Whether a browser reports that a page of another site caused the request.
    ///
    /// `Sec-Fetch-Site` decides if the request has it. Otherwise, the host of `Origin` must equal the host of the request. The value is
    /// `false` for a request with neither header, because it does not come from a page of another site.
    package var isFromOtherSite: Bool {
        if let site = headers[.secFetchSite] { return site != "same-origin" && site != "none" }
        guard let origin = headers[.origin] else { return false }
        guard let scheme = origin.firstRange(of: "://") else { return true }
        return head.authority != String(origin[scheme.upperBound...])
    }
}
