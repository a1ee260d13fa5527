public import Foundation

/// A signed-in device: the family of refresh tokens that began with one sign-in.
public struct Session: Hashable, Sendable, Identifiable {
    /// The id of a session.
    public struct ID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: UUID

        public init(rawValue: UUID) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue.text }
    }

    /// What the session is known by.
    public let id: ID
    /// Who is signed in.
    public let accountID: Account.ID
    /// When they signed in.
    public let createdAt: Date

    /// Creates a session.
    public init(id: ID, accountID: Account.ID, createdAt: Date) {
        self.id = id
        self.accountID = accountID
        self.createdAt = createdAt
    }
}

/// How long sessions last.
public struct SessionRules: Hashable, Sendable {
    /// The life of an access token.
    public var accessTokenLifetime: Duration = .seconds(15 * 60)
    /// The time without a refresh after which a session ends.
    public var idleLimit: Duration = .seconds(30 * 86_400)
    /// The time after which a session ends in any case.
    public var absoluteLimit: Duration = .seconds(90 * 86_400)
    /// The time within which a refresh may be repeated because its answer was lost.
    public var repeatWindow: Duration = .seconds(10)

    /// The default rules.
    public init() {}
}
