import ErrorContract
import ErrorLabContract
import HTTPTypes
import Hummingbird
import Mustache
import NIOCore

/// The page on which a developer composes an answer, tries it, and sees what a client makes of it.
struct LabPage: Sendable {
    /// What most who come are after; the rest is folded away.
    private static let mainControls: Set<String> = ["code", "form", "lang", "status", "retry_after", "delay_ms"]

    private let library: MustacheLibrary
    private let root: String
    private let controls: [LabPageContent.Control]
    private let groups: [LabPageContent.Group]

    /// - Throws: Mustache's error if a template can't be read.
    init(root: String, catalogue: ErrorCatalogue) throws {
        self.root = root
        library = MustacheLibrary(templates: [
            "lab": try Self.template(PackageResources.lab_html_mustache),
            "control": try Self.template(PackageResources.control_mustache),
        ])
        controls = LabParameter.all.map { LabPageContent.Control($0, codes: catalogue.definitions.map(\.code.rawValue)) }
        let scenarios = LabScenario.all(root: root, catalogue: catalogue)
        groups = LabScenario.groups.map { group in
            let rows = scenarios.filter { $0.group == group }.map { LabPageContent.Row($0) }
            return LabPageContent.Group(name: group.rawValue, count: rows.count, scenarios: rows)
        }
    }

    /// The page with a policy that lets nothing in from elsewhere.
    func response() -> Response {
        let nonce = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8"]
        headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
            + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
        headers[.cacheControl] = "no-store"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: html(nonce: nonce))))
    }

    func html(nonce: String) -> String {
        let content = LabPageContent(
            nonce: nonce,
            root: root,
            css: String(decoding: PackageResources.lab_css, as: UTF8.self),
            script: String(decoding: PackageResources.lab_js, as: UTF8.self),
            main: controls.filter { Self.mainControls.contains($0.name) },
            more: controls.filter { !Self.mainControls.contains($0.name) },
            groups: groups
        )
        return library.render(content, withTemplate: "lab") ?? ""
    }

    private static func template(_ bytes: [UInt8]) throws -> MustacheTemplate {
        try MustacheTemplate(string: String(decoding: bytes, as: UTF8.self))
    }
}
