import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite struct APIClientRequestTests {
    private let transport = ScriptedTransport(Array(repeating: .response(status: 200, body: #"{"id":1,"name":"a"}"#), count: 4))

    @Test("A GET has its method, URL and accepted types, and no body")
    func get() async throws {
        let client = try makeClient(transport, language: Language("es-MX"))
        let _: Activity = try await client.get("/activities?page=2&q=a%20b", headers: [.authorization: "Bearer t"])
        let sent = try #require(transport.sent.first)
        #expect(sent.request.method == .get && sent.request.scheme == "https")
        #expect(sent.request.authority == "api.example.org" && sent.request.path == "/activities?page=2&q=a%20b")
        #expect(sent.request.headerFields[.accept] == "application/json, application/problem+json;q=0.9")
        #expect(sent.request.headerFields[.acceptLanguage] == "es-mx")
        #expect(sent.request.headerFields[.authorization] == "Bearer t")
        #expect(sent.request.headerFields[.contentType] == nil)
        #expect(sent.body == nil)
    }

    @Test("A POST has its value as JSON with sorted keys and ISO 8601 dates")
    func post() async throws {
        struct Event: Encodable {
            var url = "https://x/y"
            var at = Date(timeIntervalSince1970: 1_762_252_200)
        }
        let client = try makeClient(transport)
        let _: Activity = try await client.post("/events", Event())
        let sent = try #require(transport.sent.first)
        #expect(sent.request.method == .post)
        #expect(sent.request.headerFields[.contentType] == "application/json")
        #expect(sent.body == Array(#"{"at":"2025-11-04T10:30:00Z","url":"https://x/y"}"#.utf8))
    }

    @Test("The caller's own body keeps its type")
    func ownBody() async throws {
        let client = try makeClient(transport)
        let response = try await client.send(.put, "/file", body: RequestBody([0, 255], contentType: "image/png"))
        #expect(response.response.status.code == 200)
        #expect(response.body == Array(#"{"id":1,"name":"a"}"#.utf8))
        #expect(transport.sent.first?.body == [0, 255])
        #expect(transport.sent.first?.request.headerFields[.contentType] == "image/png")
    }

    @Test(
        "Paths are relative to the base URL",
        arguments: [
            ("https://api.example.org", "https", "api.example.org", "/a"),
            ("https://api.example.org/", "https", "api.example.org", "/a"),
            ("http://127.0.0.1:8080", "http", "127.0.0.1:8080", "/a"),
            ("HTTPS://api.example.org:443", "https", "api.example.org:443", "/a"),
            ("https://api.example.org/v1", "https", "api.example.org", "/v1/a"),
            ("https://api.example.org/v1/", "https", "api.example.org", "/v1/a"),
            ("https://api.example.org/a%20b/?x=1#y", "https", "api.example.org", "/a%20b/a"),
            ("http://[::1]:8080", "http", "[::1]:8080", "/a"),
            ("https://user:pw@api.example.org", "https", "api.example.org", "/a"),
        ]
    )
    func base(base: String, scheme: String, authority: String, path: String) async throws {
        let _: Activity = try await makeClient(transport, base: base).get("/a")
        let request = try #require(transport.sent.first).request
        #expect(request.scheme == scheme && request.authority == authority && request.path == path)
    }

    @Test(
        "Refuses an invalid path without sending a request",
        arguments: [
            "", "a", "https://evil.example/a", "?a", "/a b", "/a\r\nHost: evil", "/a\tb", "/a#b", "/ñ", "/\u{7F}", "/\u{0}",
            "\\a", "@evil.example",
        ]
    )
    func badPath(path: String) async throws {
        let client = try makeClient(transport)
        let error = await failure { let _: Activity = try await client.get(path, context: "c") }
        #expect(error?.kind == .invalidRequest && error?.code == .invalidRequest)
        #expect(error?.attempts == 0 && error?.context == "c")
        #expect(transport.sent.isEmpty)
    }

    @Test(
        "Refuses a base URL that is not a web address without sending a request",
        arguments: ["ftp://a.b", "/a", "file:///a", "mailto:a@b.co", "https:///a"]
    )
    func badBase(base: String) async throws {
        let client = try makeClient(transport, base: base)
        let error = await failure { let _: Activity = try await client.get("/a") }
        #expect(error?.kind == .invalidRequest)
        #expect(transport.sent.isEmpty)
    }

    @Test("Refuses a value that can't be encoded as JSON without sending a request")
    func badValue() async throws {
        let client = try makeClient(transport)
        let error = await failure { try await client.post("/a", [Double.nan], context: "c") }
        #expect(error?.kind == .invalidRequest && error?.attempts == 0 && error?.context == "c")
        #expect(error?.underlying is EncodingError)
        #expect(transport.sent.isEmpty)
    }
}
