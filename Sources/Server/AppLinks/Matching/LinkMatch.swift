/// The decision of an association file about a link. ``AssociationMatcher`` returns it.
///
/// For the app to open, the phone must also fulfill some conditions. The app must be installed, and its entitlement must name the domain.
/// The user must tap the link and not type it (Apple, TN3155).
public struct LinkMatch: Hashable, Sendable {
    /// The rule that determined the result.
    public struct Rule: Hashable, Sendable {
        /// The apps of the entry, in the order of the file.
        public let apps: [String]
        /// The index of the entry in `applinks.details`, from 0.
        public let entry: Int
        /// The index of the component in the entry, from 0. In the old format, the index of the path.
        public let component: Int
        /// The component's comment.
        public let comment: String?
        /// Whether the entry is in the old format, so that ``component`` is an index of `paths`.
        public let isOldFormat: Bool
    }

    /// The reason why one rule did not match.
    public struct Miss: Hashable, Sendable {
        /// The index of the entry in `applinks.details`, from 0.
        public let entry: Int
        /// The index of the component in the entry, from 0.
        public let component: Int
        /// The first key that did not match: `/`, `?`, `#`, or `?name` for an item of the query.
        public let key: String
    }

    /// The decision.
    public enum Outcome: Hashable, Sendable {
        /// One of the rule's apps opens the link if the app is installed.
        case opens(Rule)
        /// The link stays in the browser because of a component with `exclude`.
        case excluded(Rule)
        /// No component matches. Each tried component has one miss, in the order of the file.
        case unmatched([Miss])
        /// The file doesn't apply to the link, such as a link with another host. No component was tried.
        case refused(LinkMismatch)
    }

    /// The given link.
    public let link: String
    /// The decision.
    public let outcome: Outcome

    /// The apps that open the link; empty if it stays in the browser.
    public var apps: [String] {
        if case .opens(let rule) = outcome { rule.apps } else { [] }
    }
}

/// The reason why the file doesn't apply to a link, such as another host.
///
/// A mismatch says nothing about the rules of the file, because no rule was tried. Correct the link or serve the file at the link's host.
public struct LinkMismatch: Hashable, Sendable {
    /// The kind of mismatch. Codes are stable, and later versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The text is not an absolute URL.
        public static let notALink = Self(rawValue: "not_a_link")
        /// The scheme is not https.
        public static let notHTTPS = Self(rawValue: "not_https")
        /// There is no host.
        public static let noHost = Self(rawValue: "no_host")
        /// The host is not the domain that serves the file.
        public static let otherHost = Self(rawValue: "other_host")
        /// The link has a port.
        public static let port = Self(rawValue: "port")
        /// The link is longer than ``AssociationMatcher/longestLink``.
        public static let tooLong = Self(rawValue: "too_long")
        /// The file can't be read.
        public static let unreadableFile = Self(rawValue: "unreadable_file")
    }

    /// The kind of mismatch.
    public let code: Code
    /// The problem and its fix.
    public let message: String
}
