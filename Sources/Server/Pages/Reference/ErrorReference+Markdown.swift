import ErrorContract

extension ErrorReference {
    /// The whole reference as one Markdown page.
    public var markdown: String {
        let families = families
        let head = [
            "# Error codes",
            "<!-- Derived from the catalogue. Change it there, then run scripts/reference. -->",
            """
            \(catalogue.definitions.count) codes in \(families.count) families: \(contents(families.map(\.family))).
            A code has one status and one meaning, everywhere and for ever; new ones are added behind. A server shows each at `/errors/CODE`.
            One that may tell that an account exists says so.
            """,
            "What a client does by itself (*retry*) belongs to the code, never to the status alone:",
            table(RetryClass.allCases.map { ($0.rawValue, Self.meaning(of: $0)) }, heading: "retry"),
            "What ends the trouble for the person (*recovery*):",
            table(Recovery.allCases.map { ($0.rawValue, Self.meaning(of: $0)) }, heading: "recovery"),
        ]
        let rest = families.flatMap { family, definitions in
            ["## \(family.rawValue)"] + definitions.map(section)
        }
        return (head + rest).joined(separator: "\n\n")
    }

    private func contents(_ families: [ErrorFamily]) -> String {
        families.map { "[\($0.rawValue)](#\($0.rawValue.lowercased()))" }.joined(separator: ", ")
    }

    private func table(_ rows: [(String, String)], heading: String) -> String {
        (["| \(heading) | |", "|---|---|"] + rows.map { "| `\($0)` | \(Self.escaped($1)) |" }).joined(separator: "\n")
    }

    private func section(_ definition: ErrorDefinition) -> String {
        var parts = [
            "### \(definition.code)",
            "**\(definition.status)** \(Self.sentence(definition.summary)) → \(Self.sentence(definition.userAction))",
        ]
        if !definition.documentation.isEmpty { parts.append(definition.documentation) }
        parts.append(
            "retry `\(definition.retry.rawValue)` · recovery `\(definition.recovery.rawValue)` · since \(definition.since)"
                + (definition.mayRevealAccount ? " · **may tell that an account exists**" : "")
        )
        parts.append(
            Self.languages(of: definition.message)
                .map { "- \($0.rawValue): \(Self.escaped(definition.message.text(in: $0)))" }
                .joined(separator: "\n")
        )
        return parts.joined(separator: "\n\n")
    }

    private static func sentence(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasSuffix(".") || escaped.isEmpty ? escaped : escaped + "."
    }

    /// One line in which nothing is markup.
    private static func escaped(_ text: String) -> String {
        text.replacing("\n", with: " ").reduce(into: "") { result, character in
            if "\\`*_[]<>|".contains(character) { result.append("\\") }
            result.append(character)
        }
    }
}
