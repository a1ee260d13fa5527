import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

/// Calls in flight while the refresh endpoint fails, on a manual clock.
@Suite("A failing refresh endpoint", .timeLimit(.minutes(10))) struct RefreshFailureTests {
    /// Advances the clock until the storm is over.
    private func run(_ storm: RefreshStorm, timeout: Duration = .seconds(30)) async throws -> RefreshStorm.Report {
        let clock = ManualClock()
        let server = RefreshServer(storm, clock)
        let url = try #require(URL(string: "https://api.example.org"))
        let chance = Mutex(SplitMix64(seed: UInt64(storm.calls + storm.failures)))
        let environment = ClientEnvironment(
            clock: MonotonicClock(clock),
            chance: { chance.withLock { Double.random(in: 0...1, using: &$0) } }
        )
        let isOver = Counter()
        async let report = {
            let report = await storm.run(url, over: server, timeout: timeout, environment: environment)
            isOver.increment()
            return report
        }()
        while isOver.value == 0, !Task.isCancelled {
            for _ in 0..<500 { await Task.yield() }
            // To the next deadline, but never far: a task that has not run yet would lose this time.
            let next = clock.nextDeadline.map { clock.now.duration(to: $0) } ?? .milliseconds(10)
            clock.advance(by: min(max(next, .milliseconds(10)), .milliseconds(100)))
        }
        return await report
    }

    @Test(
        "One to three failures fail no call, and one refresh is in flight at a time",
        arguments: RefreshStorm.Failure.allCases,
        [20, 200]
    )
    func recovers(failure: RefreshStorm.Failure, calls: Int) async throws {
        for failures in 1...3 {
            let report = try await run(RefreshStorm(failure, failures: failures, calls: calls))
            #expect(report.errors.isEmpty, "\(failures): \(report.errors.first.map { "\($0)" } ?? "")")
            #expect(report.refreshesAtOnce == 1 && report.refreshes >= failures + 1)
        }
    }

    @Test("An outage past the deadlines fails the calls, never with an expired session")
    func outage() async throws {
        let report = try await run(RefreshStorm(.unavailable, failures: 1_000_000, calls: 50), timeout: .seconds(10))
        #expect(report.errors.count == 50)
        #expect(
            Set(report.errors.map(\.kind)).isSubset(of: [.server, .unavailable, .timeout]),
            "\(Set(report.errors.map(\.kind)))"
        )
        #expect(report.errors.allSatisfy { $0.recovery != .signIn })
    }

    @Test("A delay beyond every deadline fails the calls at once with the time")
    func longDelay() async throws {
        let clock = ManualClock()
        let session = Session(
            store: MemoryCredentialStore(.number(1)),
            environment: ClientEnvironment(clock: MonotonicClock(clock)),
            refresh: { _ in
                var decoded = DecodedError(status: 503)
                decoded.retryAfter = .seconds(3_600)
                throw APIError(decoded)
            }
        )
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: TokenServer(valid: "at2"),
            session: session,
            middleware: ClientPipeline.standard(),
            environment: ClientEnvironment(clock: MonotonicClock(clock))
        )
        let error = await failure { _ = try await client.send(.get, "/a") }
        #expect(error?.status == 503 && error?.retryAfter == .seconds(3_600) && error?.recovery != .signIn)
        #expect(try await session.credentials == .number(1))
    }

    @Test("Only successful refreshes count toward five in 30 s")
    func failuresDontCount() async throws {
        let clock = ManualClock()
        let attempts = Counter()
        let session = Session(
            store: MemoryCredentialStore(.number(1)),
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 }),
            refresh: { _ in
                if attempts.increment() <= 10 { throw APIError(DecodedError(status: 500)) }
                return .number(2)
            }
        )
        while attempts.value < 10 {
            await #expect(throws: APIError.self) { try await session.refreshNow() }
            clock.advance(by: .seconds(2))
        }
        clock.advance(by: .seconds(2))
        try await session.refreshNow()
        #expect(try await session.credentials == .number(2))
    }

    @Test("A sixth refresh in 30 s throws an error with the remaining time")
    func limited() async throws {
        let clock = ManualClock()
        let refreshes = Counter()
        let session = Session(
            store: MemoryCredentialStore(.number(1)),
            environment: ClientEnvironment(clock: MonotonicClock(clock)),
            refresh: { _ in .number(1 + refreshes.increment()) }
        )
        for _ in 0..<SessionState.mostRenewals {
            try await session.refreshNow()
            clock.advance(by: .seconds(1))
        }
        let error = await failure { try await session.refreshNow() }
        #expect(error?.kind == .throttled && error?.retryAfter == .seconds(25) && error?.attempts == 0)
        #expect(refreshes.value == SessionState.mostRenewals)
        clock.advance(by: .seconds(25))
        try await session.refreshNow()
        #expect(refreshes.value == SessionState.mostRenewals + 1)
    }

    @Test("A refresh with a lost response is retried with the same refresh token")
    func sameToken() async throws {
        let clock = ManualClock()
        let tokens = Mutex<[String]>([])
        let session = Session(
            store: MemoryCredentialStore(.number(1)),
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 }),
            refresh: { token in
                let count = tokens.withLock { tokens in
                    tokens.append(token)
                    return tokens.count
                }
                guard count == 1 else { return .number(2) }
                throw APIError(TransportError(.connectionLost, message: "", wasSent: true), isSafeToRepeat: false)
            }
        )
        _ = try await session.credentials
        let isOver = Counter()
        async let refresh: Void = {
            defer { isOver.increment() }
            try await session.refreshNow(timeout: .seconds(30))
        }()
        while isOver.value == 0, !Task.isCancelled {
            // Ends the delay between the attempts, and no deadline: the deadlines are seconds later.
            let next = clock.nextDeadline.map { clock.now.duration(to: $0) }
            if let next, next < .seconds(1) { clock.advance(by: next) }
            await Task.yield()
        }
        try await refresh
        #expect(tokens.withLock(\.self) == ["rt1", "rt1"])
    }
}

