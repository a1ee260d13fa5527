import ErrorContract
import StrictJSON

/// Finds the app that opens a link, by Apple's rules for `apple-app-site-association`.
///
/// ```swift
/// let matcher = try AssociationMatcher(file.bytes, domain: "example.com")
/// let match = matcher.match("https://example.com/reset-password?token=abc")
/// print(match.apps)
/// ```
///
/// Use the matcher to test a file before it is published, because Apple's servers cache a file for hours.
///
/// The matcher tries entries and components in order (Apple, "applinks.Details.Components"). The first component that matches the link
/// determines the result: if the component has `exclude`, no app opens the link. A component matches if all its keys match. Where Apple's
/// documentation is incomplete, the matcher behaves like Apple's tool `swcutil` on macOS 27.
///
/// A matcher is immutable, so several tasks can share it. A match takes at most O(size of the file · length of the link / 64), so a server
/// can check untrusted files.
public struct AssociationMatcher: Sendable {
    /// The longest supported link, in bytes.
    public static let longestLink = 8 * 1024

    /// An error that reports that the file is not JSON, or is larger than Apple accepts.
    ///
    /// ``AssociationLint`` reports the position of the problem in the file.
    public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        /// The problem.
        public let description: String
    }

    /// The domain that serves the file, in lowercase; `nil` if links of any host are matched.
    public let domain: String?
    private let document: AssociationDocument

    /// Reads a file of the new or the old format.
    ///
    /// Reading is lenient: if a key occurs twice, the last value is used, and values of the wrong type are ignored. ``AssociationLint``
    /// reports both problems.
    /// - Parameters:
    ///   - bytes: The file, at most 128 KB.
    ///   - domain: The domain that serves the file; `nil` matches links of any host.
    /// - Throws: ``Unreadable`` if the file is not JSON or too large.
    public init(_ bytes: some Collection<UInt8>, domain: String? = nil) throws(Unreadable) {
        let text = AssociationText(bytes)
        guard text.byteCount <= AssociationDocument.largest else {
            throw Unreadable(
                description: "The file has \(text.byteCount) bytes; Apple accepts up to \(AssociationDocument.largest)."
            )
        }
        do {
            document = AssociationDocument(try JSONParser(duplicates: .lastWins).parse(text.json))
        } catch {
            throw Unreadable(description: "The file is not JSON: \(error).")
        }
        self.domain = domain?.lowercased()
    }

    /// Matches one link.
    /// - Parameters:
    ///   - link: The link as it is written in an email or on a page, at most ``longestLink`` bytes.
    ///   - installed: The identifiers of the apps on the phone. The matcher skips entries of other apps, as the system does. `nil` means
    ///     that all apps are installed.
    /// - Returns: The decision, with the rule or the reason. If the file doesn't apply to the link, the outcome is `refused`. The method
    ///   doesn't throw.
    /// - Complexity: O(size of the file · length of the link / 64).
    public func match(_ link: String, installed: Set<String>? = nil) -> LinkMatch {
        guard link.utf8.count <= Self.longestLink else {
            return refusal(of: link, .tooLong, "The link is longer than \(Self.longestLink) bytes; shorten it.")
        }
        guard let parts = SplitLink(link) else {
            return refusal(of: link, .notALink, "This is not an absolute link; begin it with https://.")
        }
        if let refused = refusal(of: link, parts) { return refused }
        return LinkMatch(link: link, outcome: outcome(parts, installed: installed))
    }

    /// Tries all rules in order, and records the rules that don't match. A report uses the record to explain why no app opens the link.
    private func outcome(_ parts: SplitLink, installed: Set<String>?) -> LinkMatch.Outcome {
        var cache = LinkFacetCache(parts)
        var misses: [LinkMatch.Miss] = []
        for entry in document.entries {
            let apps = entry.apps.filter { installed?.contains($0) ?? true }
            guard !apps.isEmpty else { continue }
            for rule in entry.rules {
                if let miss = rule.firstMiss(in: cache.facets(decodes: rule.decodes, folds: rule.folds)) {
                    misses.append(.init(entry: entry.index, component: rule.index, key: miss))
                    continue
                }
                let found = LinkMatch.Rule(
                    apps: apps,
                    entry: entry.index,
                    component: rule.index,
                    comment: rule.comment,
                    isOldFormat: entry.format == .paths
                )
                return rule.excludes ? .excluded(found) : .opens(found)
            }
        }
        return .unmatched(misses)
    }

    /// Returns the reason why the file doesn't apply to a link; `nil` if the file applies.
    private func refusal(of link: String, _ parts: SplitLink) -> LinkMatch? {
        if parts.scheme != "https" {
            return refusal(of: link, .notHTTPS, "The link is \(parts.scheme); make it https.")
        }
        if parts.host.isEmpty { return refusal(of: link, .noHost, "The link has no host; add the domain of the file.") }
        if let domain, parts.host != domain {
            return refusal(
                of: link,
                .otherHost,
                "The host is \(parts.host), the file is that of \(domain); every host needs its own file."
            )
        }
        if let port = parts.port, port != "443" {
            return refusal(of: link, .port, "The link has port \(port); associated domains have no port, remove it.")
        }
        return nil
    }

    /// Returns the result for a link to which the file doesn't apply.
    private func refusal(of link: String, _ code: LinkMismatch.Code, _ message: String) -> LinkMatch {
        LinkMatch(link: link, outcome: .refused(LinkMismatch(code: code, message: message)))
    }
}
