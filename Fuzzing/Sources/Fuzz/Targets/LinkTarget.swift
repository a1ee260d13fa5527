import AccountContract
import AccountKit
import Foundation
import HTTPTypes
import Hummingbird

@testable import AccountRoutes

/// Parses a link as an app does, as the server's page does, and with an app's table of routes.
struct LinkTarget: FuzzTarget {
    private enum Screen: Hashable, Sendable {
        case reset(ResetLink)
        case lesson(String, Int)
        case coupon(String)
    }

    private static let hosts: Set<String> = ["example.com", "localhost"]
    private let reader = LinkReader<Screen>(
        hosts: hosts,
        scheme: "crowns",
        resetLink: { .reset($0) },
        routes: [
            LinkRoute("lesson/:series/:page") { parameters throws(AccountKit.LinkRefusal) in
                .lesson(try parameters.text("series"), try parameters.integer("page"))
            },
            LinkRoute("?type=coupon") { parameters throws(AccountKit.LinkRefusal) in .coupon(try parameters.text("title")) },
        ]
    )

    init(folder: URL) throws {}

    func check(_ input: [UInt8]) throws {
        guard let text = String(validating: input, as: UTF8.self) else { return }
        try checkPage(text)
        guard let url = URL(string: text) else { return }
        let link = try? ResetLink(url, hosts: Self.hosts, scheme: "crowns")
        let found = try? reader.read(url)
        if let link {
            try require(found?.link == .reset(link), "the table reads another link")
            try require(found?.needsSession == false, "a reset link needs a session")
            try checkWritten(link)
        } else if case .reset = found?.link {
            throw Finding(description: "the table reads a reset link that is none")
        }
        if case .lesson(let series, let page) = found?.link {
            try require(!series.isEmpty && page >= 0, "a lesson without series or page")
        }
    }

    /// Requires that a link is the same after it was written and read again.
    private func checkWritten(_ link: ResetLink) throws {
        guard let base = URL(string: "https://example.com/accounts") else { return }
        var written = [link.url(scheme: "crowns")]
        for style in ResetLink.Style.allCases { written.append(link.url(base: base, style: style)) }
        for url in written {
            guard let url else { throw Finding(description: "a link can't be written") }
            let again = try? ResetLink(url, hosts: Self.hosts, scheme: "crowns")
            try require(again == link && again?.token == link.token, "a link that was written is read as another")
        }
    }

    /// Requires that a link that the server's page reads is the same after it was written and read again.
    private func checkPage(_ query: String) throws {
        let head = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/reset-password?" + query)
        let page = PageQuery(Request(head: head, body: RequestBody(buffer: ByteBuffer())))
        if let link = page.resetLink {
            try require(page.namesLink, "a page with a link does not know that it has one")
            try checkWritten(link)
        }
    }
}
