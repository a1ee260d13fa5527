import AccountContract
import AccountKit
import Foundation
import Testing

@Suite("Links of an app")
struct LinkReaderTests {
    private func link(_ text: String) throws -> ExampleLink? {
        try ExampleLink.reader.read(url(text))?.link
    }

    @Test("Opens a section by the custom scheme and by the web", arguments: ExampleLink.Section.allCases)
    func sections(section: ExampleLink.Section) throws {
        for text in [
            "exampleapp://\(section)", "exampleapp://\(section)/", "EXAMPLEAPP://\(section)?from=mail",
            "https://app.example.com/\(section)", "https://APP.example.com/\(section)/", "https://www.example.com//\(section)",
        ] {
            #expect(try link(text) == .section(section), "\(text)")
        }
    }

    @Test(
        "A lesson link names series, page, video and start position",
        arguments: ["exampleapp://lesson", "https://app.example.com/lesson"]
    )
    func lesson(base: String) throws {
        let lesson = ExampleLink.lesson(series: "Berajot 1", page: 12, video: "a-b_c", start: .seconds(95))
        #expect(try link(base + "?series=Berajot%201&page=12&video=a-b_c&start=95") == lesson)
        #expect(try link(base + "?start=95&video=a-b_c&page=12&series=Berajot%201&utm_source=mail") == lesson)
        let fromStart = ExampleLink.lesson(series: "Berajot", page: 1, video: "v", start: .zero)
        #expect(try link(base + "?series=Berajot&page=1&video=v") == fromStart)
    }

    @Test("A coupon link names distributor, title and amount")
    func coupon() throws {
        let coupon = ExampleLink.coupon(distributor: "Ñandú & Co", title: "10% más", sum: Decimal(1_250) / 100)
        #expect(try link("exampleapp://coupon?distributor=%C3%91and%C3%BA%20%26%20Co&title=10%25%20m%C3%A1s&sum=12.50") == coupon)
    }

    @Test("A path captures the parts that its pattern names")
    func capture() throws {
        #expect(try link("https://app.example.com/account/a%2Fb") == .account(id: "a/b"))
        #expect(try link("exampleapp://account/7") == .account(id: "7"))
        #expect(try link("exampleapp://account") == nil)
        #expect(try link("exampleapp://account/7/8") == nil)
    }

    @Test(
        "Reads a reset link in query, fragment and scheme form beside the app's own",
        arguments: [
            "https://app.example.com/reset-password?token=abc&email=ana%40example.com",
            "https://app.example.com/reset-password#token=abc&email=ana%40example.com",
            "exampleapp://reset-password?token=abc&email=ana%40example.com",
        ]
    )
    func resetLink(text: String) throws {
        let expected = ResetLink(token: try ResetToken("abc"), email: try EmailAddress("ana@example.com"))
        #expect(try link(text) == .resetPassword(expected))
    }

    @Test(
        "Refuses a link of another host or scheme",
        arguments: [
            "https://evil.example.org/lesson?series=a&page=1&video=v", "https://app.example.com.evil.org/crowns",
            "http://app.example.com/crowns", "otherapp://crowns", "https://ana@app.example.com/crowns",
            "https://app.example.com@evil.org/crowns", "https://evil.example.org/reset-password?token=abc", "crowns", "/crowns",
            "mailto:crowns@app.example.com", "exampleapp:crowns", "file:///crowns",
        ]
    )
    func foreign(text: String) throws {
        let address = try url(text)
        #expect(throws: LinkRefusal.foreign) { try ExampleLink.reader.read(address) }
    }

    @Test(
        "Refuses a duplicate parameter",
        arguments: [
            ("exampleapp://lesson?series=a&page=1&page=2&video=v", LinkRefusal.doubledParameter("page")),
            ("https://app.example.com/lesson?series=a&page=1&video=v&p%61ge=1", .doubledParameter("page")),
            ("exampleapp://crowns?x=1&x=1", .doubledParameter("x")),
            ("exampleapp://account/7?id=8", .doubledParameter("id")),
            ("exampleapp://reset-password?token=a&token=b", .resetLink(.doubledParameter)),
            ("https://app.example.com/reset-password?token=a#token=b", .resetLink(.doubledParameter)),
        ]
    )
    func doubled(text: String, refusal: LinkRefusal) throws {
        let address = try url(text)
        #expect(throws: refusal) { try ExampleLink.reader.read(address) }
    }

