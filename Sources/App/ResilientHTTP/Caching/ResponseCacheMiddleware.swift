import ErrorContract
import HTTPTypes
import Synchronization

/// Sends the `ETag` of a stored response as `If-None-Match`. If the server confirms that the stored response is current, the middleware
/// returns the stored response.
///
/// This middleware is the last layer before the transport. It therefore knows the session of a call, and runs for each attempt. It handles
/// only GET requests. It doesn't handle requests with a cookie, a range, a condition that the caller set, or `Cache-Control: no-store`. It
/// also doesn't handle requests whose `Authorization` doesn't come from the session. It passes these requests on unchanged, and doesn't
/// store their responses.
final class ResponseCacheMiddleware: ClientMiddleware {
    /// The stored responses.
    let cache: any ResponseCache
    /// The maximum size of a body that is stored, in bytes.
    private static let maximumBodySize = 4 * 1024 * 1024
    /// The maximum number of ended sessions whose identifiers the middleware stores. With these identifiers, it recognizes late responses
    /// to calls of ended sessions, and doesn't cache them.
    private static let rememberedEndings = 64
    /// The identifiers of the sessions that have ended, the oldest first.
    private let ended = Mutex<[String]>([])

    init(_ cache: any ResponseCache) {
        self.cache = cache
    }

    /// Sends a GET with the `ETag` of the stored response, if a response is stored. If the server confirms the stored response with a 304,
    /// the caller receives the stored body with status 200. The middleware merges the stored headers with the headers of the 304 (RFC 9111
    /// §4.3.4).
    func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        guard context.policy.cache != .off, let key = key(of: request, context) else { return try await next(request, body) }
        let stored =
            context.policy.cache == .revalidate ? await cache.response(for: key).flatMap { $0.usable(for: request) } : nil
        guard let stored, let tag = stored.response.headerFields[.eTag] else {
            return try await storing(request, body, key, next)
        }
        var conditional = request
        conditional.headerFields[.ifNoneMatch] = tag
        let (response, rest) = try await next(conditional, body)
        guard response.status == .notModified else {
            await store(response, rest, for: key, request)
            return (response, rest)
        }
        if let confirmed = response.headerFields[.eTag], !confirmed.isWeaklyEqual(to: tag) {
            // The 304 confirms another version than the stored one, so the middleware sends the request again without a condition.
            return try await storing(request, body, key, next)
        }
        let fresh = stored.updated(by: response)
        let decisive: [HTTPField.Name] = [.eTag, .cacheControl, .vary]
        if decisive.contains(where: { fresh.response.headerFields[values: $0] != stored.response.headerFields[values: $0] }) {
            await store(fresh.response, ResponseBody(fresh.body), for: key, request)
        }
        var result = fresh.response
        result.headerFields[values: .cacheStatus] = [HTTPResponse.revalidated]
        return (result, ResponseBody(fresh.body, isFromOtherOrigin: rest.isFromOtherOrigin))
    }

    /// Removes the responses of an ended session. The middleware then stores no later response of this session, unless the session begins
    /// again. An app that switches between accounts can begin a session with the same tokens again.
    /// - Parameters:
    ///   - owner: The identifier of the session that ended; `nil` if there was none.
    ///   - successor: The identifier of the session that began; `nil` if no user is signed in.
    func end(_ owner: String?, beginning successor: String?) async {
        ended.withLock { ended in
            ended.removeAll { $0 == successor }
            if let owner { ended.append(owner) }
            if ended.count > Self.rememberedEndings { ended.removeFirst() }
        }
        if let owner { await cache.removeAll(of: owner) }
    }

    /// Returns the key under which the middleware stores the response to a request; `nil` if it must not store the response. If a request
    /// has `Authorization` but no session, the user is unknown, so the middleware must not store the response.
    private func key(of request: HTTPRequest, _ context: CallContext) -> ResponseCacheKey? {
        guard request.method == .get, !request.isConditional, !request.headerFields.contains(.range),
            !request.headerFields.contains(.cookie), !request.headerFields.forbidStoring
        else { return nil }
        let owner = context.session
        guard owner != nil || !request.headerFields.contains(.authorization) else { return nil }
        return ResponseCacheKey(owner: owner, url: context.origin + (request.path ?? "/"))
    }

    /// Sends a request and stores its response.
    private func storing(
        _ request: HTTPRequest,
        _ body: RequestBody?,
        _ key: ResponseCacheKey,
        _ next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        let (response, rest) = try await next(request, body)
        await store(response, rest, for: key, request)
        return (response, rest)
    }

    /// Stores a response with the status 200 and an `ETag`, unless the headers forbid it or the body is too large. If the method doesn't
    /// store the response, it removes the earlier response of the key.
    ///
    /// If the session has already ended, the method does nothing. If the session ends while the cache stores the response, the method
    /// removes the response again.
    /// - Parameters:
    ///   - response: The head of the response.
    ///   - body: The body. The method doesn't store a body that is not in memory, or that exceeds 4 MiB.
    ///   - key: The session and the address of the request.
    ///   - request: The request. The method stores the values of those headers that the response names in `Vary`.
    private func store(_ response: HTTPResponse, _ body: ResponseBody, for key: ResponseCacheKey, _ request: HTTPRequest) async {
        guard !isEnded(key.owner) else { return }
        let fields = response.headerFields
        // Without a session, the middleware doesn't store a response that is marked `private`. The app may identify the user in a header of
        // its own, which this middleware doesn't know.
        guard response.status == .ok, fields.contains(.eTag), !fields.forbidStoring, key.owner != nil || !fields.isPrivate,
            let names = fields.storedVaryingNames, let bytes = body.whole(upTo: Self.maximumBodySize)
        else { return await cache.remove(key) }
        let varying = names.map { ($0, request.headerFields.value(of: $0)) }
        let stored = StoredResponse(response: response, body: bytes, varying: Dictionary(varying) { first, _ in first })
        await cache.store(stored, for: key)
        // The session can end while the cache stores the response.
        if isEnded(key.owner) { await cache.remove(key) }
    }

    /// Returns whether a session has ended.
    private func isEnded(_ owner: String?) -> Bool {
        guard let owner else { return false }
        return ended.withLock { $0.contains(owner) }
    }
}

