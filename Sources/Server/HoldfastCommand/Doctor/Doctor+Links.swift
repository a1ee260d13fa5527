import AccountServer
import AppLinks
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastURLSession
import ResilientHTTP
import Timekeeping

extension Doctor {
    /// Checks the domain of emailed links, and its association file if apps open the links. Also compares the clock with the `Date` of the
    /// domain's response.
    func examineLinks() async -> [Finding] {
        guard let base = configuration.resetBaseURL else {
            return [.good("links", "begin with the address of the server"), examineClock(serverTime: nil)]
        }
        let hasApps = configuration.associatedApps.apple != nil
        let path = hasApps ? AssociationFile.path : base.path(percentEncoded: true)
        do {
            let (status, fields, bytes) = try await fetch(path.isEmpty ? "/" : path, of: base)
            let now = Date()
            let clock = examineClock(serverTime: fields[.date].flatMap { HTTPDate.parse($0, now: now) })
            return (hasApps ? [association(base, path, status, fields, bytes)] : [page(base, status)]) + [clock]
        } catch {
            let remedy = "check its name in the DNS, the proxy and its certificate, or PASSWORD_RESET_BASE_URL"
            let text = "\(base.absoluteString) can't be reached: \(reason(error))"
            return [.advice("links", text, remedy), examineClock(serverTime: nil)]
        }
    }

    /// Checks the response of the page behind the links.
    private func page(_ base: URL, _ status: Int) -> Finding {
        guard status < 500 else {
            return .advice(
                "links",
                "\(base.absoluteString) responds with \(status)",
                "start the server, and check that the proxy reaches it"
            )
        }
        guard base.scheme?.lowercased() == "https" else {
            return .advice("links", "\(base.absoluteString) is not encrypted", "use https:// in PASSWORD_RESET_BASE_URL")
        }
        return .good("links", "\(base.absoluteString) responds")
    }

    /// Checks the association file of Apple's universal links with one link of each path.
    private func association(_ base: URL, _ path: String, _ status: Int, _ fields: HTTPFields, _ bytes: [UInt8]) -> Finding {
        let address = (base.webOrigin ?? base.absoluteString) + path
        let retrieval = Retrieval(
            url: address,
            status: status,
            contentType: fields[.contentType],
            location: fields[.location],
            bytes: bytes
        )
        let links = (configuration.associatedApps.apple?.linkPaths ?? []).map { (base.webOrigin ?? "") + $0 + "?token=abc" }
        let report = LinksReport(retrieval, links: links)
        guard report.isGood else {
            return .advice("links", "\(address) opens no app on phones", "holdfast links verify \(base.absoluteString)")
        }
        return .good("links", "\(address) associates links with the app")
    }

    /// Compares the clock with a server's time: a difference above 5 s is a warning, and a difference above 60 s is an error.
    private func examineClock(serverTime: Date?) -> Finding {
        let now = Date()
        let year = Calendar(identifier: .gregorian).component(.year, from: now)
        let remedy = "set the clock and synchronize it by NTP (timedatectl set-ntp true): links and tokens expire by it"
        guard (2_025...2_100).contains(year) else { return .wrong("clock", "says that it is \(year)", remedy) }
        guard let serverTime else { return .good("clock", "is at \(now.formatted(.iso8601)); it was not compared") }
        let difference = Int(now.timeIntervalSince(serverTime).rounded())
        guard abs(difference) > 5 else { return .good("clock", "agrees with the domain of links") }
        let text = "is \(abs(difference)) s \(difference > 0 ? "ahead of" : "behind") the domain of links"
        return abs(difference) > 60 ? .wrong("clock", text, remedy) : .advice("clock", text, remedy)
    }

    /// Downloads a page or a file without following redirects. At most 1 MiB is read.
    private func fetch(_ path: String, of base: URL) async throws -> (Int, HTTPFields, [UInt8]) {
        let request = HTTPRequest(
            method: .get,
            scheme: base.scheme,
            authority: base.authority ?? "",
            path: path
        )
        let transport = URLSessionTransport(followsRedirects: false)
        let (response, body) = try await transport.send(request, body: nil, timeout: patience)
        return (response.status.code, response.headerFields, try await body.collect(upTo: 1_024 * 1_024).bytes)
    }

    /// Returns an error as text. For an unknown error, the text contains only the name of its type, because the description could contain
    /// an address.
    private func reason(_ error: any Error) -> String {
        (error as? TransportError).map { "\($0)" } ?? "\(type(of: error))"
    }
}
