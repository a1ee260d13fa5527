public import ErrorContract
import Foundation
import Mustache

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
        content.families = reference.families.map { family, definitions in
            .init(
                name: family.rawValue,
                codes: definitions.map {
                    .init(name: $0.code.rawValue, address: address(of: $0.code), status: $0.status, summary: $0.summary)
                }
            )
        }
        content.count = reference.catalogue.definitions.count
        return template.render(content)
    }

    /// The page of one code, or `nil` if the catalogue does not have it.
    /// - Parameters:
    ///   - code: The code in the path.
    ///   - nonce: The nonce of the answer's content security policy.
    public func page(of code: ErrorCode, nonce: String) -> String? {
        guard let definition = reference.catalogue[code] else { return nil }
        var content = content(title: code.rawValue, nonce: nonce)
        content.code = .init(
            name: code.rawValue,
            status: definition.status,
            summary: definition.summary,
            userAction: definition.userAction,
            documentation: definition.documentation.isEmpty ? nil : definition.documentation,
            retry: definition.retry.rawValue,
            retryMeaning: ErrorReference.meaning(of: definition.retry),
            recovery: definition.recovery.rawValue,
            recoveryMeaning: ErrorReference.meaning(of: definition.recovery),
            since: definition.since,
            reveals: definition.mayRevealAccount ? "May tell that an account exists." : "Tells nothing about accounts.",
            messages: ErrorReference.languages(of: definition.message).map {
                .init(language: $0.rawValue, text: definition.message.text(in: $0))
            },
            example: Self.example(of: definition)
        )
        return template.render(content)
    }

    /// The page of a code that is none.
    /// - Parameters:
    ///   - code: The code in the path.
    ///   - nonce: The nonce of the answer's content security policy.
    public func missing(_ code: String, nonce: String) -> String {
        var content = content(title: "No such code", nonce: nonce)
        let closest = reference.catalogue.closestDefinition(to: ErrorCode(code))
        content.missing = .init(
            name: String(code.prefix(128)),
            closest: closest.map { .init(name: $0.code.rawValue, address: address(of: $0.code)) }
        )
        return template.render(content)
    }

    /// The content security policy of a page with this nonce.
    public static func policy(nonce: String) -> String {
        "default-src 'none'; style-src 'nonce-\(nonce)'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    }

    private func address(of code: ErrorCode) -> String { "\(address)/\(code)" }

    private func content(title: String, nonce: String) -> ErrorPageContent {
        ErrorPageContent(title: title, app: appName, nonce: nonce, css: css, all: address)
    }

    /// The body of an answer with the code, as it may look.
    private static func example(of definition: ErrorDefinition) -> String {
        let payload = ErrorPayload(
            code: definition.code,
            status: definition.status,
            message: definition.message.text(in: .english),
            retryAfterSeconds: [429, 503].contains(definition.status) ? 60 : nil,
            timestamp: Date(timeIntervalSince1970: 1_762_252_200),
            requestID: "7f3e9a52-0f8e-4d6c-9a0e-1b2c3d4e5f60"
        )
        return ErrorForm.standard.body(of: payload).indented()
    }
}
