import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite("Responses that are stored by their ETag") struct ResponseCacheTests {
    private let cache = MemoryResponseCache()
    private static let fresh = ScriptedTransport.Step.response(
        status: 200,
        headers: [.eTag: "\"1\""],
        body: #"{"id":1,"name":"a"}"#
    )
    private static let confirmed = ScriptedTransport.Step.response(status: 304, headers: [.eTag: "\"1\""])

    private func client(_ transport: ScriptedTransport, session: Session? = nil) throws -> APIClient {
        var api = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org/v1")),
            transport: transport,
            session: session,
            middleware: []
        )
        api.cache = cache
        return api
    }

    private func session(_ token: String, user: String) -> Session {
        let credentials = Credentials(accessToken: token, refreshToken: nil, userID: user)
        return Session(store: MemoryCredentialStore(credentials)) { _ in credentials }
    }

    private func tags(_ transport: ScriptedTransport) -> [String?] {
        transport.sent.map { $0.request.headerFields[.ifNoneMatch] }
    }

    @Test("A 304 confirms a stored response, and the call returns its value")
    func confirms() async throws {
        let transport = ScriptedTransport([Self.fresh, Self.confirmed])
        let api = try client(transport)
        let first: APIResponse<Activity> = try await api.response(.get, "/a")
        let second: APIResponse<Activity> = try await api.response(.get, "/a")
        #expect(first.value == Activity(id: 1, name: "a") && second.value == first.value)
        #expect(!first.isNotModified && second.isNotModified && second.head.status == .ok)
        #expect(tags(transport) == [nil, "\"1\""])
    }

    @Test("Stores a private response only for a session, as a header may name the user")
    func privateResponses() async throws {
        let headers: HTTPFields = [.eTag: "\"3\"", .cacheControl: "max-age=0, private"]
        let step = ScriptedTransport.Step.response(status: 200, headers: headers, body: #"{"id":1,"name":"a"}"#)
        let transport = ScriptedTransport([step, step])
        let api = try client(transport)
        for _ in 0..<2 { let _: Activity = try await api.get("/me") }
        #expect(tags(transport) == [nil, nil])
    }

    @Test("A changed response replaces the stored one")
    func changes() async throws {
        let changed = ScriptedTransport.Step.response(status: 200, headers: [.eTag: "\"2\""], body: #"{"id":2,"name":"b"}"#)
        let transport = ScriptedTransport([Self.fresh, changed, .response(status: 304)])
        let api = try client(transport)
        var names: [String] = []
        for _ in 0..<3 { names.append((try await api.get("/a") as Activity).name) }
        #expect(names == ["a", "b", "b"] && tags(transport) == [nil, "\"1\"", "\"2\""])
    }

    @Test("Each URL has a separate response, including its query")
    func addresses() async throws {
        let transport = ScriptedTransport([Self.fresh, Self.fresh, Self.confirmed])
        let api = try client(transport)
        for path in ["/a?x=1", "/a?x=2", "/a?x=1"] { let _: Activity = try await api.get(path) }
        #expect(tags(transport) == [nil, nil, "\"1\""])
    }

    @Test("Updates headers on confirmation, and removes a response that forbids storing")
    func freshens() async throws {
        let again = ScriptedTransport.Step.response(status: 304, headers: [.eTag: "\"1\"", .lastModified: "now"])
        let last = ScriptedTransport.Step.response(status: 304, headers: [.eTag: "\"1\"", .cacheControl: "no-store"])
        let api = try client(ScriptedTransport([Self.fresh, again, last]))
        _ = try await api.send(.get, "/a")
        let second = try await api.send(.get, "/a")
        #expect(second.response.headerFields[.lastModified] == "now" && second.response.headerFields[.eTag] == "\"1\"")
        #expect(second.body == Array(#"{"id":1,"name":"a"}"#.utf8) && cache.count == 1)
        let third = try await api.send(.get, "/a")
        #expect(third.body == second.body && cache.count == 0)
    }

    @Test("A 304 for another version causes a new request")
    func otherVersion() async throws {
        let transport = ScriptedTransport([Self.fresh, .response(status: 304, headers: [.eTag: "\"9\""]), Self.fresh])
        let api = try client(transport)
        for _ in 0..<2 { let _: Activity = try await api.get("/a") }
        #expect(tags(transport) == [nil, "\"1\"", nil])
    }

    @Test(
        "Does not store responses that forbid storing",
        arguments: [
            [.cacheControl: "no-store", .eTag: "\"1\""], [.cacheControl: "private, No-Store", .eTag: "\"1\""],
            [.vary: "*", .eTag: "\"1\""], [:],
        ] as [HTTPFields]
    )
    func unstorable(headers: HTTPFields) async throws {
        let step = ScriptedTransport.Step.response(status: 200, headers: headers, body: #"{"id":1,"name":"a"}"#)
        let transport = ScriptedTransport([Self.fresh, step, step])
        let api = try client(transport)
        for _ in 0..<3 { let _: Activity = try await api.get("/a") }
        #expect(tags(transport) == [nil, "\"1\"", nil] && cache.count == 0)
    }

    @Test(
        "Ignores the store for the caller's credentials, conditions, ranges and non-GET",
        arguments: [
            [.authorization: "Bearer x"], [.cookie: "a=b"], [.range: "bytes=0-1"], [.cacheControl: "no-store"],
        ] as [HTTPFields]
    )
    func unused(headers: HTTPFields) async throws {
        let transport = ScriptedTransport([Self.fresh, Self.fresh, Self.fresh, Self.fresh])
        let api = try client(transport)
        for _ in 0..<2 { _ = try await api.send(.get, "/a", headers: headers) }
        for _ in 0..<2 { _ = try await api.send(.put, "/a") }
        #expect(tags(transport) == [nil, nil, nil, nil] && cache.count == 0)
    }

    @Test("Reuses a response with Vary only for the same value of that header")
    func varies() async throws {
        let step = ScriptedTransport.Step.response(
            status: 200,
            headers: [.eTag: "\"1\"", .vary: "Accept-Language, Authorization"],
            body: #"{"id":1,"name":"a"}"#
        )
        let transport = ScriptedTransport([step, step, Self.confirmed])
        var api = try client(transport)
        let _: Activity = try await api.get("/a")
        api.language = .spanish
        let _: Activity = try await api.get("/a")
        let _: Activity = try await api.get("/a")
        #expect(tags(transport) == [nil, nil, "\"1\""])
    }

    @Test("No user gets the stored response of another one")
    func users() async throws {
        let transport = ScriptedTransport([Self.fresh, Self.fresh, Self.fresh, Self.confirmed])
        let (one, two) = (session("one", user: "1"), session("two", user: "2"))
        let api = try client(transport)
        let (first, second) = (api.authorized(by: one), api.authorized(by: two))
        for api in [first, second, api, first] { let _: Activity = try await api.get("/a") }
        #expect(tags(transport) == [nil, nil, nil, "\"1\""])
    }

    @Test("A session's responses survive the refresh of its token")
    func refreshes() async throws {
        let transport = ScriptedTransport([Self.fresh, .response(status: 401, body: "{}"), Self.confirmed])
        let session = Session(store: MemoryCredentialStore(Credentials(accessToken: "old", refreshToken: "r"))) { _ in
            Credentials(accessToken: "new", refreshToken: "r")
        }
        let api = try client(transport, session: session)
        for _ in 0..<2 { let _: Activity = try await api.get("/a") }
        #expect(tags(transport) == [nil, "\"1\"", "\"1\""])
        #expect(transport.sent.last?.request.headerFields[.authorization] == "Bearer new")
    }

    @Test("A sign-out removes the session's responses, and no others")
    func signsOut() async throws {
        let transport = ScriptedTransport([Self.fresh, Self.fresh])
        let session = session("one", user: "1")
        let api = try client(transport)
        let _: Activity = try await api.get("/a")
        let _: Activity = try await api.authorized(by: session).get("/a")
        #expect(cache.count == 2)
        try await session.setCredentials(nil)
        #expect(cache.count == 1)
    }

    @Test(
        "A sign-out before the first call removes responses of an earlier process",
        arguments: [false, true]
    )
    func signsOutLater(isCanceled: Bool) async throws {
        let transport = ScriptedTransport([Self.fresh])
        let store = MemoryCredentialStore(Credentials(accessToken: "one", refreshToken: "r"))
        let refresh: Session.Refresh = { _ in throw CancellationError() }
        let _: Activity = try await client(transport, session: Session(store: store, refresh: refresh)).get("/a")
        let later = Session(store: store, refresh: refresh)
        let api = try client(transport, session: later)
        #expect(cache.count == 1)
        let signOut = Task {
            while isCanceled, !Task.isCancelled { await Task.yield() }
            try await later.setCredentials(nil)
        }
        if isCanceled { signOut.cancel() }
        try await signOut.value
        #expect(withExtendedLifetime(api) { cache.count } == 0)
    }

    @Test("A sign-in as another user and an ended session remove the earlier responses")
    func replaced() async throws {
        let transport = ScriptedTransport([Self.fresh, Self.fresh, .response(status: 401, body: "{}")])
        let session = Session(store: MemoryCredentialStore(Credentials(accessToken: "one", refreshToken: "r"))) { _ in
            var refused = APIError(.unauthorized)
            refused.status = 401
            throw refused
        }
        let api = try client(transport, session: session)
        let _: Activity = try await api.get("/a")
        try await session.setCredentials(Credentials(accessToken: "two", refreshToken: "s"))
        #expect(cache.count == 0)
        let _: Activity = try await api.get("/a")
        #expect(cache.count == 1)
        _ = await failure { let _: Activity = try await api.get("/a") }
        #expect(cache.count == 0)
    }

    @Test("Stores the responses of a session that begins again")
    func switched() async throws {
        let transport = ScriptedTransport([Self.fresh, Self.fresh, Self.confirmed])
        let session = session("one", user: "1")
        let api = try client(transport, session: session)
        let _: Activity = try await api.get("/a")
        let first = try #require(try await session.setCredentials(Credentials(accessToken: "two", refreshToken: nil)))
        #expect(cache.count == 0)
        try await session.setCredentials(nil)
        try await session.setCredentials(first)
        for _ in 0..<2 { let _: Activity = try await api.get("/a") }
        #expect(tags(transport) == [nil, nil, "\"1\""])
    }

    @Test("Does not store a response that arrives after the session ended")
    func late() async throws {
        let session = session("one", user: "1")
        let transport = ClosureTransport { _, _, _ in
            try await session.setCredentials(nil)
            let response = HTTPResponse(status: .ok, headerFields: [.eTag: "\"1\""])
            return (response, ResponseBody(Array(#"{"id":1,"name":"a"}"#.utf8)))
        }
        var api = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            session: session,
            middleware: []
        )
        api.cache = cache
        let _: Activity = try await api.get("/a")
        #expect(cache.count == 0)
    }

    @Test("A call chooses how it uses the cache")
    func policies() async throws {
        let transport = ScriptedTransport([Self.fresh, Self.fresh, Self.fresh, Self.confirmed])
        let api = try client(transport)
        for policy in [CachePolicy.revalidate, .reload, .off, .revalidate] {
            let _: Activity = try await api.get("/a", options: .cache(policy))
        }
        #expect(tags(transport) == [nil, nil, nil, "\"1\""])
    }

    @Test("Without a cache, a caller's own condition returns the 304 as a success")
    func ownCondition() async throws {
        let transport = ScriptedTransport([.response(status: 304), .response(status: 304), .response(status: 200, body: "{}")])
        let api = try makeClient(transport)
        let confirmed = try await api.send(.get, "/a", headers: [.ifNoneMatch: "\"1\""])
        #expect(confirmed.response.isNotModified && confirmed.response.status == .notModified && confirmed.body.isEmpty)
        let since = try await api.send(.get, "/a", headers: [.ifModifiedSince: "Tue, 04 Nov 2025 10:30:00 GMT"])
        #expect(since.response.isNotModified)
        let changed = try await api.send(.get, "/a", headers: [.ifNoneMatch: "\"1\""])
        #expect(!changed.response.isNotModified)
    }

    @Test("A 304 without a condition is an error")
    func unasked() async throws {
        let api = try makeClient(ScriptedTransport([.response(status: 304)]))
        let error = await failure { _ = try await api.send(.get, "/a") }
        #expect(error?.status == 304)
    }

    @Test("A confirmation counts as a success for retries and gates")
    func pipeline() async throws {
        let transport = ScriptedTransport([Self.fresh, .response(status: 500), Self.confirmed])
        var api = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            environment: ClientEnvironment(chance: { 0 })
        )
        api.cache = cache
        for _ in 0..<2 { let _: Activity = try await api.get("/a") }
        #expect(tags(transport) == [nil, "\"1\"", "\"1\""] && api.gates.count == 0)
    }
}

@Suite("The stores of responses") struct ResponseStoreTests {
    /// Runs a test with a store in memory and with one in a folder.
    private func each(maximumSize: Int, _ body: (any ResponseCache) async throws -> Void) async throws {
        try await body(MemoryResponseCache(maximumSize: maximumSize))
        let folder = FileManager.default.temporaryDirectory.appending(path: "responses-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(FileResponseCache(folder: folder, maximumSize: maximumSize))
    }

    private func key(_ number: Int, owner: String? = nil) -> ResponseCacheKey {
        ResponseCacheKey(owner: owner, url: "https://api.example.org/\(number)")
    }

    private func stored(_ size: Int, byte: UInt8 = 7) -> StoredResponse {
        StoredResponse(
            response: HTTPResponse(status: .ok, headerFields: [.eTag: "\"1\""]),
            body: [UInt8](repeating: byte, count: size),
            varying: ["accept": "x"]
        )
    }

    @Test("A store returns the last response for a key, and none after its removal")
    func stores() async throws {
        try await each(maximumSize: 1_000_000) { cache in
            #expect(await cache.response(for: key(1)) == nil)
            await cache.store(stored(10, byte: 1), for: key(1))
            await cache.store(stored(10, byte: 2), for: key(1))
            #expect(await cache.response(for: key(1)) == stored(10, byte: 2))
            #expect(await cache.response(for: key(1, owner: "u")) == nil)
            await cache.remove(key(1))
            #expect(await cache.response(for: key(1)) == nil)
        }
    }

    @Test("A store removes all responses of an owner, and no others")
    func owners() async throws {
        try await each(maximumSize: 1_000_000) { cache in
            for owner in [nil, "u", "v"] as [String?] {
                for number in 0..<3 { await cache.store(stored(10), for: key(number, owner: owner)) }
            }
            await cache.removeAll(of: "u")
            var left: [Int] = []
            for owner in [nil, "u", "v"] as [String?] {
                var count = 0
                for number in 0..<3 where await cache.response(for: key(number, owner: owner)) != nil { count += 1 }
                left.append(count)
            }
            #expect(left == [3, 0, 3])
        }
    }

    @Test("A store stays below its size, and evicts the least recently used responses")
    func bounded() async throws {
        try await each(maximumSize: 20_000) { cache in
            for number in 0..<60 {
                await cache.store(stored(1_000), for: key(number))
                _ = await cache.response(for: key(0))
            }
            var present: [Int] = []
            for number in 0..<60 where await cache.response(for: key(number)) != nil { present.append(number) }
            #expect((5...20).contains(present.count) && present.first == 0 && present.last == 59, "\(present)")
        }
    }

    @Test("Does not store a response over an eighth of the store, and removes the old one")
    func large() async throws {
        try await each(maximumSize: 8_000) { cache in
            await cache.store(stored(10), for: key(1))
            await cache.store(stored(1_001), for: key(1))
            #expect(await cache.response(for: key(1)) == nil)
        }
    }

    @Test("Files survive the store, are private, and contain neither URL nor owner")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "responses-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        await FileResponseCache(folder: folder).store(stored(10), for: key(1, owner: "user-1"))
        let later = FileResponseCache(folder: folder)
        #expect(await later.response(for: key(1, owner: "user-1")) == stored(10))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count == 1 && !names.joined().contains("user") && !names.joined().contains("example"))
        for path in [folder.path, folder.appending(path: names[0]).path] {
            let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(rights.map { $0 & 0o077 } == 0)
        }
        await later.removeAll(of: "user-1")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("A damaged file counts as absent")
    func damaged() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "responses-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = FileResponseCache(folder: folder)
        await cache.store(stored(100), for: key(1))
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        try Data("garbage".utf8).write(to: folder.appending(path: name))
        #expect(await cache.response(for: key(1)) == nil)
        await cache.store(stored(100), for: key(1))
        #expect(await cache.response(for: key(1)) == stored(100))
    }
}