/// A server in memory whose refresh endpoint fails a few times.
private final class RefreshServer: HTTPTransport {
    private let storm: RefreshStorm
    private let clock: ManualClock
    private let left: Mutex<Int>

    init(_ storm: RefreshStorm, _ clock: ManualClock) {
        (self.storm, self.clock) = (storm, clock)
        left = Mutex(storm.failures)
    }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        do {
            try await clock.sleep(for: .milliseconds(20))
        } catch {
            throw TransportError(.cancelled, message: "", wasSent: true)
        }
        guard request.method == .post else {
            let isFresh = request.headerFields[.authorization] == "Bearer \(RefreshStorm.freshToken)"
            return (HTTPResponse(status: isFresh ? .ok : .unauthorized), ResponseBody())
        }
        let fails = left.withLock { left in
            left -= 1
            return left >= 0
        }
        let success = ResponseBody(Array(#"{"token":"\#(RefreshStorm.freshToken)"}"#.utf8))
        guard fails else { return (HTTPResponse(status: .ok), success) }
        switch storm.failure {
        case .unavailable: return (HTTPResponse(status: .serviceUnavailable), ResponseBody())
        case .unavailableWithDelay:
            return (HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "2"]), ResponseBody())
        case .limited: return (HTTPResponse(status: .tooManyRequests), ResponseBody())
        case .limitedWithDelay:
            return (HTTPResponse(status: .tooManyRequests, headerFields: [.retryAfter: "2"]), ResponseBody())
        case .serverError: return (HTTPResponse(status: .internalServerError), ResponseBody())
        case .resetBeforeResponse: throw TransportError(.connectionLost, message: "reset", wasSent: true)
        case .resetWithinBody:
            let (chunks, ending) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
            ending.yield([UInt8(ascii: "{")])
            ending.finish(throwing: TransportError(.connectionLost, message: "reset", wasSent: true))
            return (HTTPResponse(status: .ok), ResponseBody(chunks))
        case .hang:
            do { try await clock.sleep(for: timeout) } catch { throw TransportError(.cancelled, message: "", wasSent: true) }
            throw TransportError(.timeout, message: "", wasSent: true)
        }
    }
}
