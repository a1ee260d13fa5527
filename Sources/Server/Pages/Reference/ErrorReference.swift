public import ErrorContract

/// The reference of error codes, derived from a catalogue. The reference can be rendered as Markdown, or as the pages to which problem
/// details (RFC 9457) link.
///
/// ```swift
/// let reference = ErrorReference(catalogue: .standard)
/// let markdown = reference.markdown
/// ```
///
/// To serve the reference as pages, pass it to ``ErrorPages``. For tools that read OpenAPI, use `ErrorComponents` of `OpenAPI` instead.
public struct ErrorReference: Sendable {
    /// The codes of the reference.
    let catalogue: ErrorCatalogue

    /// Creates the reference of a catalogue. The work is done when the reference is rendered.
    /// - Parameter catalogue: The codes of Holdfast, or a catalogue with an app's own codes.
    public init(catalogue: ErrorCatalogue = .standard) {
        self.catalogue = catalogue
    }

    /// The families of codes, in the order of their first codes. In each family, the codes have the order of the catalogue.
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

    /// Returns the languages of a text. The supported languages come first, in their order.
    static func languages(of text: LocalizedText) -> [Language] {
        let supported = Language.supported.filter(text.languages.contains)
        return supported + text.languages.subtracting(supported).sorted { $0.rawValue < $1.rawValue }
    }
}

/// The meanings of the catalogue's terms, for developers, in English.
extension ErrorReference {
    /// Returns the automatic reaction of a client, as a sentence without a subject.
    ///
    /// - Parameter retry: The retry class of a code.
    static func meaning(of retry: RetryClass) -> String {
        switch retry {
        case .never: "Does not repeat the request, which would fail again."
        case .afterRefresh: "Refreshes the session once for all calls, and repeats each call once."
        case .afterRefreshOrSignIn:
            "Refreshes if it has a refresh token, otherwise requests a sign-in; repeats the call once."
        case .afterSignIn: "Does not refresh: removes the credentials, requests a sign-in, repeats the call once."
        case .afterDelay: "Waits for the server's delay and repeats the call, if the delay fits its maximum and its deadline."
        case .onlyAfterNamedDelay: "Repeats the call only if the server sends a delay that fits its maximum and its deadline."
        case .withBackoff: "Backs off and repeats the call, if it is safe to repeat."
        }
    }

    /// Returns the step that a user can take, as a sentence.
    ///
    /// - Parameter recovery: The recovery of a code.
    static func meaning(of recovery: Recovery) -> String {
        switch recovery {
        case .dismiss: "Dismiss the message."
        case .fixFields: "Correct the input."
        case .signIn: "Sign in again."
        case .wait: "Wait, then try again."
        case .retry: "Try again."
        case .checkAgain: "Check whether the request took effect, without sending it again."
        case .requestNewLink: "Request a new link."
        case .contactSupport: "Contact support."
        case .openSettings: "Change a setting, such as a key or a connected account."
        case .updateApp: "Install a newer version of the app."
        }
    }
}

extension ErrorReference {
    /// The whole reference as one Markdown page. Each access computes it again.
    /// - Complexity: O(number of codes).
    public var markdown: String {
        let families = families
        let head = [
            "# Error codes",
            "<!-- Derived from the catalogue. Change it there, then run scripts/reference. -->",
            """
            \(catalogue.definitions.count) codes in \(families.count) families: \(contents(families.map(\.family))).
            Each code has one status and one meaning, which never change. New codes are added at the end of their family.
            A server shows each code at `/errors/CODE`.
            Codes that may reveal that an account exists are marked.
            """,
            "The code, not the status alone, determines what a client does by itself (*retry*):",
            table(RetryClass.allCases.map { ($0.rawValue, Self.meaning(of: $0)) }, heading: "retry"),
            "The code also determines how the user can resolve the problem (*recovery*):",
            table(Recovery.allCases.map { ($0.rawValue, Self.meaning(of: $0)) }, heading: "recovery"),
        ]
        let rest = families.flatMap { family, definitions in
            ["## \(family.rawValue)"] + definitions.map(section)
        }
        return (head + rest).joined(separator: "\n\n")
    }

    /// Links to the families.
    private func contents(_ families: [ErrorFamily]) -> String {
        families.map { "[\($0.rawValue)](#\($0.rawValue.lowercased()))" }.joined(separator: ", ")
    }

    /// A table of terms and their meanings.
    private func table(_ rows: [(String, String)], heading: String) -> String {
        (["| \(heading) | |", "|---|---|"] + rows.map { "| `\($0)` | \(Self.escaped($1)) |" }).joined(separator: "\n")
    }

    /// Returns the section of a code.
    private func section(_ definition: ErrorDefinition) -> String {
        var parts = [
            "### \(definition.code)",
            "**\(definition.status)** \(Self.sentence(definition.summary)) → \(Self.sentence(definition.userAction))",
        ]
        if !definition.documentation.isEmpty { parts.append(definition.documentation) }
        parts.append(
            "retry `\(definition.retry.rawValue)` · recovery `\(definition.recovery.rawValue)` · since \(definition.since)"
                + (definition.mayRevealAccount ? " · **may reveal that an account exists**" : "")
        )
        parts.append(
            Self.languages(of: definition.message)
                .map { "- \($0.rawValue): \(Self.escaped(definition.message.text(in: $0)))" }
                .joined(separator: "\n")
        )
        return parts.joined(separator: "\n\n")
    }

    /// Returns the text with a period at its end.
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
