import ErrorContract
public import HTTPTypes

/// Stores responses that have an `ETag`, so that a client downloads them again only if they changed.
///
/// A client with a cache sends `If-None-Match` with every GET for which it stores a response. If the server confirms the stored response
/// with 304, the call succeeds with it. A response is never used without that confirmation, so values are never outdated.
///
/// ```swift
/// var api = APIClient(baseURL: url, session: session)
/// api.cache = MemoryResponseCache()
/// ```
///
/// Use ``MemoryResponseCache`` for the time of a process and ``FileResponseCache`` for longer. Write a cache of your own for any other
/// place. A cache may drop responses at any time; what it cannot store, it ignores.
public protocol ResponseCache: Sendable {
    /// Returns the response that is stored for a key.
    func response(for key: ResponseCacheKey) async -> StoredResponse?
    /// Stores a response in place of the earlier one.
    func store(_ response: StoredResponse, for key: ResponseCacheKey) async
    /// Removes the response that is stored for a key.
    func remove(_ key: ResponseCacheKey) async
    /// Removes all responses of an owner. The client calls it when a session is over.
    func removeAll(of owner: String) async
}

/// Identifies a stored response: whose it is, and its address.
public struct ResponseCacheKey: Hashable, Sendable, Codable {
    /// Identifies the session of the call, so that no user gets the response of another one; `nil` for calls without a session. It contains
    /// no token.
    public var owner: String?
    /// The address, with its query.
    public var url: String

    /// Creates a key.
    public init(owner: String?, url: String) {
        (self.owner, self.url) = (owner, url)
    }
}

/// A response with what is needed to use it again.
public struct StoredResponse: Hashable, Sendable {
    /// The status and the headers.
    public var response: HTTPResponse
    /// The body.
    public var body: [UInt8]
    /// The headers of the request that the response depends on, by its `Vary`: their names in lowercase and their values.
    public var varying: [String: String]

    /// Creates a stored response.
    public init(response: HTTPResponse, body: [UInt8], varying: [String: String] = [:]) {
        (self.response, self.body, self.varying) = (response, body, varying)
    }

    /// The size of body and headers, in bytes.
    var size: Int {
        response.headerFields.reduce(body.count) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

/// How a call uses the client's ``ResponseCache``.
public enum CachePolicy: Hashable, Sendable {
    /// It sends the validator of the stored response, and stores the response.
    case revalidate
    /// It gets the whole response anew, and stores it.
    case reload
    /// It neither uses nor stores responses.
    case off
}

extension HTTPRequest {
    /// Whether the request may be responded to with 304.
    var isConditional: Bool { headerFields.contains(.ifNoneMatch) || headerFields.contains(.ifModifiedSince) }
}

extension HTTPResponse {
    /// Whether the server confirmed, with a 304, the version that the caller or the client's cache already has.
    ///
    /// A caller that sent `If-None-Match` itself gets the 304, without a body. With a ``ResponseCache`` the response is the stored one, with
    /// its body, and is marked by `Cache-Status` (RFC 9211).
    public var isNotModified: Bool { status == .notModified || headerFields[values: .cacheStatus].contains(Self.revalidated) }

    /// The member of `Cache-Status` that marks a stored response which the server confirmed.
    static let revalidated = "Holdfast; fwd=stale; fwd-status=304"
}
