import ErrorContract
import HTTPTypes
import HoldfastTesting
import Hummingbird
import ServerMiddleware
import StrictJSON
import Testing

@Suite struct RequestReaderTests {
    private struct Input: Decodable, Equatable {
        var name: String
    }

    private func code(_ request: Request, reader: RequestReader = RequestReader()) async -> ErrorCode? {
        do {
            _ = try await reader.read(Input.self, from: request)
            return nil
        } catch {
            return (error as? ContractError)?.code
        }
    }

    @Test(
        "Reads JSON and forms, whatever their content type's case and parameters",
        arguments: [
            "application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON",
            " application/json ", "application/json ; q=1; x=\"a;b\"", "\tAPPLICATION / JSON\t;",
        ]
    )
    func json(type: String) async throws {
        #expect(try await RequestReader().read(Input.self, from: .post(#"{"name":"Ana"}"#, type: type)) == Input(name: "Ana"))
    }

    @Test(
        "Reads forms, whatever their content type's case and parameters",
        arguments: ["application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-8"]
    )
    func form(type: String) async throws {
        #expect(try await RequestReader().read(Input.self, from: .post("name=Ana", type: type)) == Input(name: "Ana"))
    }

    @Test(
        "Refuses any other or missing content type",
        arguments: [
            nil, "", ";", "text/plain", "text/json", "application/problem+json", "application/jsonp", "application/jso",
            "application/js\u{F6}n", "application\u{0F}json",
            "multipart/form-data; boundary=x",
            "application/xml", "*/*", "json", "application/json, text/plain",
        ] as [String?]
    )
    func otherTypes(type: String?) async {
        #expect(await code(.post(#"{"name":"Ana"}"#, type: type)) == .requestUnsupportedMediaType)
    }

    @Test("Refuses a body with a too large Content-Length before reading it")
    func tooLargeByHeader() async {
        let unread = AsyncThrowingStream<ByteBuffer, any Error> { throw CancellationError() }
        for length in ["65537", "9223372036854775807"] {
            let headers: HTTPFields = [.contentType: "application/json", .contentLength: length]
            let request = Request.make(.post, headers: headers, body: RequestBody(asyncSequence: unread))
            #expect(await code(request) == .requestTooLarge)
        }
    }

