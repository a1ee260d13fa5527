import ErrorContract
import Mustache
public import OpenAPI

/// The API reference as a page: one file of at most 160 KB, without a framework or third-party resources.
///
/// The page shows the contents of the OpenAPI document to readers. The page and the document are derived from the same `APIDescription`,
/// so they don't differ.
///
/// ```swift
/// let description = APIDescription(settings: APISettings(appName: "Notes", version: "1.0.0"))
/// let page = try ReferencePage(description)
/// let html = page.html(nonce: nonce, address: "http://127.0.0.1:8080")
/// ```
public struct ReferencePage: Sendable {
    /// The API of the server.
    private let description: APIDescription
    /// The template of the page.
    private let template: MustacheTemplate
    /// The style sheet, which the page contains.
    private let css: String
    /// The script, which the page contains.
    private let script: String

    /// Reads the template.
    /// - Parameter description: The API of the server.
    /// - Throws: Mustache's error if the template can't be read.
    public init(_ description: APIDescription) throws {
        self.description = description
        template = try MustacheTemplate(string: String(decoding: PackageResources.reference_html_mustache, as: UTF8.self))
        css = String(decoding: PackageResources.reference_css, as: UTF8.self)
        script = String(decoding: PackageResources.reference_js, as: UTF8.self)
    }

    /// Returns the HTML of the page. O(number of operations).
    ///
    /// - Returns: The page as UTF-8 text. Send it with the policy of ``policy(nonce:)``.
    /// - Parameters:
    ///   - nonce: The nonce of the response's content security policy.
    ///   - address: The address of the server. The examples use it if no address is configured. Don't take it from a request.
    public func html(nonce: String, address: String) -> String {
        let writer = ReferenceWriter(description: description, address: description.settings.baseURL ?? address)
        return template.render(writer.content(nonce: nonce, css: css, script: script))
    }

    /// Returns the content security policy of a page with a nonce. The policy allows only the page's own style and script, and no
    /// connections.
    /// - Parameter nonce: The nonce that was passed to ``html(nonce:address:)``: a new random one for each response.
    public static func policy(nonce: String) -> String {
        PagePolicy.text(nonce: nonce, runsScript: true)
    }
}
