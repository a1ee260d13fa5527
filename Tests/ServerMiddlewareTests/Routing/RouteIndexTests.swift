import ErrorContract
import HTTPTypes
import Hummingbird
import ServerMiddleware
import Testing

@Suite struct RouteIndexTests {
    /// Patterns of the router, each with a different method that identifies it.
    private static let patterns: [(RouterPath, HTTPRequest.Method)] = [
        ("/", .get), ("/api/login", .post), ("/api/login", .delete), ("/users/:id", .put), ("/users/{id}/mails", .get),
        ("/wild/*", .post), ("/wild/*/end", .patch), ("/files/**", .put), ("/deep/**/end", .post), ("/images/*.jpg", .post),
        ("/pages/{name}.html", .post), ("/file.*", .post),
    ]

    private func makeIndex() -> RouteIndex {
        let router = Router(context: MemoryContext.self)
        for (path, method) in Self.patterns { router.on(path, method: method) { _, _ in HTTPResponse.Status.ok } }
        let index = RouteIndex()
        index.fill(from: router)
        return index
    }

    @Test(
        "A path's methods are those of all matching patterns, and GET includes HEAD",
        arguments: [
            ("/", ["GET", "HEAD"]), ("", ["GET", "HEAD"]), ("/api/login", ["DELETE", "POST"]),
            ("/api/login/", ["DELETE", "POST"]),
            ("//api//login", ["DELETE", "POST"]), ("/users/7", ["PUT"]), ("/users/7/mails", ["GET", "HEAD"]),
            ("/wild/x", ["POST"]), ("/wild/x/end", ["PATCH"]), ("/files/a", ["PUT"]), ("/files/a/b/c", ["PUT"]),
            ("/deep/a/end", ["POST"]), ("/deep/a/b/end", ["POST"]), ("/images/cat.jpg", ["POST"]),
            ("/pages/home.html", ["POST"]), ("/file.txt", ["POST"]),
        ]
    )
    func known(path: String, methods: [String]) {
        #expect(makeIndex().methods(of: path)?.map(\.rawValue).sorted() == methods)
    }

    @Test(
        "A path that matches no pattern is unknown",
        arguments: [
            "/api", "/api/login/x", "/API/login", "/users", "/users/7/x", "/wild", "/wild/x/y", "/files", "/deep/end",
            "/deep/a/b", "/images/cat.png", "/pages/home.txt", "/other", "/\(String(repeating: "a/", count: 5_000))",
        ]
    )
    func unknown(path: String) {
        #expect(makeIndex().methods(of: path) == nil)
    }

    @Test("An empty index knows no path, and filling it again replaces its content")
    func filling() {
        let index = RouteIndex()
        #expect(index.methods(of: "/") == nil)
        let first = Router(context: MemoryContext.self)
        first.get("/first") { _, _ in "" }
        index.fill(from: first)
        let second = Router(context: MemoryContext.self)
        second.get("/second") { _, _ in "" }
        index.fill(from: second)
        #expect(index.methods(of: "/first") == nil)
        #expect(index.methods(of: "/second") == [.get, .head])
    }

    @Test(
        "A wrong method on a known path is 405 with the allowed ones; unknown paths 404",
        arguments: [
            (HTTPRequest.Method.get, "/api/login", "DELETE, POST"), (.post, "/users/7", "PUT"), (.post, "/", "GET, HEAD"),
            (.get, "/wild/x", "POST"), (.get, "/files/a/b", "PUT"), (.head, "/api/login", "DELETE, POST"),
            (.options, "/users/7/mails", "GET, HEAD"), (.get, "/unknown", nil), (.get, "/files", nil), (.head, "/unknown", nil),
        ] as [(HTTPRequest.Method, String, String?)]
    )
    func statuses(method: HTTPRequest.Method, path: String, allowed: String?) async throws {
        let index = RouteIndex()
        let router = Router<MemoryContext>.make(index: index)
        for (path, method) in Self.patterns { router.on(path, method: method) { _, _ in HTTPResponse.Status.ok } }
        index.fill(from: router)
        let response = try await router.response(to: .make(method, path))
        #expect(response.status == (allowed == nil ? .notFound : .methodNotAllowed))
        #expect(response.headers[.allow] == allowed)
        let code: ErrorCode = allowed == nil ? .resourceNotFound : .requestMethodNotAllowed
        #expect(response[header: "X-Error-Code"] == code.rawValue)
    }

    @Test("The index knows exactly the paths that the router serves")
    func agreesWithRouter() async throws {
        let index = RouteIndex()
        let router = Router<MemoryContext>.make(index: index)
        for (path, method) in Self.patterns { router.on(path, method: method) { _, _ in HTTPResponse.Status.ok } }
        index.fill(from: router)
        for path in ["/", "/api/login/", "/users/7", "/wild/x/end", "/files/a/b", "/deep/a/b/end", "/images/a.jpg", "/file.x"] {
            let methods = try #require(index.methods(of: path))
            for method in methods { #expect(try await router.response(to: .make(method, path)).status == .ok) }
        }
        for path in ["/files", "/wild", "/deep/end", "/images/a.png"] {
            for method in [HTTPRequest.Method.get, .post, .put, .patch] {
                #expect(try await router.response(to: .make(method, path)).status == .notFound)
            }
        }
    }
}
