public import ErrorContract
import Mustache
import OpenAPI
import StrictJSON

/// The pages of the error codes: one for all, and one for each, at the address that problem details give as their type.
///
/// For developers, in English; the texts for people stand there in every language. One file each, nothing from elsewhere, no script.
public struct ErrorPages: Sendable {
    /// The path of the pages on a server, below which each code has its own.
    public static let path = "/errors"

    private let reference: ErrorReference
    private let appName: String
    private let address: String
    private let template: MustacheTemplate
    private let css: String

    /// Reads the template.
    /// - Parameters:
    ///   - reference: The codes.
    ///   - appName: The app's name.
    ///   - basePath: What a configured address adds before the routes, such as `/app`.
    /// - Throws: Mustache's error if the template can't be read.
    public init(reference: ErrorReference = ErrorReference(), appName: String, basePath: String = "") throws {
        self.reference = reference
        self.appName = appName
        self.address = basePath + Self.path
        template = try MustacheTemplate(string: String(decoding: PackageResources.errors_html_mustache, as: UTF8.self))
        css = [PackageResources.page_css, PackageResources.errors_css].map { String(decoding: $0, as: UTF8.self) }.joined()
    }

    /// The page of all codes.
    /// - Parameter nonce: The nonce of the answer's content security policy.
    public func index(nonce: String) -> String {
        var content = content(title: "Error codes", nonce: nonce)
        content["families"] = reference.families.map { family, definitions -> TemplateValues in
            ["name": family.rawValue, "codes": definitions.map(link)]
        }
        content["count"] = reference.catalogue.definitions.count
        return template.render(content)
    }

    /// The page of one code, or `nil` if the catalogue does not have it.
    /// - Parameters:
    ///   - code: The code in the path.
    ///   - nonce: The nonce of the answer's content security policy.
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

    /// The page of a code that is none.
    /// - Parameters:
    ///   - code: The code in the path.
    ///   - nonce: The nonce of the answer's content security policy.
    public func missing(_ code: String, nonce: String) -> String {
        var content = content(title: "No such code", nonce: nonce)
        let closest = reference.catalogue.closestDefinition(to: ErrorCode(code))
        content["missing"] = ["name": String(code.prefix(128)), "closest": closest.map(link)] as TemplateValues
        return template.render(content)
    }

    /// The content security policy of a page with this nonce.
    public static func policy(nonce: String) -> String {
        PagePolicy.text(nonce: nonce)
    }

    private func link(_ definition: ErrorDefinition) -> TemplateValues {
        [
            "name": definition.code.rawValue, "address": "\(address)/\(definition.code)", "status": definition.status,
            "summary": definition.summary,
        ]
    }

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