    @Test(
        "Names a missing or malformed parameter",
        arguments: [
            ("exampleapp://lesson?page=1&video=v", LinkRefusal.missingParameter("series")),
            ("exampleapp://lesson?series=&page=1&video=v", .missingParameter("series")),
            ("exampleapp://lesson?series&page=1&video=v", .missingParameter("series")),
            ("exampleapp://lesson?series=a&page=0&video=v", .malformedParameter("page")),
            ("exampleapp://lesson?series=a&page=-1&video=v", .malformedParameter("page")),
            ("exampleapp://lesson?series=a&page=1.5&video=v", .malformedParameter("page")),
            ("exampleapp://lesson?series=a&page=%2B1&video=v", .malformedParameter("page")),
            ("exampleapp://lesson?series=a&page=99999999999999999999&video=v", .malformedParameter("page")),
            ("exampleapp://lesson?series=a&page=1&video=v&start=now", .malformedParameter("start")),
            ("exampleapp://coupon?distributor=d&title=t&sum=12,50", .malformedParameter("sum")),
            ("exampleapp://coupon?distributor=d&title=t&sum=1e9", .malformedParameter("sum")),
            ("exampleapp://coupon?distributor=d&title=t&sum=12.", .malformedParameter("sum")),
            ("exampleapp://coupon?distributor=d&title=t&sum=", .missingParameter("sum")),
            ("exampleapp://coupon?distributor=%FF&title=t&sum=1", .malformedParameter("distributor")),
            ("exampleapp://reset-password", .resetLink(.missingToken)),
            ("exampleapp://account/%FF", .malformed),
            ("exampleapp://crowns?%FF=1", .malformed),
        ]
    )
    func refused(text: String, refusal: LinkRefusal) throws {
        let address = try url(text)
        #expect(throws: refusal) { try ExampleLink.reader.read(address) }
    }

    @Test(
        "Returns no link for an unknown destination in the app",
        arguments: [
            "exampleapp://talmud", "https://app.example.com/", "https://app.example.com", "https://app.example.com/Crowns",
            "https://app.example.com/crowns/more", "exampleapp://talmud?x=1&x=1",
        ]
    )
    func unknown(text: String) throws {
        #expect(try link(text) == nil)
    }

    @Test("Reads neither scheme links nor reset links unless they are configured")
    func bareReader() throws {
        let reader = LinkReader<Int>(hosts: ["localhost"], routes: [LinkRoute("one") { _ in 1 }])
        #expect(try reader.read(url("http://localhost:8080/one"))?.link == 1)
        #expect(try reader.read(url("http://localhost:8080/reset-password?token=a"))?.link == nil)
        let address = try url("exampleapp://one")
        #expect(throws: LinkRefusal.foreign) { try reader.read(address) }
    }

