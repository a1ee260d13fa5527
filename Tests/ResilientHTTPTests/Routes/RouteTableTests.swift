import HTTPTypes
import ResilientHTTP
import Testing

@Suite struct RouteTableTests {
    private static func endpoint(_ path: String, _ table: RouteTable = RouteTable()) -> String {
        table.endpoint(of: HTTPRequest(method: .get, scheme: "https", authority: "h", path: path)).description
    }

    @Test(
        "Ids in paths create no separate endpoints",
        arguments: [
            ("/api/activities", "/api/activities"), ("/api/activities/", "/api/activities"),
            ("//api//activities", "/api/activities"),
            ("/api/activities?page=2&id=7", "/api/activities"), ("/api/activities#x", "/api/activities"), ("/", "/"), ("", "/"),
            ("/api/activities/17", "/api/activities/{id}"), ("/api/activities/0", "/api/activities/{id}"),
            ("/users/6F9619FF-8B86-D011-B42D-00CF4FC964FF/posts", "/users/{id}/posts"),
            ("/a/507f1f77bcf86cd799439011", "/a/{id}"), ("/a/deadbeefdeadbeef", "/a/{id}"),
            ("/a/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/a/{id}"), ("/a/cus_NffrFeUfNV2Hib", "/a/{id}"),
            ("/a/ckv8s2u5g0000qz7x5q2w3e4r", "/a/{id}"), ("/a/V1StGXR8_Z5jdHi6B-myT", "/a/{id}"),
            ("/reset/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "/reset/{id}"),
            ("/users/ana@example.com", "/users/{id}"), ("/users/ana%40example.com", "/users/{id}"),
            ("/a/" + String(repeating: "x", count: 65), "/a/{id}"), ("/a/{b}", "/a/{id}"), ("/a/é", "/a/{id}"),
            ("/api/password-reset-confirmation", "/api/password-reset-confirmation"), ("/v2/me", "/v2/me"),
            ("/api/internationalization", "/api/internationalization"),
            ("/posts/best-of-summer-2024", "/posts/best-of-summer-2024"),
            ("/%61pi/%7Eana", "/api/~ana"), ("/a%2Fb/%zz/%", "/a%2Fb/%zz/%"),
        ]
    )
    func folding(path: String, template: String) {
        #expect(Self.endpoint(path) == "GET " + template)
    }

    @Test("A path of a thousand segments has a short name")
    func long() {
        let name = Self.endpoint(String(repeating: "/abc", count: 1_000))
        #expect(name == "GET " + String(repeating: "/abc", count: 16) + "/{rest}")
    }

    @Test("Registered routes precede folding rules, the more specific first in any order")
    func registered() {
        let routes: [RouteTemplate] = ["/api/{kind}/{id}", "/api/lessons/{id}", "/api/lessons/latest", "/{x}"]
        for table in [RouteTable(routes), RouteTable(routes.reversed())] {
            #expect(Self.endpoint("/api/lessons/latest", table) == "GET /api/lessons/latest")
            #expect(Self.endpoint("/api/lessons/tehillim", table) == "GET /api/lessons/{id}")
            #expect(Self.endpoint("/api/series/17?x", table) == "GET /api/{kind}/{id}")
            #expect(Self.endpoint("/anything", table) == "GET /{x}")
            #expect(Self.endpoint("/api/series/17/x", table) == "GET /api/series/{id}/x")
        }
    }

    @Test("Templates are relative to the client's base path")
    func base() {
        let table = RouteTable(["/api/streams"], basePath: "/v2/")
        #expect(Self.endpoint("/v2/api/streams", table) == "GET /api/streams")
        #expect(Self.endpoint("/api/streams", table) == "GET /api/streams")
        #expect(Self.endpoint("/v2", table) == "GET /")
    }

    @Test(
        "Refuses an invalid template",
        arguments: [
            "", "a", "/a//b", "/a?b", "/a#b", "/a b", "/{}", "/a{b}", "/{a}b", "/{a", "/a}", "/{a-b}", "/é", "/{é}", "/\n",
        ]
    )
    func refused(text: String) {
        #expect(RouteTemplate(parsing: text) == nil)
    }

    @Test("A template survives a round trip through its text", arguments: ["/", "/api/activities/{id}", "/a/{b_1}/c"])
    func roundTrip(text: String) {
        #expect(RouteTemplate(parsing: text)?.description == text)
        #expect(RouteTemplate(parsing: text + "/") == (text == "/" ? nil : RouteTemplate(parsing: text)))
    }

    @Test("An invalid template literal fails a precondition")
    func precondition() async {
        await #expect(processExitsWith: .failure) { _ = RouteTemplate(stringLiteral: "api") }
    }
}
