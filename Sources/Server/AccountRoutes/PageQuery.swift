import AccountContract
import Foundation
import Hummingbird

/// The query of a page's address, read by the rules of ``AccountContract/ResetLink``: a doubled parameter is no link.
struct PageQuery {
    private let query: String

    init(_ request: Request) {
        query = request.uri.query ?? ""
    }

    /// Whether the query is about a link at all: what else stands there, such as a campaign's mark, is nobody's business here.
    var namesLink: Bool {
        query.split(separator: "&").contains { $0.hasPrefix("token") || $0.hasPrefix("email") }
    }

    /// The link that the page was opened with, or `nil` if it is none.
    var resetLink: ResetLink? {
        // The host is our own: the request has come here.
        URL(string: "https://localhost/\(ResetLink.page)?\(query)").flatMap { try? ResetLink($0, hosts: ["localhost"]) }
    }
}
