import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing
import Timekeeping

@Suite("Streaming responses") struct StreamTests {
    private let hello = ScriptedTransport.Step.stream(
        status: 200,
        headers: [.contentLength: "5"],
        chunks: [[104, 101], [108, 108, 111]]
    )

    @Test("Returns the head with an unread body, then the chunks as they arrived")
    func chunks() async throws {
        let transport = ScriptedTransport([hello])
        let stream = try await makeClient(transport).stream(.get, "/a")
        #expect(stream.response.status == .ok && stream.length == 5)
        var chunks: [[UInt8]] = []
        for try await chunk in stream { chunks.append(chunk) }
        #expect(chunks == [[104, 101], [108, 108, 111]])
        #expect(transport.sent.first?.request.headerFields[.accept] == "*/*")
    }

    @Test("Returns single bytes, and whole bodies up to a limit")
    func bytes() async throws {
        let api = try makeClient(ScriptedTransport([hello, hello, hello]))
        var bytes: [UInt8] = []
        for try await byte in try await api.stream(.get, "/a").bytes { bytes.append(byte) }
        #expect(bytes == Array("hello".utf8))
        #expect(try await api.stream(.get, "/a").collect(upTo: 5) == Array("hello".utf8))
        let error = await failure { _ = try await api.stream(.get, "/a").collect(upTo: 4) }
        #expect(error?.kind == .decoding)
    }

    @Test("Appends query items to the path of every kind of transfer")
    func query() async throws {
        let fine = ScriptedTransport.Step.response(status: 200, body: "{}")
        let transport = ScriptedTransport([fine, fine, fine, .response(status: 204)])
        let (api, query) = (try makeClient(transport), [URLQueryItem(name: "q", value: "a b")])
        _ = try await api.stream(.get, "/s", query: query)
        _ = try await api.lines("/l?x=1", query: query)
        try await api.upload(.put, "/u", RequestBody([], contentType: "a/b"), query: query)
        for try await _ in api.events("/e", query: query) {}
        #expect(transport.sent.map { $0.request.path ?? "" }.allSatisfy { $0.hasSuffix("q=a%20b") })
        #expect(transport.sent.count == 4)
    }

    @Test("Repeats a call before the first byte of the body")
    func retries() async throws {
        let transport = ScriptedTransport([.response(status: 503, headers: [.retryAfter: "0"]), hello])
        let api = try makeClient(transport, middleware: [RetryMiddleware(RetryPolicy(backoff: Backoff(base: .zero)))])
        #expect(try await api.stream(.get, "/a").collect(upTo: 9).count == 5)
        #expect(transport.sent.count == 2)
    }

