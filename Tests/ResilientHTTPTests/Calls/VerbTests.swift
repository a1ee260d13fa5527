import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite("The verbs of a client") struct VerbTests {
    private let transport = ScriptedTransport(Array(repeating: .response(status: 200, body: #"{"id":1,"name":"a"}"#), count: 4))
    private let activity = Activity(id: 1, name: "a")
    private let written = Array(#"{"id":1,"name":"a"}"#.utf8)

    @Test("Verbs with a value send it as JSON and return the value of the response")
    func values() async throws {
        let api = try makeClient(transport)
        let posted: Activity = try await api.post("/a", activity)
        let put: Activity = try await api.put("/a/1", activity)
        let patched: Activity = try await api.patch("/a/1", activity)
        let deleted: Activity = try await api.delete("/a/1")
        #expect([posted, put, patched, deleted] == Array(repeating: activity, count: 4))
        #expect(transport.sent.map(\.request.method) == [.post, .put, .patch, .delete])
        #expect(transport.sent.map(\.request.path) == ["/a", "/a/1", "/a/1", "/a/1"])
        #expect(transport.sent.map(\.body) == [written, written, written, nil])
        #expect(transport.sent.prefix(3).allSatisfy { $0.request.headerFields[.contentType] == "application/json" })
    }

    @Test("Verbs without a used result accept a response without content")
    func nothing() async throws {
        let transport = ScriptedTransport(Array(repeating: .response(status: 204), count: 6))
        let api = try makeClient(transport)
        try await api.post("/a", activity)
        try await api.put("/a/1", activity)
        try await api.patch("/a/1", activity)
        try await api.delete("/a/1")
        try await api.post("/a/1/close")
        try await api.put("/a/1/star")
        #expect(transport.sent.map(\.request.method) == [.post, .put, .patch, .delete, .post, .put])
        #expect(transport.sent.map(\.body) == [written, written, written, nil, nil, nil])
        #expect(transport.sent.suffix(3).allSatisfy { $0.request.headerFields[.contentType] == nil })
    }

    @Test("A POST without a body returns the value of the response")
    func bare() async throws {
        let closed: Activity = try await makeClient(transport).post("/a/1/close")
        #expect(closed == activity && transport.sent.first?.body == nil)
    }

    @Test("HEAD returns the head of the response")
    func head() async throws {
        let transport = ScriptedTransport([.response(status: 200, headers: [.contentLength: "12"])])
        let response = try await makeClient(transport).head("/a/1", query: [URLQueryItem(name: "v", value: "2")])
        #expect(response.headerFields[.contentLength] == "12")
        #expect(transport.sent.first?.request.method == .head && transport.sent.first?.request.path == "/a/1?v=2")
    }

    @Test("A content type of the caller replaces that of the value")
    func contentType() async throws {
        let type: HTTPFields = [.contentType: "application/merge-patch+json"]
        let _: Activity = try await makeClient(transport).patch("/a/1", activity, headers: type)
        #expect(transport.sent.first?.request.headerFields[values: .contentType] == ["application/merge-patch+json"])
    }

    @Test("Every verb reports a refusal as the typed error, with the context")
    func refusals() async throws {
        let transport = ScriptedTransport(Array(repeating: .response(status: 404, body: "{}"), count: 6))
        let api = try makeClient(transport)
        let body = activity
        let errors = [
            await failure { let _: Activity = try await api.get("/a", context: "c") },
            await failure { _ = try await api.head("/a", context: "c") },
            await failure { try await api.post("/a", body, context: "c") },
            await failure { try await api.put("/a", body, context: "c") },
            await failure { try await api.patch("/a", body, context: "c") },
            await failure { try await api.delete("/a", context: "c") },
        ]
        #expect(errors.allSatisfy { $0?.kind == .notFound && $0?.context == "c" })
    }
}

@Suite("Query items") struct QueryTests {
    private let transport = ScriptedTransport([.response(status: 200, body: "{}")])

    @Test(
        "Every character outside RFC 3986's unreserved set is percent-encoded",
        arguments: [
            ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("ñ", "%C3%B1"), ("👋", "%F0%9F%91%8B"),
            ("a%20", "a%2520"),
            ("#/?:@!$'()*,;[]", "%23%2F%3F%3A%40%21%24%27%28%29%2A%2C%3B%5B%5D"), ("\r\n\t\u{0}", "%0D%0A%09%00"),
            ("A-Z.a_z~09", "A-Z.a_z~09"), ("", ""),
        ]
    )
    func escapes(value: String, escaped: String) async throws {
        _ = try await makeClient(transport).send(.get, "/a", query: [URLQueryItem(name: value, value: value)])
        #expect(transport.sent.first?.request.path == "/a?\(escaped)=\(escaped)")
    }

    @Test(
        "Items are appended to the query of the path, in their order",
        arguments: [
            ("/a", "/a?x=1&y&x=2"), ("/a?z=0", "/a?z=0&x=1&y&x=2"), ("/a?", "/a?x=1&y&x=2"), ("/a?z=0&", "/a?z=0&x=1&y&x=2"),
            ("/a%20b", "/a%20b?x=1&y&x=2"), ("/a&", "/a&?x=1&y&x=2"),
        ]
    )
    func appends(path: String, whole: String) async throws {
        let items = [
            URLQueryItem(name: "x", value: "1"), URLQueryItem(name: "y", value: nil), URLQueryItem(name: "x", value: "2"),
        ]
        _ = try await makeClient(transport).send(.get, path, query: items)
        #expect(transport.sent.first?.request.path == whole)
    }

    @Test("The server reads the items that the caller passed")
    func roundTrip() async throws {
        let items = [URLQueryItem(name: "q", value: "a+b & c=d/é?#"), URLQueryItem(name: "tag", value: "100%")]
        _ = try await makeClient(transport).send(.get, "/a", query: items)
        let path = try #require(transport.sent.first?.request.path)
        #expect(URLComponents(string: "https://x" + path)?.queryItems == items)
    }

    @Test("A query never changes the endpoint of a call")
    func endpoint() async throws {
        var api = try makeClient(transport)
        api.policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/a", method: .post)
        let (known, _) = (api.routes, try await api.send(.post, "/a", query: [URLQueryItem(name: "x", value: "1")]))
        let request = try #require(transport.sent.first?.request)
        #expect(known.endpoint(of: request) == Endpoint(.post, "/a"))
    }
}
