import ErrorContract
public import HTTPTypes
import Synchronization

/// Stores responses that have an `ETag`. With a cache, a client downloads the body of a response again only if the body has changed.
///
/// A client with a cache sends the stored `ETag` as `If-None-Match` with each GET for which the cache has a response. With a 304, the
/// server confirms that the stored response is current, and the call returns the stored response. The client never uses a stored response
/// without this confirmation, so a call never returns an outdated value.
///
/// ```swift
/// var api = APIClient(baseURL: url, session: session)
/// api.cache = MemoryResponseCache()
/// ```
///
/// ``MemoryResponseCache`` stores responses until the process ends. ``FileResponseCache`` also stores them across restarts. Implement the
/// protocol for any other storage. A cache may remove responses at any time. If a cache can't store a response, it ignores the failure.
public protocol ResponseCache: Sendable {
    /// Returns the stored response of a key.
    ///
    /// The client calls this method before each GET, so the method must be fast. If the response can't be read, return `nil`. The client
    /// then downloads the response again.
    /// - Parameter key: The session and the address of the request.
    /// - Returns: The response as it was stored; `nil` if there is none.
    func response(for key: ResponseCacheKey) async -> StoredResponse?
    /// Stores a response and replaces the earlier response of the key.
    ///
    /// A cache may decide not to store a response, for example because the response is too large.
    /// - Parameters:
    ///   - response: The response with its complete body. The body has at most 4 MiB.
    ///   - key: The session and the address of the request.
    func store(_ response: StoredResponse, for key: ResponseCacheKey) async
    /// Removes the stored response of a key. Does nothing if there is none.
    /// - Parameter key: The session and the address of the request.
    func remove(_ key: ResponseCacheKey) async
    /// Removes all responses of an owner. The client calls this method when a session ends. Afterwards, the cache must contain no data of
    /// this session.
    /// - Parameter owner: The ``ResponseCacheKey/owner`` of the responses to remove.
    func removeAll(of owner: String) async
}

/// The key of a stored response: the session and the address.
public struct ResponseCacheKey: Hashable, Sendable, Codable {
    /// The identifier of the call's session; `nil` for calls without a session. Because the key contains this identifier, a user never
    /// receives the response of another user. The identifier contains no token.
    public var owner: String?
    /// The address, including its query.
    public var url: String

    /// Creates a key.
    /// - Parameters:
    ///   - owner: The identifier of the call's session; `nil` for calls without a session.
    ///   - url: The address, including scheme, host and query.
    public init(owner: String?, url: String) {
        (self.owner, self.url) = (owner, url)
    }
}

/// A response with the data that the client needs to use the response again.
public struct StoredResponse: Hashable, Sendable {
    /// The status and the headers.
    public var response: HTTPResponse
    /// The body.
    public var body: [UInt8]
    /// The values of the request headers that the response names in `Vary`. The keys are the lowercase names of these headers.
    public var varying: [String: String]

    /// Creates a stored response.
    /// - Parameters:
    ///   - response: The status and the headers.
    ///   - body: The complete body.
    ///   - varying: The values of the request headers that the response names in `Vary`, by lowercase name. The value of a missing header
    ///     is empty.
    public init(response: HTTPResponse, body: [UInt8], varying: [String: String] = [:]) {
        (self.response, self.body, self.varying) = (response, body, varying)
    }

