import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite("The pages of a list") struct PagingTests {
    private struct NamesPage: Codable, Sendable {
        var names: [String]
        var next: String?
    }

    private func list(_ numbers: Range<Int>) -> String { "[\(numbers.map { "\($0)" }.joined(separator: ","))]" }

    private func page(_ body: String, link: String? = nil) -> ScriptedTransport.Step {
        var headers = HTTPFields()
        headers[.link] = link
        return .response(status: 200, headers: headers, body: body)
    }

    @Test("Follows the links of the Link header, relative and absolute")
    func links() async throws {
        let transport = ScriptedTransport([
            page(
                "[1]",
                link:
                    #"<https://api.example.org/v1/a?page=2&x=%2B>; rel="next", <https://api.example.org/v1/a?page=9>; rel="last""#
            ),
            page("[2]", link: #"</v1/a?page=1>; rel="prev", <?page=3>; title="a, b; <c>"; rel="last next""#),
            page("[3]", link: #"</v1/a?page=1>; rel=first"#),
        ])
        let api = try makeClient(transport, base: "https://api.example.org/v1")
        var pages: [[Int]] = []
        for try await page: [Int] in api.pages("/a", by: .link, query: [URLQueryItem(name: "x", value: "+")]) {
            pages.append(page)
        }
        #expect(pages == [[1], [2], [3]])
        #expect(transport.sent.map(\.request.path) == ["/v1/a?x=%2B", "/v1/a?page=2&x=%2B", "/v1/a?page=3"])
    }

    @Test("Requests a link with another scheme at the base URL, because proxies write http")
    func scheme() async throws {
        let transport = ScriptedTransport([page("[1]", link: #"<http://api.example.org/a?page=2>; rel="next""#), page("[2]")])
        var count = 0
        for try await _: [Int] in try makeClient(transport).pages("/a", by: .link) { count += 1 }
        #expect(count == 2 && transport.sent.last?.request.scheme == "https")
    }

    @Test(
        "A link to another host or outside the base URL ends the sequence, unsent",
        arguments: [
            "https://evil.example/v1/a", "//evil.example/v1/a", "https://api.example.org:8443/v1/a", "/v2/a", "mailto:a@b.co",
        ]
    )
    func foreign(link: String) async throws {
        let transport = ScriptedTransport([page("[1]", link: "<\(link)>; rel=\"next\"")])
        let api = try makeClient(transport, base: "https://api.example.org/v1")
        var pages: [[Int]] = []
        let error = await failure { for try await page: [Int] in api.pages("/a", by: .link) { pages.append(page) } }
        #expect(error?.kind == .invalidRequest && transport.sent.count == 1)
        // The page that contains the link is returned before the error.
        #expect(pages == [[1]])
    }

    @Test("Follows the cursor of the body, and returns items one by one")
    func cursor() async throws {
        let transport = ScriptedTransport([
            page(#"{"names":["a","b"],"next":"+1"}"#), page(#"{"names":[],"next":"2"}"#), page(#"{"names":["c"],"next":""}"#),
        ])
        let pages = try makeClient(transport).pages("/a", of: NamesPage.self, by: .cursor { $0.next })
        var names: [String] = []
        for try await name in pages.items(\.names) { names.append(name) }
        #expect(names == ["a", "b", "c"])
        #expect(transport.sent.map(\.request.path) == ["/a", "/a?cursor=%2B1", "/a?cursor=2"])
    }

    @Test("Follows offsets until a page is short")
    func offset() async throws {
        let transport = ScriptedTransport([page(list(0..<3)), page(list(3..<6)), page(list(6..<7))])
        let pages = try makeClient(transport).pages("/a?sort=x", of: [Int].self, by: .offset(size: 3))
        var items: [Int] = []
        for try await item in pages.items() { items.append(item) }
        #expect(items == Array(0..<7))
        #expect(
            transport.sent.map(\.request.path) == [
                "/a?sort=x&offset=0&limit=3", "/a?sort=x&limit=3&offset=3", "/a?sort=x&limit=3&offset=6",
            ]
        )
    }

    @Test("Follows page numbers until a page is empty")
    func number() async throws {
        let transport = ScriptedTransport([page("[1]"), page("[2]"), page("[]")])
        var items: [Int] = []
        for try await page: [Int] in try makeClient(transport).pages("/a", by: .number(from: 0)) { items += page }
        #expect(items == [1, 2] && transport.sent.map(\.request.path) == ["/a?page=0", "/a?page=1", "/a?page=2"])
    }

    @Test("Replaces the number in the query of the path")
    func numberInPath() async throws {
        let transport = ScriptedTransport([page("[1]"), page("[2]"), page("[]"), page("[3]")])
        let api = try makeClient(transport)
        for try await _: [Int] in api.pages("/a?%70age=7&x=%26&page=8", by: .number()) {}
        let _: [[Int]] = try await api.allPages("/a?page=1", numbers: 5...5)
        #expect(transport.sent.map(\.request.path) == ["/a?x=%26&page=1", "/a?x=%26&page=2", "/a?x=%26&page=3", "/a?page=5"])
    }

    @Test("Each iteration begins with the first page, and requests pages lazily")
    func lazily() async throws {
        let transport = ScriptedTransport(Array(repeating: page("[1]"), count: 3))
        let pages = try makeClient(transport).pages("/a", of: [Int].self, by: .number())
        for _ in 0..<3 { for try await _ in pages { break } }
        #expect(transport.sent.map(\.request.path) == ["/a?page=1", "/a?page=1", "/a?page=1"])
    }

    @Test("A page that names itself as the next one ends the sequence with an error")
    func loop() async throws {
        let transport = ScriptedTransport([page(#"{"names":[],"next":"1"}"#), page(#"{"names":[],"next":"1"}"#)])
        let client = try makeClient(transport, language: .spanish)
        let pages = client.pages("/a", of: NamesPage.self, by: .cursor { $0.next }, context: "c")
        let error = await failure { for try await _ in pages {} }
        #expect(error?.kind == .decoding && error?.context == "c" && transport.sent.count == 2)
        #expect(error?.language == .spanish)
    }

    @Test("Links that repeat several pages end the sequence with an error", arguments: [2, 3, 5])
    func longLoop(length: Int) async throws {
        // The first page is not repeated.
        let steps = (0..<50).map { page("[\($0)]", link: "</a?page=\($0 % length)>; rel=\"next\"") }
        let transport = ScriptedTransport(steps)
        let pages = try makeClient(transport).pages("/a", of: [Int].self, by: .link)
        let error = await failure { for try await _ in pages {} }
        #expect(error?.kind == .decoding && transport.sent.count <= 4 * length)
    }

    @Test("An error ends the sequence")
    func ends() async throws {
        let transport = ScriptedTransport([page("[1]"), .response(status: 404), page("[2]")])
        var iterator = try makeClient(transport).pages("/a", of: [Int].self, by: .number()).makeAsyncIterator()
        #expect(try await iterator.next() == [1])
        await #expect(throws: APIError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test("Requests further pages after a refresh of the token")
    func refresh() async throws {
        let session = Session.ofAna()
        let transport = ScriptedTransport([page("[1]"), page("[2]"), page("[]")])
        let layer = beforeSecondRequest { try await session.refreshNow() }
        let api = try makeClient(transport, middleware: [layer]).authorized(by: session)
        var items: [Int] = []
        for try await page: [Int] in api.pages("/a", by: .number()) { items += page }
        #expect(items == [1, 2])
        #expect(transport.sent.map { $0.request.headerFields[.authorization] } == ["Bearer ana", "Bearer ana2", "Bearer ana2"])
    }

    @Test("Requests no page with the token of another user", arguments: [false, true])
    func otherUser(isAtOnce: Bool) async throws {
        let session = Session.ofAna()
        let transport = ScriptedTransport([page("[1]"), page("[2]"), page("[]")])
        let layer = beforeSecondRequest { try await session.setCredentials(.eva) }
        let api = try makeClient(transport, middleware: [layer]).authorized(by: session)
        var items: [Int] = []
        let error = await failure {
            if isAtOnce {
                let _: [[Int]] = try await api.allPages("/a", numbers: 1...3, atOnce: 1)
            } else {
                for try await page: [Int] in api.pages("/a", by: .number()) { items += page }
            }
        }
        #expect(error?.kind == .unauthorized && error?.recovery == .dismiss && items == (isAtOnce ? [] : [1]))
        #expect(transport.sent.map { $0.request.headerFields[.authorization] } == ["Bearer ana"])
    }

    @Test("50 pages, five at a time, under a limit of 10 per 2 s, all arrive in order")
    func concurrently() throws {
        let (clock, executor) = (ManualClock(), SteppedExecutor())
        let server = PagedServer(clock)
        let api = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0.5 })
        )
        let pages = Outcome<[Int]>(on: executor) { try await api.allPages("/pages", numbers: 1...50, atOnce: 5) }
        executor.run(clock, until: .seconds(60))
        #expect(try pages.result?.get() == Array(1...50), "\(pages.error.map { "\($0)" } ?? "")")
        #expect(server.most == 5)
    }

    @Test("The first error cancels the other requests")
    func cancels() throws {
        let (clock, executor) = (ManualClock(), SteppedExecutor())
        let server = PagedServer(clock, missing: 3)
        let api = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            environment: ClientEnvironment(clock: MonotonicClock(clock))
        )
        let offsets = stride(from: 1, to: 100, by: 1)
        let pages = Outcome<[Int]>(on: executor) { try await api.allPages("/pages", numbers: offsets, atOnce: 3, context: "c") }
        executor.run(clock, until: .seconds(60))
        #expect(pages.error?.kind == .notFound && pages.error?.context == "c" && server.count <= 6 && clock.sleeperCount == 0)
    }
}

/// Returns the number of the page that a request names, and limits requests to 10 per 2 s.
private final class PagedServer: HTTPTransport {
    private let clock: ManualClock
    private let missing: Int?
    private let state = Mutex((window: [Duration](), running: 0, most: 0, count: 0))

    init(_ clock: ManualClock, missing: Int? = nil) {
        (self.clock, self.missing) = (clock, missing)
    }

    var most: Int { state.withLock(\.most) }
    var count: Int { state.withLock(\.count) }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let now = clock.now.offset
        let wait = state.withLock { state -> Int? in
            state.running += 1
            state.count += 1
            state.most = max(state.most, state.running)
            state.window.removeAll { $0 <= now - .seconds(2) }
            guard state.window.count >= 10, let oldest = state.window.first else {
                state.window.append(now)
                return nil
            }
            return max(1, Int(((oldest + .seconds(2) - now) / .seconds(1)).rounded(.up)))
        }
        defer { state.withLock { $0.running -= 1 } }
        do { try await clock.sleep(for: .milliseconds(30)) } catch {
            throw TransportError(.cancelled, message: "", wasSent: true)
        }
        if let wait { return (HTTPResponse(status: .tooManyRequests, headerFields: [.retryAfter: "\(wait)"]), ResponseBody()) }
        let number = request.path?.split(separator: "=").last.flatMap { Int($0) } ?? 0
        if number == missing { return (HTTPResponse(status: .notFound), ResponseBody()) }
        return (HTTPResponse(status: .ok), ResponseBody(Array("\(number)".utf8)))
    }
}
