public import ErrorContract

/// The reference of error codes, derived from a catalogue: as Markdown, and as the pages to which problem details link.
///
/// ```swift
/// let reference = ErrorReference(catalogue: .standard)
/// let markdown = reference.markdown
/// ```
/// To serve the reference as pages, pass it to ``ErrorPages``.
public struct ErrorReference: Sendable {
    let catalogue: ErrorCatalogue

    /// Creates the reference of a catalogue.
    public init(catalogue: ErrorCatalogue = .standard) {
        self.catalogue = catalogue
    }

    /// The families, in the order of their first codes, with their codes in the order of the catalogue.
    var families: [(family: ErrorFamily, definitions: [ErrorDefinition])] {
        var families: [(family: ErrorFamily, definitions: [ErrorDefinition])] = []
        for definition in catalogue.definitions {
            if let index = families.firstIndex(where: { $0.family == definition.family }) {
                families[index].definitions.append(definition)
            } else {
                families.append((definition.family, [definition]))
            }
        }
        return families
    }

    /// Returns the languages of a text: those of the contract first, in its order.
    static func languages(of text: LocalizedText) -> [Language] {
        let supported = Language.supported.filter(text.languages.contains)
        return supported + text.languages.subtracting(supported).sorted { $0.rawValue < $1.rawValue }
    }
}

/// The meanings of the catalogue's terms, for developers, in English.
extension ErrorReference {
    static func meaning(of retry: RetryClass) -> String {
        switch retry {
        case .never: "Never by itself: the same request would fail again."
        case .afterRefresh: "Refreshes the session once, shared by all callers, and repeats once."
        case .afterRefreshOrSignIn:
            "Refreshes if it has a refresh token, else asks the person to sign in; repeats once."
        case .afterSignIn: "Never refreshes: clears the credentials, asks the person to sign in, repeats once."
        case .afterDelay: "Waits as told, if the wait fits its cap and its deadline, and repeats."
        case .onlyAfterNamedDelay: "Repeats only if the server names a delay that fits its cap and its deadline."
        case .withBackoff: "Backs off and repeats, if the request is safe to repeat."
        }
    }

    static func meaning(of recovery: Recovery) -> String {
        switch recovery {
        case .dismiss: "Nothing to do but to take note."
        case .fixFields: "Correct the input."
        case .signIn: "Sign in again."
        case .wait: "Wait, then repeat."
        case .retry: "Repeat."
        case .checkAgain: "Find out whether the request took effect, without sending it again."
        case .requestNewLink: "Ask for a new link."
        case .contactSupport: "Write to support."
        case .openSettings: "Change something in the settings: a key, a connected account."
        case .updateApp: "Install a newer version of the app."
        }
    }
}

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

    /// Escapes a text as one line of Markdown without markup.
    private static func escaped(_ text: String) -> String {
        text.replacing("\n", with: " ").reduce(into: "") { result, character in
            if "\\`*_[]<>|".contains(character) { result.append("\\") }
            result.append(character)
        }
    }
}
