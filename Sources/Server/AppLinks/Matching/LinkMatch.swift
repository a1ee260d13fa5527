/// What the system does with a link, as far as the association file decides it.
///
/// Whether an app opens also depends on the phone: the app is installed, its entitlement names the domain, the link was
/// tapped and not typed (Apple, TN3155).
public struct LinkMatch: Hashable, Sendable {
    /// The rule that decided.
    public struct Rule: Hashable, Sendable {
        /// The apps of the entry, in the order of the file.
        public let apps: [String]
        /// The place of the entry in `applinks.details`, from 0.
        public let entry: Int
        /// The place of the component (old format: of the path) in the entry, from 0.
        public let component: Int
        /// The component's comment.
        public let comment: String?
        /// Whether the entry is in the old format, so that ``component`` counts `paths`.
        public let isOldFormat: Bool
    }

    /// Why one rule did not match.
    public struct Miss: Hashable, Sendable {
        /// The place of the entry in `applinks.details`, from 0.
        public let entry: Int
        /// The place of the component in the entry, from 0.
        public let component: Int
        /// The first key that did not fit: `/`, `?`, `#`, or `?name` for an item of the query.
        public let key: String
    }

    /// The decision.
    public enum Outcome: Hashable, Sendable {
        /// An app opens it.
        case opens(Rule)
        /// A component with `exclude` keeps it in the browser.
        case excluded(Rule)
        /// No component matches; one miss for each that was tried.
        case unmatched([Miss])
        /// The link is none that the file is asked about.
        case refused(LinkMismatch)
    }

    /// The link as it was given.
    public let link: String
    /// The decision.
    public let outcome: Outcome

    /// The apps that open the link; empty if it stays in the browser.
    public var apps: [String] {
        if case .opens(let rule) = outcome { rule.apps } else { [] }
    }
}

/// Why the file is not asked about a link.
public struct LinkMismatch: Hashable, Sendable {
    /// The kind of refusal.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The text is no absolute URL.
        public static let notALink = Self(rawValue: "not_a_link")
        /// The scheme is not https.
        public static let notHTTPS = Self(rawValue: "not_https")
        /// There is no host.
        public static let noHost = Self(rawValue: "no_host")
        /// The host is not the domain that serves the file.
        public static let otherHost = Self(rawValue: "other_host")
        /// The link names a port.
        public static let port = Self(rawValue: "port")
        /// The link is longer than ``AssociationMatcher/longestLink``.
        public static let tooLong = Self(rawValue: "too_long")
        /// The file can't be read.
        public static let unreadableFile = Self(rawValue: "unreadable_file")
    }

    /// The kind of refusal.
    public let code: Code
    /// A sentence that says what to do.
    public let message: String
}
