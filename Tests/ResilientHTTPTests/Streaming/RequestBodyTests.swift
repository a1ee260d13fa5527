import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@Suite("Bodies of requests") struct RequestBodyTests {
    private func chunks(_ chunks: [[UInt8]]) -> AsyncStream<[UInt8]> {
        AsyncStream { stream in
            for chunk in chunks { stream.yield(chunk) }
            stream.finish()
        }
    }

    private func retrying(_ transport: ScriptedTransport) throws -> APIClient {
        try makeClient(transport, middleware: [RetryMiddleware(RetryPolicy(backoff: Backoff(base: .zero)))])
    }

    @Test("A retry sends a file or a repeatable sequence again")
    func replayable() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try Data(repeating: 7, count: 200_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let sequence = RequestBody(contentType: "a/b") { chunks([[1, 2], [3]]) }
        for (body, bytes) in [(RequestBody(file: file), [UInt8](repeating: 7, count: 200_000)), (sequence, [1, 2, 3])] {
            let transport = ScriptedTransport([.response(status: 502), .response(status: 200, body: "{}")])
            try await retrying(transport).upload(.put, "/a", body)
            #expect(transport.sent.map(\.body) == [bytes, bytes])
        }
    }

    @Test("A sequence that can be read once is never sent again")
    func oneShot() async throws {
        let transport = ScriptedTransport([.response(status: 502), .response(status: 200, body: "{}")])
        let body = RequestBody(oneShot: chunks([[1]]), contentType: "a/b")
        let error = await failure { try await retrying(transport).upload(.put, "/a", body) }
        #expect(error?.status == 502 && transport.sent.count == 1)
    }

    @Test("The progress of a retry starts again at 0 and ends at the length")
    func progress() async throws {
        let transport = ScriptedTransport([.response(status: 502), .response(status: 200, body: "{}")])
        let seen = Mutex<[TransferProgress]>([])
        let body = RequestBody([UInt8](repeating: 1, count: 100_000), contentType: "a/b")
        try await retrying(transport).upload(.put, "/a", body) { progress in seen.withLock { $0.append(progress) } }
        let steps = seen.withLock(\.self)
        #expect(steps.map(\.completed) == [65_536, 100_000, 65_536, 100_000] && steps.allSatisfy { $0.total == 100_000 })
        #expect(TransferProgress(completed: 1, total: 4).fraction == 0.25 && TransferProgress(completed: 1).fraction == nil)
    }

    @Test("A body of another length than announced fails as an invalid request", arguments: [2, 4] as [Int64])
    func length(announced: Int64) async throws {
        let transport = ScriptedTransport([.response(status: 200)])
        let body = RequestBody(length: announced, contentType: "a/b") { chunks([[1, 2, 3]]) }
        let error = await failure { try await makeClient(transport).upload(.post, "/a", body) }
        #expect(error?.kind == .invalidRequest && transport.sent.isEmpty)
    }

    @Test("An upload returns the value of the response")
    func value() async throws {
        let transport = ScriptedTransport([.response(status: 201, body: #"{"id":7,"name":"photo"}"#)])
        let activity: Activity = try await makeClient(transport).upload(.post, "/a", RequestBody([1], contentType: "image/png"))
        #expect(activity == Activity(id: 7, name: "photo"))
        #expect(transport.sent.first?.request.headerFields[.contentType] == "image/png")
    }

    @Test("The error of a failing stream is the cause of the call's error")
    func cause() async throws {
        struct Broken: Error {}
        let body = RequestBody(.stream(length: nil) { _ in throw Broken() }, contentType: "a/b")
        let error = await failure { try await makeClient(ScriptedTransport([])).upload(.post, "/a", body) }
        #expect((error?.underlying as? TransportError)?.cause is Broken)
    }
}
