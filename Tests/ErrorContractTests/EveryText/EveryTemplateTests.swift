import ErrorContract
import Foundation
import TestSupport
import Testing

/// The literal texts of templates and views, which would be the same in every language.
@Suite struct EveryTemplateTests {
    /// The pages and emails for users. The reference, the pages of codes and the lab are for developers, in English.
    private static let templates = Repository.files("mustache", under: ["Sources/Server/Pages"])
        .map(Repository.name(of:)).filter { name in
            !["errors", "lab", "reference"].contains { name.hasSuffix("/\($0).html.mustache") }
        }

    @Test("A template contains no literal text", arguments: templates)
    func words(name: String) throws {
        let template = try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
        let rest =
            template
            .replacing(/<style.*?<\/style>/.dotMatchesNewlines(), with: "")
            .replacing(/\{\{\{?.*?\}?\}\}/, with: "")
            .replacing(/<code.*?<\/code>/, with: "")
            .replacing(/<[^>]*>/, with: "")
        #expect(
            !rest.contains { $0.isLetter },
            "\(name): \(rest.split(whereSeparator: \.isNewline).filter { $0.contains { $0.isLetter } })"
        )
        for attribute in template.matches(of: /\s(?:title|alt|placeholder|aria-label)="([^"]*)"/) {
            #expect(attribute.output.1.contains("{{"), "\(name): \(attribute.output.0)")
        }
    }

    @Test("There are templates")
    func present() {
        #expect(Self.templates.count >= 4)
    }

    @Test("A view shows no literal text")
    func views() throws {
        let shown = /\b(?:Text|Button|Label|Toggle|TextField|SecureField|Link|navigationTitle|accessibilityLabel)\("/
        #expect(#"Button("Sign in")"#.contains(shown))
        let files = Repository.files("swift", under: ["Sources/App/AccountUI", "Sources/App/OfflineQueueUI"])
        #expect(files.count > 10)
        for file in files where !file.path.contains("Lab") {
            let source = try String(contentsOf: file, encoding: .utf8)
            for match in source.matches(of: shown) {
                let line = source[..<match.range.lowerBound].count { $0 == "\n" } + 1
                Issue.record("\(Repository.name(of: file)):\(line): \(match.output)")
            }
        }
    }
}
