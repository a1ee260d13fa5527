public import AccountContract
public import ErrorContract

/// One page that a person sees on the way back into an account.
public struct RecoveryPage: Hashable, Sendable {
    /// What the page shows.
    public enum Kind: Hashable, Sendable {
        /// The form for a new password, for a live link.
        /// - problem: What was wrong with the last try.
        case reset(link: ResetLink, name: String, problem: LocalizedText?)
        /// The page that can't know yet whether it was opened by a link: the token may stand behind `#`.
        case undecided
        /// The password has been changed.
        case changed
        /// The link is unknown, expired or used.
        case deadLink(email: String)
        /// The link is no link.
        case invalidLink
        /// A link has been asked for, whether or not there is an account.
        case requested
        /// A link could not be asked for.
        case requestProblem(email: String, LocalizedText)
        /// "This was not me": asks before it freezes.
        case freeze(token: ResetToken, name: String)
        /// The same, opened with the token behind `#`.
        case freezeUndecided
        /// The account is frozen.
        case frozen
        /// Something else went wrong.
        case failure(title: LocalizedText, text: LocalizedText)
    }

    /// What the page shows.
    public let kind: Kind
    /// The language of the page.
    public let language: Language

    /// Creates a page.
    public init(_ kind: Kind, language: Language) {
        self.kind = kind
        self.language = language
    }

    /// The HTTP status that goes with the page.
    public var status: Int {
        switch kind {
        case .reset(_, _, let problem): problem == nil ? 200 : 400
        case .undecided, .changed, .requested, .freeze, .freezeUndecided, .frozen: 200
        case .deadLink: 410
        case .invalidLink, .requestProblem: 400
        case .failure: 500
        }
    }
}
