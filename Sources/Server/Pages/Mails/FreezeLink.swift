import AccountContract
import Foundation

/// The link with which an owner says "this was not me": the page below the reset page.
struct FreezeLink {
    static let page = "not-me"

    let token: ResetToken

    /// The link, or `nil` if `base` is not an absolute web address.
    func url(base: URL, style: ResetLink.Style) -> URL? {
        guard let reset = ResetLink(token: token, email: nil).url(base: base, style: style),
            var parts = URLComponents(url: reset, resolvingAgainstBaseURL: true)
        else { return nil }
        parts.percentEncodedPath += "/" + Self.page
        return parts.url
    }
}
