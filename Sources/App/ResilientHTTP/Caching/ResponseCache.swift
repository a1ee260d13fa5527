import ErrorContract
public import HTTPTypes
import Synchronization

/// Stores responses that have an `ETag`, so that a client downloads them again only if they changed.
///
/// A client with a cache sends `If-None-Match` with every GET for which a response is stored. If the server confirms the stored
/// response with 304, the call returns it. A response is never used without that confirmation, so values are never outdated.
///
/// ```swift
/// var api = APIClient(baseURL: url, session: session)
/// api.cache = MemoryResponseCache()
/// ```
///
/// ``MemoryResponseCache`` stores responses for the lifetime of the process, ``FileResponseCache`` for longer. Implement the
/// protocol for any other storage. A cache may remove responses at any time, and ignores failures to store them.
public protocol ResponseCache: Sendable {
    /// Returns the stored response of a key.
    func response(for key: ResponseCacheKey) async -> StoredResponse?
    /// Stores a response and replaces the earlier one.
    func store(_ response: StoredResponse, for key: ResponseCacheKey) async
    /// Removes the stored response of a key.
    func remove(_ key: ResponseCacheKey) async
    /// Removes all responses of an owner. The client calls it when a session ends.
    func removeAll(of owner: String) async
}

/// The key of a stored response: its owner and its address.
public struct ResponseCacheKey: Hashable, Sendable, Codable {
    /// The identifier of the call's session, so that no user receives the response of another user; `nil` for calls without a
    /// session. It contains no token.
    public var owner: String?
    /// The address, with its query.
    public var url: String

    /// Creates a key.
    public init(owner: String?, url: String) {
        (self.owner, self.url) = (owner, url)
    }
}

/// A response with the data that is needed to use it again.
public struct StoredResponse: Hashable, Sendable {
    /// The status and the headers.
    public var response: HTTPResponse
    /// The body.
    public var body: [UInt8]
    /// The headers of the request on which the response depends by its `Vary`, as lowercase names and values.
    public var varying: [String: String]

    /// Creates a stored response.
    public init(response: HTTPResponse, body: [UInt8], varying: [String: String] = [:]) {
        (self.response, self.body, self.varying) = (response, body, varying)
    }

    /// The size of the body and the headers, in bytes.
    var size: Int {
        response.headerFields.reduce(body.count) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

extension HTTPRequest {
    /// Whether 304 is a valid status of the response.
    var isConditional: Bool { headerFields.contains(.ifNoneMatch) || headerFields.contains(.ifModifiedSince) }
}

extension HTTPResponse {
    /// Whether the server responded with 304, so that the version of the caller or of the client's cache is still current.
    ///
    /// A caller that itself sent `If-None-Match` receives the 304, without a body. With a ``ResponseCache``, the response is
    /// the stored one with its body, and is marked by `Cache-Status` (RFC 9211).
    public var isNotModified: Bool { status == .notModified || headerFields[values: .cacheStatus].contains(Self.revalidated) }

    /// The value of `Cache-Status` that marks a stored response that the server confirmed.
    static let revalidated = "Holdfast; fwd=stale; fwd-status=304"
}

/// Stores responses in memory, with a maximum total size. The responses that were used least recently are removed first.
///
/// ```swift
/// api.cache = MemoryResponseCache()
/// ```
///
/// Use ``FileResponseCache`` if responses should survive a restart. It is thread-safe; a lookup takes O(1). A store that exceeds the
/// maximum size sorts all entries and frees a quarter of it, so a store takes O(1) on average for small responses.
public final class MemoryResponseCache: ResponseCache {
    /// A response with its size in bytes and the number of its last use.
    private struct Entry {
        var stored: StoredResponse
        var size: Int
        var use: UInt64
    }

    /// The entries, guarded by a mutex. `size` is the sum of their sizes.
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
    /// - Parameter maximumSize: The maximum size of all stored responses together, in bytes. A response larger than an eighth
    ///   of it is not stored.
    /// - Precondition: `maximumSize` is not negative.
    public init(maximumSize: Int = 8 * 1024 * 1024) {
        precondition(maximumSize >= 0, "maximumSize must not be negative (is \(maximumSize))")
        self.maximumSize = maximumSize
    }

    /// The size of all stored responses together, in bytes.
    public var size: Int { state.withLock(\.size) }
    /// The number of stored responses.
    public var count: Int { state.withLock(\.entries.count) }

    /// Returns a stored response, and marks it as used; `nil` if there is none.
    public func response(for key: ResponseCacheKey) async -> StoredResponse? {
        state.withLock { state in
            state.uses += 1
            state.entries[key]?.use = state.uses
            return state.entries[key]?.stored
        }
    }

    /// Stores a response and replaces an earlier one. A response of more than an eighth of the maximum size is not stored, and the earlier
    /// one is removed.
    public func store(_ response: StoredResponse, for key: ResponseCacheKey) async {
        let size = response.size + key.url.utf8.count + (key.owner?.utf8.count ?? 0)
        state.withLock { state in
            state.remove(key)
            guard size <= maximumSize / 8 else { return }
            state.uses += 1
            state.entries[key] = Entry(stored: response, size: size, use: state.uses)
            state.size += size
            guard state.size > maximumSize else { return }
            // Frees a quarter at once, so that the entries are not sorted for every response.
            for (key, _) in state.entries.sorted(by: { $0.value.use < $1.value.use }) where state.size > maximumSize / 4 * 3 {
                state.remove(key)
            }
        }
    }

    /// Removes a response, if it is stored.
    public func remove(_ key: ResponseCacheKey) async {
        state.withLock { $0.remove(key) }
    }

    /// Removes all responses of a session. O(responses).
    public func removeAll(of owner: String) async {
        state.withLock { state in
            for key in state.entries.keys where key.owner == owner { state.remove(key) }
        }
    }

    /// Removes all responses.
    public func removeAll() {
        state.withLock { $0 = State() }
    }
}
