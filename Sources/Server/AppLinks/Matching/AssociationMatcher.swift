import ErrorContract
import StrictJSON

/// Says which app opens a link, by Apple's rules for `apple-app-site-association`.
///
/// Apple, "applinks.Details.Components": entries and components are tried in their order, the first match decides, all keys of
/// a component must match, `exclude` ends the search. Where Apple's pages are silent, what `swcutil` does on macOS 27 counts.
/// A link costs O(file · link / 64) at most.
public struct AssociationMatcher: Sendable {
    /// The longest link that is looked at, in bytes.
    public static let longestLink = 8 * 1024

    /// The file is no JSON, or larger than Apple takes.
    public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong.
        public let description: String
    }

    /// The domain that serves the file; `nil` if links of any host are answered.
    public let domain: String?
    private let document: AssociationDocument

    /// Reads a file of the new or the old format.
    ///
    /// Reading is lenient: of equal keys the last counts, values of the wrong type are overlooked. ``AssociationLint`` is
    /// strict.
    /// - Throws: ``Unreadable``.
    public init(_ bytes: some Collection<UInt8>, domain: String? = nil) throws(Unreadable) {
        let text = AssociationText(bytes)
        guard text.byteCount <= AssociationDocument.largest else {
            throw Unreadable(
                description: "The file has \(text.byteCount) bytes; Apple takes up to \(AssociationDocument.largest)."
            )
        }
        do {
            document = AssociationDocument(try JSONParser(duplicates: .lastWins).parse(text.json))
        } catch {
            throw Unreadable(description: "The file is no JSON: \(error).")
        }
        self.domain = domain?.lowercased()
    }

    /// Answers for one link.
    /// - Parameters:
    ///   - link: The link as it stands in a mail or on a page.
    ///   - installed: The apps on the phone; entries of others are passed over. `nil` means all.
    public func answer(_ link: String, installed: Set<String>? = nil) -> LinkMatch {
        guard link.utf8.count <= Self.longestLink else {
            return refusal(of: link, .tooLong, "The link is longer than \(Self.longestLink) bytes; shorten it.")
        }
        guard let parts = SplitLink(link) else {
            return refusal(of: link, .notALink, "This is no absolute link; write it out, beginning with https://.")
        }
        if let refused = refusal(of: link, parts) { return refused }
        return LinkMatch(link: link, outcome: outcome(parts, installed: installed))
    }

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

    private func refusal(of link: String, _ parts: SplitLink) -> LinkMatch? {
        if parts.scheme != "https" {
            return refusal(of: link, .notHTTPS, "The link is \(parts.scheme); make it https.")
        }
        if parts.host.isEmpty { return refusal(of: link, .noHost, "The link has no host; name the domain of the file.") }
        if let domain, parts.host != domain {
            return refusal(
                of: link,
                .otherHost,
                "The host is \(parts.host), the file is that of \(domain); every host needs a file of its own."
            )
        }
        if let port = parts.port, port != "443" {
            return refusal(of: link, .port, "The link names port \(port); associated domains have no port, leave it out.")
        }
        return nil
    }

    private func refusal(of link: String, _ code: LinkMismatch.Code, _ message: String) -> LinkMatch {
        LinkMatch(link: link, outcome: .refused(LinkMismatch(code: code, message: message)))
    }
}
