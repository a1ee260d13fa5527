import ErrorContract
import HoldfastTesting
import Testing

@testable import ResilientHTTP

@Suite struct RetryPolicyTests {
    private func error(_ status: Int, code: ErrorCode? = nil, retryAfter: Duration? = nil) -> APIError {
        var response = DecodedError(status: status)
        response.code = code
        response.retryAfter = retryAfter
        return APIError(response)
    }

    private func decide(
        _ error: APIError,
        retries: Int = 0,
        isSafe: Bool = true,
        timeLeft: Duration = .seconds(10_000),
        policy: RetryPolicy = RetryPolicy(),
        chance: Double = 0.5
    ) -> RetryDecision {
        policy.decide(
            FailedAttempt(error: error, retries: retries, isSafeToRepeat: isSafe, timeLeft: timeLeft),
            chance: { chance }
        )
    }

    @Test(
        "The delay is full jitter under a doubling ceiling",
        arguments: [(0, 1.0), (1, 2.0), (2, 4.0), (5, 32.0), (6, 60.0), (7, 60.0), (1_000, 60.0), (Int.max, 60.0)]
    )
    func ceiling(retry: Int, seconds: Double) {
        let backoff = Backoff()
        #expect(backoff.pause(beforeRetry: retry, chance: 1) == .seconds(seconds))
        #expect(backoff.pause(beforeRetry: retry, chance: 0) == .zero)
        #expect(backoff.pause(beforeRetry: retry, chance: 0.5) == .seconds(seconds / 2))
    }

    @Test("A factor of 1 and a base above the cap have delays, too")
    func oddBackoffs() {
        #expect(Backoff(base: .seconds(3), factor: 1).pause(beforeRetry: 9, chance: 1) == .seconds(3))
        #expect(Backoff(base: .seconds(90)).pause(beforeRetry: 0, chance: 1) == .seconds(60))
        #expect(Backoff(base: .zero).pause(beforeRetry: 9, chance: 1) == .zero)
    }

    /// The delay named by the server in seconds, the seconds until the deadline, and the expected delay, if any.
    private static let delays: [(Int, Double, Double?)] = [
        (0, 30, 0.5), (1, 30, 1.05), (59, 120, 61.95), (59, 59, nil), (60, 120, 63), (61, 120, nil), (3_600, 10_000, nil),
        (3_600, 30, nil), (1, 0.9, nil),
    ]

    @Test(
        "Waits a named delay in full if policy and deadline allow it, else ends at once",
        arguments: Self.delays
    )
    func retryAfter(seconds: Int, timeLeft: Double, wait: Double?) {
        let failure = error(429, code: .rateLimitExceeded, retryAfter: .seconds(seconds))
        let decision = decide(failure, timeLeft: .seconds(timeLeft))
        guard let wait else {
            #expect(decision == .abandon(seconds > 60 ? .waitTooLong : .deadline))
            return
        }
        guard case .wait(let chosen, let reason) = decision else {
            Issue.record("not waited: \(decision)")
            return
        }
        #expect(abs((chosen - .seconds(wait)) / .seconds(1)) < 0.001)
        #expect(reason == (seconds == 0 ? .backoff : .retryAfter))
    }

    @Test("Jitter never decides whether a delay is too long")
    func capBeforeJitter() {
        for chance in [0, 0.5, 1] {
            #expect(decide(error(503, retryAfter: .seconds(61)), chance: chance) == .abandon(.waitTooLong))
            guard case .wait = decide(error(503, retryAfter: .seconds(60)), chance: chance) else {
                Issue.record("60 s is not too long")
                continue
            }
        }
    }

    @Test("The code decides what may be retried, never only the status")
    func byCode() {
        let cases: [(Int, ErrorCode?, Bool)] = [
            (500, nil, true), (503, nil, true), (408, nil, true), (429, nil, true), (404, nil, false), (400, nil, false),
            (401, nil, false), (401, .apiKeyInvalid, false), (500, .socialPublishFailed, false), (503, .serverMaintenance, false),
            (429, .rateLimitQuotaExceeded, false), (409, .requestConflict, true), (503, .serverServiceUnavailable, true),
        ]
        for (status, code, isRetried) in cases {
            let decision = decide(error(status, code: code))
            #expect((decision != .abandon(.notRetryable)) == isRetried, "\(status) \(code?.rawValue ?? "-")")
        }
        guard case .wait = decide(error(503, code: .serverMaintenance, retryAfter: .seconds(5))) else {
            Issue.record("maintenance with a delay that fits is repeated")
            return
        }
    }

    @Test("Retries an unsafe request only if it certainly was not sent")
    func unsafe() {
        #expect(decide(error(503), isSafe: false) == .abandon(.notSafe))
        let unsent = APIError(TransportError(.unreachable, message: "", wasSent: false), isSafeToRepeat: false)
        guard case .wait = decide(unsent, isSafe: false) else {
            Issue.record("a request that never left is repeated")
            return
        }
        let lost = APIError(TransportError(.connectionLost, message: "", wasSent: true), isSafeToRepeat: false)
        #expect(lost.kind == .unknownOutcome)
        #expect(decide(lost, isSafe: false) == .abandon(.notSafe))
    }

    @Test("Trap: no delay is below the named one, over the maximum or past the deadline")
    func random() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<10_000 {
            let told = Duration.milliseconds(Int.random(in: 0...90_000, using: &random))
            let timeLeft = Duration.milliseconds(Int.random(in: 0...120_000, using: &random))
            let policy = RetryPolicy(
                maximumRetries: Int.random(in: 0...5, using: &random),
                backoff: Backoff(base: .milliseconds(Int.random(in: 0...5_000, using: &random)), cap: .seconds(20)),
                longestWait: .seconds(Int.random(in: 0...60, using: &random)),
                stretch: Double.random(in: 0...1, using: &random)
            )
            let retries = Int.random(in: 0...5, using: &random)
            let chance = Double.random(in: 0...1, using: &random)
            let hasDelay = Bool.random(using: &random)
            let failure = error(503, retryAfter: hasDelay ? told : nil)
            let decision = decide(failure, retries: retries, timeLeft: timeLeft, policy: policy, chance: chance)
            guard case .wait(let wait, _) = decision else { continue }
            #expect(wait < timeLeft && retries < policy.maximumRetries)
            if hasDelay { #expect(wait >= told && told <= policy.longestWait) }
            #expect(wait <= max(.seconds(20), told) + told * policy.stretch)
        }
    }
}
