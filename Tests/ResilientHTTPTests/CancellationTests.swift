import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    /// Never responds, and ends when it is canceled.
    private struct Silence: HTTPTransport {
        let clock: ManualClock

        func send(
            _ request: HTTPRequest,
            body: RequestBody?,
            timeout: Duration
        ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
            do {
                try await clock.sleep(for: timeout)
            } catch {
                throw TransportError(.cancelled, message: "cancelled", wasSent: true, cause: error)
            }
            throw TransportError(.timeout, message: "timed out", wasSent: true)
        }
    }

    /// Responds at once with a body that starts and never ends, and signals when the body is read.
    private struct Endless: HTTPTransport {
        let status: Int
        let chunks: AsyncThrowingStream<[UInt8], any Error>

        func send(
            _ request: HTTPRequest,
            body: RequestBody?,
            timeout: Duration
        ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
            (HTTPResponse(status: .init(code: status)), ResponseBody(chunks))
        }
    }

    @Test(
        "Cancellation ends a call at once, and a canceled POST has no unknown outcome",
        arguments: ["GET", "POST"]
    )
    func waiting(name: String) async throws {
        let clock = ManualClock()
        let client = try makeClient(Silence(clock: clock))
        let method = try #require(HTTPRequest.Method(name))
        let call = Task { await failure { _ = try await client.send(method, "/a") } }
        await clock.waitForSleepers()
        call.cancel()
        let error = await call.value
        #expect(error?.kind == .cancelled && error?.code == .cancelled && error?.isRetryable == false)
        #expect(clock.sleeperCount == 0, "nothing is left behind")
    }

    @Test("The transport receives the call's time limit")
    func timeout() async throws {
        let clock = ManualClock()
        let client = try makeClient(Silence(clock: clock))
        let call = Task { await failure { _ = try await client.send(.get, "/a") } }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        #expect(await call.value?.kind == .timeout)
    }

    @Test("Never returns a partly read body of a canceled call as complete", arguments: [200, 500])
    func reading(status: Int) async throws {
        let (chunks, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let (started, signal) = AsyncStream<Void>.makeStream()
        continuation.onTermination = { _ in signal.finish() }
        continuation.yield(Array("1".utf8))
        let client = try makeClient(Endless(status: status, chunks: chunks))
        let call = Task { await failure { let _: Int = try await client.get("/a") } }
        call.cancel()
        #expect(await call.value?.kind == .cancelled)
        for await _ in started {}
    }
}
