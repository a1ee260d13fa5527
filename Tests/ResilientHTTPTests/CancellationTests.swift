import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    /// Returns a transport that never responds, and ends when it is canceled.
    private func silence(_ clock: ManualClock) -> ClosureTransport {
        ClosureTransport { _, _, timeout in
            try await clock.sleep(for: timeout)
            throw TransportError(.timeout, message: "timed out", wasSent: true)
        }
    }

    @Test(
        "Cancellation ends a call at once, and a canceled POST has no unknown outcome",
        arguments: ["GET", "POST"]
    )
    func waiting(name: String) async throws {
        let clock = ManualClock()
        let client = try makeClient(silence(clock))
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
        let client = try makeClient(silence(clock))
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
        // Responds at once with a body that starts and never ends.
        let endless = ClosureTransport { _, _, _ in (HTTPResponse(status: .init(code: status)), ResponseBody(chunks)) }
        let client = try makeClient(endless)
        let call = Task { await failure { let _: Int = try await client.get("/a") } }
        call.cancel()
        #expect(await call.value?.kind == .cancelled)
        for await _ in started {}
    }
}
