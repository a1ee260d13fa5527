import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@Suite struct ClientMiddlewareTests {
    /// Records requests and responses that pass through it.
    private final class Diary: ClientMiddleware {
        private let entries = Mutex<[String]>([])
        var text: [String] { entries.withLock { $0 } }
        var contexts: [CallContext] { seen.withLock { $0 } }
        private let seen = Mutex<[CallContext]>([])

        func intercept(
            _ request: HTTPRequest,
            body: RequestBody?,
            context: CallContext,
            next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
        ) async throws -> (HTTPResponse, ResponseBody) {
            let mark = request.headerFields[.via] ?? "start"
            entries.withLock { $0.append("out \(mark)") }
            seen.withLock { $0.append(context) }
            var request = request
            request.headerFields[.via] = mark + "+"
            let response = try await next(request, body)
            entries.withLock { $0.append("back \(mark)") }
            return response
        }
    }

    private struct Odd: Error {}

    @Test("The first middleware is the outermost, and each receives the previous request")
    func order() async throws {
        let (transport, diary) = (ScriptedTransport([.response(status: 200, body: "1")]), Diary())
        let client = try makeClient(transport, middleware: [diary, diary, diary])
        let _: Int = try await client.get("/a", context: "user_me")
        #expect(diary.text == ["out start", "out start+", "out start++", "back start++", "back start+", "back start"])
        #expect(transport.sent.first?.request.headerFields[.via] == "start+++")
        #expect(diary.contexts.map(\.name) == ["user_me", "user_me", "user_me"])
        let endpoint = Endpoint(.get, "/a")
        #expect(diary.contexts.map(\.endpoint) == [endpoint, endpoint, endpoint])
    }

    @Test("A middleware may return a response without sending a request")
    func shortcut() async throws {
        let (transport, diary) = (ScriptedTransport([]), Diary())
        let stub = ClosureMiddleware { _, _, _ in (HTTPResponse(status: .ok), ResponseBody(Array("7".utf8))) }
        let number: Int = try await makeClient(transport, middleware: [stub, diary]).get("/a")
        #expect(number == 7)
        #expect(transport.sent.isEmpty && diary.text.isEmpty)
    }

    @Test("A middleware's error ends the call: an API error unchanged, others converted")
    func thrown() async throws {
        let own = APIError(kind: .throttled, code: .throttled, recovery: .wait, context: "own")
        let cases: [(any Error, APIError.Kind)] = [
            (own, .throttled), (CancellationError(), .cancelled), (Odd(), .custom),
            (TransportError(.timeout, message: "x", wasSent: true), .timeout),
        ]
        for (thrown, kind) in cases {
            let client = try makeClient(ScriptedTransport([]), middleware: [ClosureMiddleware { _, _, _ in throw thrown }])
            let error = await failure { let _: Int = try await client.get("/a", context: "c") }
            #expect(error?.kind == kind)
            #expect(error?.context == (kind == .throttled ? "own" : "c"))
        }
    }
}
