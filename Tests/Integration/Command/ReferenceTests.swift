import ErrorContract
import Foundation
import Pages
import TestSupport
import Testing

@Suite struct ReferenceTests {
    @Test("docs/server/errors.md equals the generated reference of the catalog")
    func isFresh() throws {
        let root = Repository.root
        let written = try String(contentsOf: root.appending(path: "docs/server/errors.md"), encoding: .utf8)
        #expect(written == ErrorReference().markdown + "\n", "docs/server/errors.md is stale; renew it with scripts/reference")
    }

    @Test("The reference has every code once with all its fixed properties")
    func isComplete() throws {
        let markdown = ErrorReference().markdown
        for definition in ErrorCatalogue.standard.definitions {
            let section = try #require(markdown.components(separatedBy: "\n### ").first { $0.hasPrefix("\(definition.code)\n") })
            #expect(section.contains("**\(definition.status)**"))
            #expect(section.contains("retry `\(definition.retry.rawValue)`"))
            #expect(section.contains("recovery `\(definition.recovery.rawValue)`"))
            #expect(section.contains("may reveal that an account exists") == definition.mayRevealAccount)
            for language in Language.supported { #expect(section.contains("\n- \(language): ")) }
        }
        #expect(markdown.components(separatedBy: "\n### ").count == ErrorCatalogue.standard.definitions.count + 1)
    }

    @Test("Places and documents added codes, and escapes markup in their texts")
    func additions() throws {
        let own = ErrorDefinition(
            ErrorCode("NOTE_LOCKED"),
            family: ErrorFamily(rawValue: "NOTE"),
            status: 423,
            summary: "Locked | by_someone",
            userAction: "Look\nhere.",
            message: LocalizedText(en: "<b>*Locked*</b>", es: "[Bloqueada](x)"),
            documentation: "Returned if the note is locked.",
            since: "2.0"
        )
        let markdown = ErrorReference(catalogue: try ErrorCatalogue.standard.adding([own])).markdown
        let section = try #require(markdown.components(separatedBy: "\n## NOTE\n").last)
        #expect(
            section == #"""

                ### NOTE_LOCKED

                **423** Locked \| by\_someone. → Look here.

                Returned if the note is locked.

                retry `never` · recovery `dismiss` · since 2.0

                - en: \<b\>\*Locked\*\</b\>
                - es: \[Bloqueada\](x)
                """#
        )
        #expect(markdown.contains("[NOTE](#note)"))
    }
}
