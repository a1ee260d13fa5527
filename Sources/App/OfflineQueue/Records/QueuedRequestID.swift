/// The identifier of a queued request in its queue. The identifier stays the same after a restart of the app. An app can therefore store
/// the identifier, for example with the draft that the request sends.
public struct QueuedRequestID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number of the request. Numbers grow in the order in which requests were stored, and may have gaps.
    ///
    /// After a request was delivered or removed, its number is not used again. If a loss of power removed a request, another request may
    /// get its number. Store an identifier permanently only if its request was stored with `isDurable`.
    public let rawValue: UInt64

    /// Creates an identifier from a number that was stored.
    /// - Parameter rawValue: The ``rawValue`` of an identifier of the same queue.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The number in decimal digits.
    public var description: String { String(rawValue) }

    /// Returns whether the left request was stored before the right one.
    public static func < (left: QueuedRequestID, right: QueuedRequestID) -> Bool { left.rawValue < right.rawValue }
}

/// The account that a queued request belongs to. The request is only sent to the server of the owner, and only with a token of this
/// account.
public struct QueueOwner: Hashable, Sendable, CustomStringConvertible {
    /// The base URL of the server, such as `https://api.example.org/v1`.
    public var server: String
    /// The account that was signed in when the request was stored; `nil` for requests without a token.
    public var account: String?

    /// Creates an owner, for example to discard the requests of an account.
    /// - Parameters:
    ///   - server: The base URL of the client as in ``OfflineQueue/owners``: scheme and host in lowercase, without a slash at the end.
    ///   - account: The identifier of the user, as in `Credentials.userID`; `nil` for requests without a token.
    public init(server: String, account: String?) {
        (self.server, self.account) = (server, account)
    }

    /// The server without the account, so that an owner can be logged.
    public var description: String { server }
}
