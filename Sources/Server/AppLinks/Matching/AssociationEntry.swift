/// One element of `applinks.details`.
struct AssociationEntry: Hashable, Sendable {
    /// Which format the entry is written in.
    enum Format: Hashable, Sendable {
        /// `components`, since iOS 13.
        case components
        /// `paths`, since iOS 9.
        case paths
    }

    /// Where the entry stands in `details`, from 0.
    let index: Int
    let apps: [String]
    let format: Format
    let rules: [LinkRule]
}
