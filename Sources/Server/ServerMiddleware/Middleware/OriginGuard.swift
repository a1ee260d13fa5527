import ErrorContract
import HTTPTypes
public import Hummingbird

/// Tells whether a form was sent from one of our own pages.
///
/// A page with `Referrer-Policy: no-referrer` sends its forms with `Origin: null`, so `null` and absence are left to
/// `Sec-Fetch-Site`, which browsers send since 2023. What has neither is no browser, and needs no protection from one.
public struct OriginGuard: Sendable {
    private let isOwn: @Sendable (String) -> Bool

    /// Creates a guard.
    /// - Parameter isOwn: Whether an origin, such as `https://example.com`, is ours.
    public init(isOwn: @escaping @Sendable (String) -> Bool) {
        self.isOwn = isOwn
    }

    /// Whether a request may have come from one of our pages, or from no page at all.
    public func admits(_ request: Request) -> Bool {
        let site = request.headers[.secFetchSite]
        guard site == nil || site == "same-origin" || site == "none" else { return false }
        guard let origin = request.headers[.origin], origin != "null" else { return true }
        return isOwn(origin)
    }
}
