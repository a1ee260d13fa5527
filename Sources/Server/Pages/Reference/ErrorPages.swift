public import ErrorContract
import Mustache
import OpenAPI
import StrictJSON

/// The pages of the error codes: a page that lists all codes, and a page for each code.
///
/// The pages are for developers and in English. They also show each code's text for users in all languages. Each page is one file without
/// scripts or third-party resources.
///
/// The address of a page is the `type` of problem details (RFC 9457), so a developer who sees an error in a log can open its explanation.
///
/// ```swift
/// let pages = try ErrorPages(appName: "Notes")
/// let html = pages.page(of: .authInvalidCredentials, nonce: nonce) ?? pages.missing("AUTH_UNKNOWN", nonce: nonce)
/// ```
public struct ErrorPages: Sendable {
    /// The path of the page that lists all codes. The path of a code's page has the code as an additional segment.
    public static let path = "/errors"

    /// The codes and their meanings.
    private let reference: ErrorReference
    /// The name of the app, which each page shows.
    private let appName: String
    /// The path of the page that lists all codes, including the base path.
    private let address: String
    /// The template of all pages.
    private let template: MustacheTemplate
    /// The style sheet, which each page contains.
    private let css: String

    /// Reads the template.
    /// - Parameters:
    ///   - reference: The codes.
    ///   - appName: The app's name.
    ///   - basePath: The path of the configured address, which precedes the paths of the routes, such as `/app`.
    /// - Throws: Mustache's error if the template can't be read.
    public init(reference: ErrorReference = ErrorReference(), appName: String, basePath: String = "") throws {
        self.reference = reference
        self.appName = appName
        self.address = basePath + Self.path
        template = try MustacheTemplate(string: String(decoding: PackageResources.errors_html_mustache, as: UTF8.self))
        css = [PackageResources.page_css, PackageResources.errors_css].map { String(decoding: $0, as: UTF8.self) }.joined()
    }

    /// Returns the page that lists all codes by family.
    /// - Parameter nonce: The nonce of the response's content security policy.
    /// - Returns: The page as UTF-8 text. Send it with the policy of ``policy(nonce:)``.
    /// - Complexity: O(number of codes).
    public func index(nonce: String) -> String {
        var content = content(title: "Error codes", nonce: nonce)
        content["families"] = reference.families.map { family, definitions -> TemplateValues in
            ["name": family.rawValue, "codes": definitions.map(link)]
        }
        content["count"] = reference.catalogue.definitions.count
        return template.render(content)
    }

    /// Returns the page of one code; `nil` if the catalogue does not have it.
    ///
    /// - Returns: The page as UTF-8 text. Send it with the policy of ``policy(nonce:)`` and status 200.
    /// - Parameters:
    ///   - code: The code in the path.
    ///   - nonce: The nonce of the response's content security policy.
    public func page(of code: ErrorCode, nonce: String) -> String? {
        guard let definition = reference.catalogue[code] else { return nil }
        var content = content(title: code.rawValue, nonce: nonce)
        let messages = ErrorReference.languages(of: definition.message).map { language -> TemplateValues in
            ["language": language.rawValue, "text": definition.message.text(in: language)]
        }
        content["code"] =
            [
                "name": code.rawValue,
                "status": definition.status,
                "summary": definition.summary,
                "userAction": definition.userAction,
                "documentation": definition.documentation.isEmpty ? nil : definition.documentation,
                "retry": definition.retry.rawValue,
                "retryMeaning": ErrorReference.meaning(of: definition.retry),
                "recovery": definition.recovery.rawValue,
                "recoveryMeaning": ErrorReference.meaning(of: definition.recovery),
                "since": definition.since,
                "reveals": definition.mayRevealAccount ? "May reveal that an account exists." : "Reveals nothing about accounts.",
                "messages": messages,
                "example": ErrorExample(definition: definition).body(in: .standard).indented(lineWidth: 0),
            ] as TemplateValues
        return template.render(content)
    }

    /// Returns the page for an unknown code. If a code has a similar name, the page links to it.
    ///
    /// The code is escaped. Send the page with status 404.
    /// - Parameters:
    ///   - code: The code in the path. The page shows its first 128 characters.
    ///   - nonce: The nonce of the response's content security policy.
    public func missing(_ code: String, nonce: String) -> String {
        var content = content(title: "No such code", nonce: nonce)
        let closest = reference.catalogue.closestDefinition(to: ErrorCode(code))
        content["missing"] = ["name": String(code.prefix(128)), "closest": closest.map(link)] as TemplateValues
        return template.render(content)
    }

    /// Returns the content security policy of a page with a nonce. The policy allows only the inline style.
    /// - Parameter nonce: The nonce that was passed to the method that rendered the page: a new random one for each response.
    public static func policy(nonce: String) -> String {
        PagePolicy.text(nonce: nonce)
    }

    /// Returns the values of a link to the page of a code.
    private func link(_ definition: ErrorDefinition) -> TemplateValues {
        [
            "name": definition.code.rawValue, "address": "\(address)/\(definition.code)", "status": definition.status,
            "summary": definition.summary,
        ]
    }

    /// Returns the values that all pages share.
    private func content(title: String, nonce: String) -> TemplateValues {
        [
            "title": title,
            "app": appName,
            "nonce": nonce,
            "css": css,
            "all": address,
        ]
    }
}
