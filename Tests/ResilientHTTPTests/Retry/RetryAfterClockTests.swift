import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Testing
import Timekeeping

@testable import ResilientHTTP

/// Whole calls to a server that names a delay, on a clock that jumps from deadline to deadline. Nothing is sent early, and no
/// call sleeps
/// past its deadline.
@Suite("Retry-After on a manual clock") struct RetryAfterClockTests {
    /// 2025-11-04T10:30:00Z
    private static let start = Date(timeIntervalSince1970: 1_762_252_200)

    /// The notation of the delay.
    enum Wording: CaseIterable, Sendable {
        case seconds, date, dateOfRFC850, dateOfC, dateWithoutDate, body

        func step(_ delay: Int, at now: Duration) -> ScriptedTransport.Step {
            let moment = 1_762_252_200 + now.components.seconds
            let end = moment + Int64(delay)
            let date = HTTPDateText.text(moment)
            return switch self {
            case .seconds: .response(status: 503, headers: [.retryAfter: "\(delay)"])
            case .date: .response(status: 503, headers: [.date: date, .retryAfter: HTTPDateText.text(end)])
            case .dateOfRFC850: .response(status: 503, headers: [.date: date, .retryAfter: HTTPDateText.text(end, in: .rfc850)])
            case .dateOfC: .response(status: 503, headers: [.date: date, .retryAfter: HTTPDateText.text(end, in: .asctime)])
            case .dateWithoutDate: .response(status: 503, headers: [.retryAfter: HTTPDateText.text(end)])
            case .body:
                .response(
                    status: 503,
                    body: #"{"error":{"code":"SERVER_SERVICE_UNAVAILABLE","details":{"retry_after":\#(delay)}}}"#
                )
            }
        }
    }

    /// The course of one call.
    private struct Story {
        var instants: [Duration]
        var end: Duration
        var outcome: Outcome<HTTPResponse>
        var sleepers: Int
    }

    /// Makes one call to a server that names a delay once and then succeeds.
    private func story(
        _ step: ScriptedTransport.Step,
        timeout: Duration,
        chance: Double,
        middleware: [any ClientMiddleware]
    ) throws -> Story {
        let (clock, executor) = (ManualClock(), SteppedExecutor())
        let transport = RecordingTransport(clock, [step] + Array(repeating: .response(status: 200), count: 9))
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            timeout: timeout,
            middleware: middleware,
            environment: ClientEnvironment(
                clock: MonotonicClock(clock),
                wallClock: { Self.start.addingTimeInterval(clock.now.offset / .seconds(1)) },
                chance: { chance }
            )
        )
        let outcome = Outcome<HTTPResponse>(on: executor) { try await client.send(.get, "/a").response }
        executor.run(clock, until: .seconds(1_000_000))
        return Story(instants: transport.instants, end: clock.now.offset, outcome: outcome, sleepers: clock.sleeperCount)
    }

    /// Checks the rules for every story.
    private func expect(
        _ story: Story,
        told: Duration,
        timeout: Duration,
        _ comment: Comment
    ) {
        #expect(story.outcome.isOver && story.sleepers == 0, comment)
        #expect(story.end < timeout, comment)
        #expect(story.instants.first == .zero && story.instants.count <= 2, comment)
        if let second = story.instants.dropFirst().first {
            #expect(second >= told && told <= .seconds(60), comment)
            #expect(story.outcome.error == nil, comment)
        } else {
            // The call does not sleep at all: it fails at once with the time.
            #expect(story.end == .zero || told == .zero, comment)
            #expect(story.outcome.error?.retryAfter == told, comment)
            #expect(story.outcome.error?.retryAt == Self.start.addingTimeInterval(told / .seconds(1)), comment)
        }
    }

    @Test(
        "Waits the full delay if minute and deadline allow it, else ends at once",
        arguments: [0, 1, 59, 61, 3_600],
        Wording.allCases
    )
    func grid(seconds: Int, wording: Wording) throws {
        let told = Duration.seconds(seconds)
        for difference in [-1_000_000_000, -1, 0, 1, 1_000_000_000, 500_000_000_000] {
            let timeout = told + .nanoseconds(difference)
            guard timeout > .zero else { continue }
            for chance in [0, 0.5, 1] {
                let story = try story(
                    wording.step(seconds, at: .zero),
                    timeout: timeout,
                    chance: chance,
                    middleware: [RetryMiddleware()]
                )
                expect(story, told: told, timeout: timeout, "\(timeout), \(chance)")
                // The largest random extension of the delays.
                let longest = max(.seconds(1) * chance, told) + told * (0.1 * chance)
                let isRepeated = told <= .seconds(60) && longest < timeout
                #expect(story.instants.count == (isRepeated ? 2 : 1), "\(timeout), \(chance)")
            }
        }
    }

    /// The number of random cases, which `HOLDFAST_ROUNDS` can raise.
    private static let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 10_000

    @Test("In random cases nothing is sent early, and no caller sleeps past its deadline")
    func random() throws {
        var random = SplitMix64(seed: 20)
        var (repeated, refused) = (0, 0)
        for round in 0..<Self.rounds {
            let seconds = Int.random(in: 0...(Bool.random(using: &random) ? 65 : 5_000), using: &random)
            let wording = Wording.allCases[Int.random(in: 0..<Wording.allCases.count, using: &random)]
            let timeout = Duration.milliseconds(
                Int.random(in: 1...(Bool.random(using: &random) ? 70_000 : 6_000_000), using: &random)
            )
            let story = try story(
                wording.step(seconds, at: .zero),
                timeout: timeout,
                chance: Double.random(in: 0...1, using: &random),
                middleware: Bool.random(using: &random) ? [RetryMiddleware()] : ClientPipeline.standard(gate: nil)
            )
            expect(story, told: .seconds(seconds), timeout: timeout, "round \(round)")
            if story.instants.count == 2 { repeated += 1 } else { refused += 1 }
        }
        #expect(repeated > Self.rounds / 10 && refused > Self.rounds / 10)
    }

    @Test("The default pipeline's gate sends nothing early and respects the deadline")
    func gate() throws {
        var random = SplitMix64(seed: 21)
        var repeated = 0
        for round in 0..<Self.rounds / 10 {
            let seconds = Int.random(in: 0...65, using: &random)
            let timeout = Duration.milliseconds(Int.random(in: 1...200_000, using: &random))
            let story = try story(
                Wording.seconds.step(seconds, at: .zero),
                timeout: timeout,
                chance: Double.random(in: 0...1, using: &random),
                middleware: ClientPipeline.standard()
            )
            #expect(story.outcome.isOver && story.sleepers == 0 && story.end < timeout, "round \(round)")
            guard let second = story.instants.dropFirst().first else { continue }
            repeated += 1
            #expect(second >= .seconds(seconds), "round \(round)")
        }
        #expect(repeated > Self.rounds / 50)
    }
}