extension StoredResponse {
    /// Returns the response if it may be used for a request. All headers that `Vary` names must have the same values in the stored request
    /// and in this request.
    fileprivate func usable(for request: HTTPRequest) -> StoredResponse? {
        varying.allSatisfy { request.headerFields.value(of: $0.key) == $0.value } ? self : nil
    }

    /// Returns the response with the headers of the 304 that confirms it (RFC 9111 §3.2).
    fileprivate func updated(by confirmation: HTTPResponse) -> StoredResponse {
        var updated = self
        for name in Set(confirmation.headerFields.map(\.name)) where ![.contentLength, .contentEncoding].contains(name) {
            updated.response.headerFields[fields: name] = confirmation.headerFields[fields: name]
        }
        return updated
    }
}

extension HTTPFields {
    /// Whether `Cache-Control` contains `no-store`.
    fileprivate var forbidStoring: Bool { members(of: .cacheControl).contains("no-store") }

    /// Whether `Cache-Control` contains `private`, which restricts the response to one user.
    fileprivate var isPrivate: Bool { members(of: .cacheControl).contains { $0 == "private" || $0.hasPrefix("private=") } }

    /// The names in `Vary`, in lowercase; `nil` if `Vary` is `*`.
    var varyingNames: [String]? {
        let names = members(of: .vary)
        return names.contains("*") ? nil : names
    }

    /// The names in `Vary` without headers with credentials, because the key of a stored response already contains the session.
    fileprivate var storedVaryingNames: [String]? { varyingNames?.filter { !["authorization", "cookie"].contains($0) } }

    /// Returns the value of a header; empty if the header is missing. `Vary` doesn't distinguish the two cases.
    func value(of name: String) -> String { HTTPField.Name(name).flatMap { self[$0] } ?? "" }

    /// Returns the members of a header's list in lowercase letters, without white space.
    private func members(of name: HTTPField.Name) -> [String] {
        self[values: name].flatMap { $0.split(separator: ",") }.map { $0.filter { !$0.isWhitespace }.lowercased() }
            .filter { !$0.isEmpty }
    }
}

extension String {
    /// Returns whether two entity tags are equal by the weak comparison of RFC 9110 §8.8.3.2.
    fileprivate func isWeaklyEqual(to other: String) -> Bool { strongTag == other.strongTag }

    /// The tag without the prefix `W/`, which marks a weak tag.
    private var strongTag: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}
