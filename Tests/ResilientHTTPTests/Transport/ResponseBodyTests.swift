import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@Suite struct ResponseBodyTests {
    private func body(_ chunks: [[UInt8]], failing error: TransportError? = nil) -> ResponseBody {
        let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        for chunk in chunks { continuation.yield(chunk) }
        continuation.finish(throwing: error)
        return ResponseBody(stream)
    }

    /// Returns a transport that responds with a fixed body.
    private func fixed(status: Int, headers: HTTPFields = [:], body: ResponseBody) -> ClosureTransport {
        ClosureTransport { _, _, _ in (HTTPResponse(status: .init(code: status), headerFields: headers), body) }
    }

    @Test("Reads the chunks of a function until it returns nil")
    func pulled() async throws {
        let body = pulledBody([[1, 2], [3]])
        var read: [[UInt8]] = []
        for try await chunk in body { read.append(chunk) }
        #expect(read == [[1, 2], [3]])
        #expect(try await pulledBody([[1, 2], [3]]).collect(upTo: 3).bytes == [1, 2, 3])
        #expect(try await pulledBody([[1, 2], [3]]).collect(upTo: 2) == ([1, 2], true))
        #expect(try await pulledBody([[1, 2]]).collect(upTo: 1) == ([1], true))
    }

    @Test("Reads no bytes for a negative limit")
    func negativeLimit() async throws {
        #expect(try await pulledBody([[1, 2]]).collect(upTo: -1) == ([], true))
        #expect(try await ResponseBody([1, 2]).collect(upTo: .min) == ([], true))
        #expect(try await ResponseBody().collect(upTo: -1) == ([], false))
    }

    @Test("Throws the error of the function for the next chunk")
    func pulledError() async {
        let body = ResponseBody { throw TransportError(.connectionLost, message: "reset", wasSent: true) }
        await #expect { try await body.collect(upTo: 9) } throws: { ($0 as? TransportError)?.code == .connectionLost }
    }

    private func pulledBody(_ chunks: [[UInt8]]) -> ResponseBody {
        let rest = Mutex(chunks[...])
        return ResponseBody { rest.withLock { $0.popFirst() } }
    }

    @Test(
        "Reads a body up to the limit, and reports a longer one as truncated",
        arguments: [(5, 5, false), (6, 5, false), (4, 4, true), (3, 3, true), (2, 2, true), (0, 0, true)]
    )
    func collect(limit: Int, count: Int, isTruncated: Bool) async throws {
        let collected = try await body([[1, 2], [], [3, 4, 5]]).collect(upTo: limit)
        #expect(collected.bytes == Array([1, 2, 3, 4, 5].prefix(count)))
        #expect(collected.isTruncated == isTruncated)
    }

    @Test("Reads a body that is already complete like any other")
    func ready() async throws {
        #expect(try await ResponseBody().collect(upTo: 0).bytes.isEmpty)
        #expect(try await ResponseBody([1, 2]).collect(upTo: 9).bytes == [1, 2])
        #expect(try await ResponseBody([1, 2]).collect(upTo: 1).isTruncated)
    }

    @Test("Throws the error of a stream")
    func failing() async {
        let lost = TransportError(.connectionLost, message: "x", wasSent: true)
        await #expect(throws: TransportError.self) { try await body([[1]], failing: lost).collect(upTo: 9) }
    }

    @Test("Refuses a success larger than the client's limit")
    func tooLarge() async throws {
        let chunk = [UInt8](repeating: UInt8(ascii: " "), count: 1_000)
        var client = try makeClient(fixed(status: 200, body: body(Array(repeating: chunk, count: 9) + [Array("1".utf8)])))
        client.maximumBodySize = 9_000
        let error = await failure { let _: Int = try await client.get("/a") }
        #expect(error?.kind == .decoding && error?.status == 200)
    }

    @Test("Reads a success as large as the client's limit")
    func largest() async throws {
        let chunk = [UInt8](repeating: UInt8(ascii: " "), count: 1_000)
        var client = try makeClient(fixed(status: 200, body: body(Array(repeating: chunk, count: 9) + [Array("1".utf8)])))
        client.maximumBodySize = 9_001
        let number: Int = try await client.get("/a")
        #expect(number == 1)
    }

    @Test("Reads at most 64 KiB of an error, and uses its status and headers")
    func largeError() async throws {
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
        let transport = fixed(status: 503, headers: [.errorCode: "SERVER_MAINTENANCE"], body: body([chunk, chunk, chunk]))
        let client = try makeClient(transport)
        let error = await failure { let _: Int = try await client.get("/a") }
        #expect(error?.code == .serverMaintenance && error?.kind == .server)
    }

    @Test("A broken body fails a success, and does not hide the status of an error")
    func broken() async throws {
        let lost = TransportError(.connectionLost, message: "x", wasSent: true)
        let success = try makeClient(fixed(status: 200, body: body([[49]], failing: lost)))
        let read = await failure { let _: Int = try await success.get("/a") }
        #expect(read?.kind == .network)
        let created = try makeClient(fixed(status: 201, body: body([[49]], failing: lost)))
        let posted = await failure { let _: Int = try await created.post("/a", 1) }
        #expect(posted?.kind == .unknownOutcome)
        let transport = fixed(status: 429, headers: [.retryAfter: "30"], body: body([[123]], failing: lost))
        let limited = try makeClient(transport)
        let refused = await failure { let _: Int = try await limited.post("/a", 1) }
        #expect(refused?.kind == .rateLimited && refused?.retryAfter == .seconds(30))
    }
}
