/// Identifies a queued request, also after the app has restarted.
public struct QueuedRequestID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number of the request. A queue never uses a number again, and numbers grow in the order in which requests were stored.
    public let rawValue: UInt64

    /// Creates an identifier.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The number.
    public var description: String { String(rawValue) }

    public static func < (left: QueuedRequestID, right: QueuedRequestID) -> Bool { left.rawValue < right.rawValue }
}

/// The account that a queued request belongs to. The request is sent to this server only, and with a token of this account only.
public struct QueueOwner: Hashable, Sendable, CustomStringConvertible {
    /// The base URL of the server, such as `https://api.example.org/v1`.
    public var server: String
    /// The account that was signed in when the request was stored; `nil` for requests that carry no token.
    public var account: String?

    /// Creates an owner.
    public init(server: String, account: String?) {
        (self.server, self.account) = (server, account)
    }

    /// The server, without the account.
    public var description: String { server }
}