    @Test("Decodes the error of a refusal like any call")
    func refusal() async throws {
        let body = Array(#"{"error":{"code":"NOT_FOUND","message":"No such export"}}"#.utf8)
        let api = try makeClient(ScriptedTransport([.stream(status: 404, chunks: [body])]))
        let error = await failure { _ = try await api.stream(.get, "/exports/7") }
        #expect(error?.status == 404 && error?.kind == .notFound)
    }

    @Test("Refreshes the session before the first byte of the body")
    func session() async throws {
        let expired = #"{"error":{"code":"TOKEN_EXPIRED","message":"m"}}"#
        let transport = ScriptedTransport([.response(status: 401, body: expired), hello])
        let session = Session(store: MemoryCredentialStore(Credentials(accessToken: "old", refreshToken: "r"))) { _ in
            Credentials(accessToken: "new", refreshToken: "r")
        }
        let api = try makeClient(transport).authorized(by: session)
        #expect(try await api.stream(.get, "/a").collect(upTo: 9).count == 5)
        #expect(transport.sent.map { $0.request.headerFields[.authorization] } == ["Bearer old", "Bearer new"])
    }

    @Test(
        "Throws the failure of a body with its kind, and does not repeat it",
        arguments: [
            (TransportError.Code.connectionLost, APIError.Kind.network), (.timeout, .timeout),
        ]
    )
    func broken(code: TransportError.Code, kind: APIError.Kind) async throws {
        let end = TransportError(code, message: "m", wasSent: true)
        let transport = ScriptedTransport([.stream(status: 200, headers: [.requestID: "r1"], chunks: [[1]], end: end), hello])
        let api = try makeClient(transport, middleware: [RetryMiddleware()])
        let error = await failure { for try await _ in try await api.stream(.post, "/a") {} }
        #expect(error?.kind == kind && error?.requestID == "r1")
        #expect(transport.sent.count == 1)
    }

    @Test("Shows the failure of a body in the user's language")
    func localized() async throws {
        let lost = TransportError(.connectionLost, message: "m", wasSent: true)
        var texts: Set<String> = []
        for language in [Language.english, .spanish] {
            let transport = ScriptedTransport([.stream(status: 200, chunks: [], end: lost)])
            let api = try makeClient(transport, language: language)
            let error = try #require(await failure { _ = try await api.stream(.get, "/a").collect(upTo: 1) })
            #expect(error.language == language)
            texts.insert(error.localizedDescription)
        }
        #expect(texts.count == 2)
    }

    @Test("Counts the head as a success for breaker and retry budget, whatever the bodies")
    func success() async throws {
        let lost = TransportError(.connectionLost, message: "m", wasSent: true)
        let broken = ScriptedTransport.Step.stream(status: 200, chunks: [[1]], end: lost)
        let steps = Array(repeating: broken, count: 50) + [.response(status: 502), hello]
        let transport = ScriptedTransport(steps)
        let retry = RetryMiddleware(RetryPolicy(backoff: Backoff(base: .zero)))
        let api = try makeClient(transport, middleware: ClientPipeline.standard(retry: retry))
        for _ in 0..<50 {
            let error = await failure { _ = try await api.stream(.get, "/a").collect(upTo: 9) }
            #expect(error?.kind == .network)
        }
        #expect(try await api.stream(.get, "/a").collect(upTo: 9).count == 5)
        #expect(transport.sent.count == 52)
    }

    @Test("Counts the head of a success as the end of the call")
    func record() async throws {
        let events = Mutex<[CallEvent.Kind]>([])
        var api = try makeClient(
            ScriptedTransport([.stream(status: 200, chunks: [], end: TransportError(.timeout, message: "m", wasSent: true))])
        )
        api.listeners = [ClosureListener { event in events.withLock { $0.append(event.kind) } }]
        let stream = try await api.stream(.get, "/a")
        let known = events.withLock(\.count)
        _ = await failure { _ = try await stream.collect(upTo: 1) }
        #expect(known > 0 && events.withLock(\.count) == known)
    }

    @Test("Gives the attempt timeout to the head, and the idle timeout to the transport")
    func times() async throws {
        struct Recorder: HTTPTransport {
            let seen = Times()
            func send(_: HTTPRequest, body _: RequestBody?, timeout _: Duration) async throws(TransportError) -> (
                HTTPResponse, ResponseBody
            ) { throw TransportError(.other, message: "not streamed", wasSent: false) }
            func stream(
                _: HTTPRequest,
                body _: RequestBody?,
                timeout: Duration,
                idleTimeout: Duration
            ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
                seen.value.withLock { $0 = [timeout, idleTimeout] }
                return (HTTPResponse(status: .ok), ResponseBody(Array("{}".utf8)))
            }
        }
        let clock = MonotonicClock(ManualClock())
        let url = try #require(URL(string: "https://api.example.org"))
        func api(_ recorder: Recorder) -> APIClient {
            APIClient(baseURL: url, transport: recorder, middleware: [], environment: ClientEnvironment(clock: clock))
        }
        let stream = Recorder()
        let streaming = api(stream)
        _ = try await streaming.stream(.get, "/a", idleTimeout: .seconds(5))
        #expect(stream.seen.value.withLock { $0 } == [.seconds(10), .seconds(5)])
        let upload = Recorder()
        let empty = RequestBody(length: 0, contentType: "a/b") { AsyncStream<[UInt8]> { $0.finish() } }
        let uploading = api(upload)
        try await uploading.upload(.put, "/a", empty)
        #expect(upload.seen.value.withLock { $0 } == [.seconds(86_400), .seconds(60)])
    }
}

/// The time limits that a transport received.
private final class Times: Sendable {
    let value = Mutex<[Duration]>([])
}