    @Test(
        "Refuses a body that turns out to be too large, whatever its header",
        arguments: [nil, "3", "abc", "-1"] as [String?]
    )
    func tooLargeByStream(length: String?) async {
        let endless = AsyncStream<ByteBuffer> { ByteBuffer(repeating: 0x20, count: 1_000) }
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.contentLength] = length
        let request = Request.make(.post, headers: headers, body: RequestBody(asyncSequence: endless))
        #expect(await code(request) == .requestTooLarge)
    }

    @Test("Reads a body of exactly the largest size")
    func largest() async throws {
        let reader = RequestReader(maximumBodySize: 100)
        let json = #"{"name":""# + String(repeating: "x", count: 89) + #""}"#
        #expect(json.utf8.count == 100)
        #expect(await code(.post(json), reader: reader) == nil)
        #expect(await code(.post(json + " "), reader: reader) == .requestTooLarge)
    }

    @Test("Joins a body that arrives in pieces, also within a character")
    func pieces() async throws {
        let bytes = Array(#"{"name":"ñandú 🐦"}"#.utf8)
        let stream = AsyncStream<ByteBuffer> { continuation in
            for byte in bytes { continuation.yield(ByteBuffer(bytes: [byte])) }
            continuation.finish()
        }
        let request = Request.make(
            .post,
            headers: [.contentType: "application/json"],
            body: RequestBody(asyncSequence: stream)
        )
        #expect(try await RequestReader().read(Input.self, from: request).name == "ñandú 🐦")
    }

    @Test(
        "Refuses invalid JSON as malformed",
        arguments: [
            "", " ", "{", "}", "nul", "{name:1}", "{'name':'x'}", #"{"name":"x",}"#, #"{"name":"x"} x"#,
            #"{"name":"a"}{"name":"b"}"#,
            "\u{FEFF}{}", #"{"name":"\ud800"}"#, #"{"name":"\x"}"#, "[01]", "[1.]", "[+1]", "[NaN]", "[1e999]",
            "{\"name\":\"a\nb\"}",
            #"{"name":"a","name":"b"}"#, #"{"name":"a","n\u0061me":"b"}"#, #"{"name":"a","x":{"y":1,"y":2}}"#,
            String(repeating: "[", count: 33) + String(repeating: "]", count: 33), String(repeating: "[", count: 60_000),
        ]
    )
    func malformed(body: String) async {
        #expect(await code(.post(body)) == .requestMalformed)
    }

    @Test(
        "Refuses JSON that is not UTF-8 as malformed",
        arguments: [[0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]]
    )
    func notUTF8(bytes: [UInt8]) async {
        let body = Array(#"{"name":""#.utf8) + bytes + Array(#""}"#.utf8)
        #expect(await code(.post(body)) == .requestMalformed)
    }

    @Test("Refuses JSON in UTF-16 as malformed")
    func utf16() async {
        let units = Array(#"{"name":"x"}"#.utf16)
        #expect(await code(.post(units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })) == .requestMalformed)
    }

    @Test("A broken connection is a malformed request, not a failure of the server")
    func brokenStream() async {
        struct Broken: Error {}
        let stream = AsyncThrowingStream<ByteBuffer, any Error> { throw Broken() }
        let request = Request.make(
            .post,
            headers: [.contentType: "application/json"],
            body: RequestBody(asyncSequence: stream)
        )
        await #expect { try await RequestReader().read(Input.self, from: request) } throws: { error in
            (error as? ContractError)?.code == .requestMalformed
        }
    }

    @Test("Refuses a body that does not arrive completely in time as too slow")
    func slowBody() async throws {
        let (stream, body) = AsyncStream<ByteBuffer>.makeStream()
        body.yield(ByteBuffer(string: "{"))
        let request = Request.make(
            .post,
            headers: [.contentType: "application/json"],
            body: RequestBody(asyncSequence: stream)
        )
        let clock = ManualClock()
        let reader = RequestReader(clock: clock)
        async let refusal = #expect(throws: ContractError.self) { try await reader.read(Input.self, from: request) }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(15))
        let error = try #require(await refusal)
        #expect(error.code == .requestTimeout)
        #expect(error.headers[.connection] == "close")
        body.finish()
    }

    @Test("In a route with a deadline, a body that is too slow ends the route with 408")
    func slowBodyOfRoute() async throws {
        let (stream, body) = AsyncStream<ByteBuffer>.makeStream()
        body.yield(ByteBuffer(string: "{"))
        let (routeClock, bodyClock) = (ManualClock(), ManualClock())
        let reader = RequestReader(clock: bodyClock)
        let router = ContractRouter(context: MemoryContext.self, deadline: RequestDeadline(.seconds(30), clock: routeClock))
        // The error passes through the group's middleware like any other error of the route.
        router.group().add(middleware: ErrorFormMiddleware(.flat)).post("/") { request, _ in
            _ = try await reader.read(Input.self, from: request)
            return Response(status: .ok)
        }
        let request = Request.make(
            .post,
            headers: [.contentType: "application/json"],
            body: RequestBody(asyncSequence: stream)
        )
        let responder = router.buildResponder()
        async let pending = responder.respond(to: request, context: .make())
        await bodyClock.waitForSleepers()
        bodyClock.advance(by: .seconds(15))
        let response = try await CollectedResponse(try await pending)
        #expect(response.status == .requestTimeout)
        #expect(response.headers[.connection] == "close")
        #expect(try response.json.objectValue?["code"] == "REQUEST_TIMEOUT")
        body.finish()
    }

    @Test("A body that arrives in time does not use the route's time")
    func bodyInTime() async throws {
        let clock = ManualClock()
        let reader = RequestReader(clock: clock)
        let router = ContractRouter(context: MemoryContext.self, deadline: RequestDeadline(.seconds(30), clock: clock))
        router.post("/") { request, _ in
            let input = try await reader.read(Input.self, from: request)
            clock.advance(by: .seconds(20))
            return Response(status: Task.isCancelled || input.name != "Ana" ? .internalServerError : .ok)
        }
        let responder = router.buildResponder()
        #expect(try await responder.respond(to: .post(#"{"name":"Ana"}"#), context: .make()).status == .ok)
    }
}