    /// The size of the body and the headers, in bytes.
    var size: Int {
        response.headerFields.reduce(body.count) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

extension HTTPRequest {
    /// Whether the request has a condition. If so, 304 is a valid status for its response.
    var isConditional: Bool { headerFields.contains(.ifNoneMatch) || headerFields.contains(.ifModifiedSince) }
}

extension HTTPResponse {
    /// Whether the server confirmed with a 304 that an earlier version of the response is still current: the version that the caller has,
    /// or the version in the client's cache.
    ///
    /// If the caller itself sent `If-None-Match`, the caller receives the 304 without a body. If a ``ResponseCache`` sent the header, the
    /// caller receives the stored response with its body. The header `Cache-Status` (RFC 9211) then marks the response.
    public var isNotModified: Bool { status == .notModified || headerFields[values: .cacheStatus].contains(Self.revalidated) }

    /// The value of `Cache-Status` for a stored response that the server confirmed.
    static let revalidated = "Holdfast; fwd=stale; fwd-status=304"
}

/// Stores responses in memory, with a maximum total size. The cache removes the least recently used responses first.
///
/// ```swift
/// api.cache = MemoryResponseCache()
/// ```
///
/// If responses must survive a restart, use ``FileResponseCache`` instead. This type is thread-safe. A lookup takes O(1). If all responses
/// together exceed the maximum size, the cache sorts the entries and removes old ones until a quarter of the space is free. For n responses
/// of similar size, storing one therefore takes amortized O(log n).
public final class MemoryResponseCache: ResponseCache {
    /// A response with its size in bytes and the number of its last use.
    private struct Entry {
        var stored: StoredResponse
        var size: Int
        var use: UInt64
    }

    /// The entries, guarded by a mutex. `size` is the sum of the sizes of all entries.
    private struct State {
        var entries: [ResponseCacheKey: Entry] = [:]
        var size = 0
        var uses: UInt64 = 0

        mutating func remove(_ key: ResponseCacheKey) {
            if let entry = entries.removeValue(forKey: key) { size -= entry.size }
        }
    }

    /// The maximum size of all stored responses together, in bytes.
    public let maximumSize: Int
    private let state = Mutex(State())

    /// Creates an empty cache.
    /// - Parameter maximumSize: The maximum size of all stored responses together, in bytes. The cache doesn't store a response that is
    ///   larger than an eighth of this size.
    /// - Precondition: `maximumSize` is not negative.
    public init(maximumSize: Int = 8 * 1024 * 1024) {
        precondition(maximumSize >= 0, "maximumSize must not be negative (is \(maximumSize))")
        self.maximumSize = maximumSize
    }

    /// The size of all stored responses together, in bytes.
    public var size: Int { state.withLock(\.size) }
    /// The number of stored responses.
    public var count: Int { state.withLock(\.entries.count) }

    /// Returns a stored response, and marks it as used; `nil` if no response is stored.
    /// - Parameter key: The session and the address of the request.
    public func response(for key: ResponseCacheKey) async -> StoredResponse? {
        state.withLock { state in
            state.uses += 1
            state.entries[key]?.use = state.uses
            return state.entries[key]?.stored
        }
    }

    /// Stores a response and replaces the earlier response of the same key. If the response is larger than an eighth of the maximum size,
    /// the cache doesn't store it, but still removes the earlier response.
    /// - Parameters:
    ///   - response: The response with its complete body.
    ///   - key: The session and the address of the request.
    public func store(_ response: StoredResponse, for key: ResponseCacheKey) async {
        let size = response.size + key.url.utf8.count + (key.owner?.utf8.count ?? 0)
        state.withLock { state in
            state.remove(key)
            guard size <= maximumSize / 8 else { return }
            state.uses += 1
            state.entries[key] = Entry(stored: response, size: size, use: state.uses)
            state.size += size
            guard state.size > maximumSize else { return }
            // Free a quarter of the space at once, so that the cache doesn't sort the entries for every response.
            for (key, _) in state.entries.sorted(by: { $0.value.use < $1.value.use }) where state.size > maximumSize / 4 * 3 {
                state.remove(key)
            }
        }
    }

    /// Removes the response of a key, if it is stored.
    /// - Parameter key: The session and the address of the request.
    public func remove(_ key: ResponseCacheKey) async {
        state.withLock { $0.remove(key) }
    }

    /// Removes all responses of a session. O(number of responses).
    /// - Parameter owner: The identifier of the session, as in ``ResponseCacheKey/owner``.
    public func removeAll(of owner: String) async {
        state.withLock { state in
            for key in state.entries.keys where key.owner == owner { state.remove(key) }
        }
    }

    /// Removes all responses of all sessions, and the responses to calls without a session.
    public func removeAll() {
        state.withLock { $0 = State() }
    }
}