    @Test("A duplicate pattern or one that starts with a capture fails a precondition")
    func impossibleRoutes() async {
        await #expect(processExitsWith: .failure) {
            _ = LinkReader<Int>(hosts: [], routes: [LinkRoute("a/:b") { _ in 1 }, LinkRoute("/a/:c/") { _ in 2 }])
        }
        await #expect(processExitsWith: .failure) { _ = LinkRoute<Int>(":a") { _ in 1 } }
        await #expect(processExitsWith: .failure) { _ = LinkRoute<Int>("") { _ in 1 } }
        await #expect(processExitsWith: .failure) { _ = LinkRoute<Int>("?") { _ in 1 } }
        await #expect(processExitsWith: .failure) { _ = LinkRoute<Int>("?type") { _ in 1 } }
        await #expect(processExitsWith: .failure) { _ = LinkRoute<Int>("?type=a&type=b") { _ in 1 } }
        await #expect(processExitsWith: .failure) {
            _ = LinkReader<Int>(hosts: [], routes: [LinkRoute("?a=1&b=2") { _ in 1 }, LinkRoute("?b=2&a=1") { _ in 2 }])
        }
    }

    @Test(
        "Routes a link by its ?type= parameter alone",
        arguments: ["https://app.example.com", "https://app.example.com/", "exampleapp://", "exampleapp:///", "exampleapp:"]
    )
    func typedByParameter(base: String) throws {
        let reader = LinkReader<String>(
            hosts: ["app.example.com"],
            scheme: "exampleapp",
            resetLink: { _ in "reset link" },
            routes: [
                LinkRoute("?type=coupon") { parameters throws(LinkRefusal) in "coupon \(try parameters.text("title"))" },
                LinkRoute("?type=lesson&kind=video") { _ in "video lesson" },
                LinkRoute("?type=lesson") { parameters throws(LinkRefusal) in "lesson \(try parameters.integer("page"))" },
                LinkRoute("?type=reset", make: { parameters throws(LinkRefusal) in "reset \(try parameters.text("token"))" }),
            ]
        )
        let read = { (query: String) in try reader.read(url(base + query))?.link }
        #expect(try read("?type=coupon&title=10%25") == "coupon 10%")
        #expect(try read("?page=7&type=lesson") == "lesson 7")
        #expect(try read("?type=lesson&kind=video") == "video lesson")
        #expect(try read("?type=reset&token=abc") == "reset abc")
        #expect(try read("?type=Coupon&title=a") == nil)
        #expect(try read("?type=") == nil)
        #expect(try read("?kind=coupon") == nil)
        #expect(throws: LinkRefusal.doubledParameter("type")) { try read("?type=coupon&type=lesson&title=a") }
        #expect(throws: LinkRefusal.missingParameter("title")) { try read("?type=coupon") }
    }

    @Test("Routes a link by its path and ?type= together, and refuses a foreign host")
    func typedByPathAndParameter() throws {
        let reader = LinkReader<Int>(
            hosts: ["app.example.com"],
            scheme: "exampleapp",
            routes: [LinkRoute("open?type=a") { _ in 1 }, LinkRoute("open?type=b") { _ in 2 }, LinkRoute("open") { _ in 3 }]
        )
        #expect(try reader.read(url("https://app.example.com/open?type=a"))?.link == 1)
        #expect(try reader.read(url("exampleapp://open?type=b"))?.link == 2)
        #expect(try reader.read(url("exampleapp://open?type=c"))?.link == 3)
        #expect(try reader.read(url("exampleapp://?type=a")) == nil)
        for text in ["https://evil.example.org/open?type=a", "otherapp://open?type=a", "otherapp:?type=a", "https://?type=a"] {
            let address = try url(text)
            #expect(throws: LinkRefusal.foreign, "\(text)") { try reader.read(address) }
        }
    }

    @MainActor
    @Test("Holds a typed link that needs a session until sign-in")
    func typedAndHeld() throws {
        let reader = LinkReader<Int>(
            hosts: ["app.example.com"],
            routes: [LinkRoute("?type=coupon", needsSession: true) { _ in 1 }]
        )
        let router = LinkRouter(reader, isSignedIn: false)
        #expect(try router.open(url("https://app.example.com/?type=coupon")) == .held)
        #expect(router.signedIn() == 1)
    }

    @Test("Descriptions show the names of parameters, never their values")
    func description() throws {
        let reader = LinkReader<LinkParameters>(hosts: ["a.example.com"], routes: [LinkRoute("x") { $0 }])
        let parameters = try #require(try reader.read(url("https://a.example.com/x?b=secret&a=hidden"))?.link)
        #expect("\(parameters)" == "LinkParameters(a, b)")
        #expect(!String(reflecting: parameters).contains("secret"))
        #expect(parameters.names == ["a", "b"])
    }
}
