import AccountContract
import AccountKit
import Foundation

/// The links that open this app: links to its content, and those in emails of the account server.
enum AppLink: Hashable, Sendable {
    /// A section of the content, opened by a host of the custom scheme.
    enum Section: String, CaseIterable, Hashable, Sendable {
        case crowns, download, gemara, mishna
    }

    case section(Section)
    case lesson(series: String, page: Int, video: String, start: Duration)
    /// A coupon, only for signed-in users.
    case coupon(distributor: String, title: String, sum: Decimal)
    case resetPassword(ResetLink)
    /// The other links in emails of the account server.
    case account(AccountLink)

    /// The custom scheme.
    static let scheme = "holdfast-example"

    /// Returns the reader with the routes of the app.
    /// - Parameter host: The host whose web links belong to the app.
    static func reader(host: String) -> LinkReader<AppLink> {
        LinkReader(
            hosts: [host],
            scheme: scheme,
            resetLink: { .resetPassword($0) },
            accountLink: { .account($0) },
            routes: Section.allCases.map { section in LinkRoute(section.rawValue) { _ in .section(section) } } + [
                LinkRoute("lesson") { parameters throws(LinkRefusal) in
                    .lesson(
                        series: try parameters.text("series"),
                        page: try parameters.integer("page"),
                        video: try parameters.text("video"),
                        start: .seconds(parameters["start"] == nil ? 0 : try parameters.integer("start"))
                    )
                },
                LinkRoute("coupon", needsSession: true) { parameters throws(LinkRefusal) in
                    .coupon(
                        distributor: try parameters.text("distributor"),
                        title: try parameters.text("title"),
                        sum: try parameters.decimal("sum")
                    )
                },
            ]
        )
    }
}

extension AppLink: CustomStringConvertible {
    /// The content that the app would show, without the token of an emailed link.
    var description: String {
        switch self {
        case .section(let section): section.rawValue
        case .lesson(let series, let page, let video, let start): "\(series) \(page), \(video) +\(start)"
        case .coupon(let distributor, let title, let sum): "\(distributor): \(title), \(sum)"
        case .resetPassword: ResetLink.page
        case .account(let link): link.purpose.page
        }
    }
}
