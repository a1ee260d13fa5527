import ErrorContract
import StrictJSON

/// The `apple-app-site-association` file of a server whose mails carry reset links.
///
/// Apple, "Supporting associated domains" and "applinks.Details.Components": the first component takes links with a token in
/// the query, the second those with something behind `#`; a link without a token stays in the browser. The `webcredentials`
/// service lets iOS keep the new password for the domain. The same configuration gives the same bytes.
public struct AssociationFile: Hashable, Sendable {
    /// Where Apple asks for the file; it is served here without a redirect.
    public static let path = "/.well-known/apple-app-site-association"
    /// The media type that the file is served with.
    public static let contentType = "application/json"
    /// The last part of the path of reset links.
    public static let linkName = "reset-password"

    /// The apps, in the order in which they are offered a link.
    public let apps: [AppIdentifier]
    /// The path of reset links.
    public let linkPath: String

    /// Creates a file.
    /// - Parameters:
    ///   - apps: At least one app, none twice.
    ///   - basePath: The path of the configured link base as it is written in links (percent-encoded); `/reset-password` is
    ///     put behind it unless it is there.
    /// - Throws: ``AppLinksError`` with code ``AppLinksError/Code/noApps``, ``AppLinksError/Code/repeatedApp`` or
    ///   ``AppLinksError/Code/badBasePath``.
    public init(apps: [AppIdentifier], basePath: String = "/") throws(AppLinksError) {
        guard !apps.isEmpty else {
            throw AppLinksError(code: .noApps, message: "Name at least one app, as in ABCDE12345.com.example.app.")
        }
        for (index, app) in apps.enumerated() where apps[..<index].contains(app) {
            throw AppLinksError(code: .repeatedApp, message: "\(app) is named twice; name it once.")
        }
        self.apps = apps
        linkPath = try Self.linkPath(below: basePath)
    }

    /// The file.
    public var bytes: [UInt8] {
        let ids = JSONValue.array(apps.map { .string($0.description) })
        let components: JSONValue = [
            ["/": .string(linkPath), "?": ["token": "?*"]],
            ["/": .string(linkPath), "#": "?*"],
        ]
        let file: JSONValue = [
            "applinks": ["details": [["appIDs": ids, "components": components]]],
            "webcredentials": ["apps": ids],
        ]
        return file.encoded()
    }

    private static func linkPath(below basePath: String) throws(AppLinksError) -> String {
        var base = Array(basePath.utf8)
        let others = Set("-._~/%!&'(),+;=:@".utf8)
        guard base.first.map({ $0 == UInt8(ascii: "/") }) ?? true,
            base.allSatisfy({ $0.isLetter || $0.isDigit || others.contains($0) })
        else {
            throw AppLinksError(
                code: .badBasePath,
                message: "The path \"\(basePath)\" must begin with / and have no *, ?, #, $ or character that a URL encodes."
            )
        }
        while base.last == UInt8(ascii: "/") { base.removeLast() }
        let name = Array("/\(linkName)".utf8)
        if Array(base.suffix(name.count)) != name { base += name }
        return String(decoding: base, as: UTF8.self)
    }
}
