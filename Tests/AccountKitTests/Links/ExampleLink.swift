import AccountContract
import AccountKit
import Foundation
import Testing

/// The links of the example app: its content, and the reset link beside it.
enum ExampleLink: Hashable, Sendable {
    /// A section of the app, opened by a host of the custom scheme.
    enum Section: String, CaseIterable, Hashable, Sendable {
        case crowns, download, gemara, mishna
    }

    case section(Section)
    case lesson(series: String, page: Int, video: String, start: Duration)
    case coupon(distributor: String, title: String, sum: Decimal)
    case account(id: String)
    case resetPassword(ResetLink)

    static let reader = LinkReader<ExampleLink>(
        hosts: ["app.example.com", "WWW.example.com"],
        scheme: "exampleapp",
        resetLink: { .resetPassword($0) },
        routes: Section.allCases.map { section in LinkRoute(section.rawValue) { _ in .section(section) } } + [
            LinkRoute("lesson") { parameters throws(LinkRefusal) in
                .lesson(
                    series: try parameters.text("series"),
                    page: try parameters.integer("page", in: 1...10_000),
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
            LinkRoute("account/:id", needsSession: true) { parameters throws(LinkRefusal) in
                .account(id: try parameters.text("id"))
            },
        ]
    )
}

/// Returns the URL of a text.
func url(_ text: String) throws -> URL {
    try #require(URL(string: text))
}
