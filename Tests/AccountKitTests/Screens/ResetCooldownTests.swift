import AccountKit
import ErrorContract
import HoldfastTesting
import Testing

@MainActor
@Suite("Cooldown of the reset button", .timeLimit(.minutes(10)))
struct ResetCooldownTests {
    private static let requested = ForgotPasswordModel.State.requested(
        message: "If an account exists for this email, you will receive a link to reset your password."
    )

    @Test("The button works until a request is accepted, then is disabled for 60 seconds")
    func start() async throws {
        let script = try ScreenScript([.accepted])
        let model = script.forgot()
        #expect(model.isRequestEnabled)
        #expect(model.cooldownText == nil)
        await model.request()
        #expect(model.secondsLeft == 60)
        #expect(model.isCoolingDown)
        #expect(!model.isRequestEnabled)
        #expect(model.cooldownText == "Please wait 60 seconds before requesting again")
    }

    @Test("The countdown shows each second once, and ends")
    func countdown() async throws {
        let script = try ScreenScript([.accepted])
        let model = script.forgot()
        await model.request()
        let countdown = Task { await model.runCountdown() }
        for left in stride(from: 60, to: 0, by: -1) {
            await script.clock.waitForSleepers()
            #expect(model.secondsLeft == left)
            script.clock.advance(by: .seconds(1))
        }
        await countdown.value
        #expect(model.secondsLeft == 0)
        #expect(model.isRequestEnabled)
        #expect(model.cooldownText == nil)
        #expect(script.clock.sleeperCount == 0)
    }

    @Test("A countdown without a cooldown returns at once")
    func nothingToCount() async throws {
        let script = try ScreenScript()
        await script.forgot().runCountdown()
        #expect(script.clock.sleeperCount == 0)
    }

    @Test("A countdown that starts or wakes late shows the actual remaining time")
    func lateCountdown() async throws {
        let script = try ScreenScript([.accepted])
        let model = script.forgot()
        await model.request()
        script.clock.advance(by: .milliseconds(10_500))
        let countdown = Task { await model.runCountdown() }
        await script.clock.waitForSleepers()
        #expect(model.secondsLeft == 50)
        script.clock.advance(by: .milliseconds(500))
        await script.clock.waitForSleepers()
        #expect(model.secondsLeft == 49)
        script.clock.advance(by: .seconds(3_600))
        await countdown.value
        #expect(model.secondsLeft == 0)
    }

    @Test("A canceled countdown can be resumed, and the time passes meanwhile")
    func cancelledCountdown() async throws {
        let script = try ScreenScript([.accepted])
        let model = script.forgot()
        await model.request()
        let first = Task { await model.runCountdown() }
        await script.clock.waitForSleepers()
        first.cancel()
        await first.value
        #expect(model.secondsLeft == 60)
        script.clock.advance(by: .seconds(30))
        let second = Task { await model.runCountdown() }
        await script.clock.waitForSleepers()
        #expect(model.secondsLeft == 30)
        script.clock.advance(by: .seconds(30))
        await second.value
        #expect(model.isRequestEnabled)
    }

    @Test(
        "A press during the cooldown shows the remaining time and sends nothing",
        arguments: [
            (0, "60 seconds"), (1, "59 seconds"), (45, "15 seconds"), (59, "1 second"),
        ]
    )
    func pressedWhileResting(after seconds: Int, words: String) async throws {
        let script = try ScreenScript([.accepted])
        let model = script.forgot()
        await model.request()
        script.clock.advance(by: .seconds(seconds))
        await model.request()
        let expected = ErrorPresentation(
            title: "Too Many Requests",
            message: "Please wait \(words) before requesting again",
            primary: .dismiss
        )
        #expect(model.state == .failed(expected))
        #expect(script.transport.sent.count == 1)
        model.dismissAlert()
        #expect(model.state == Self.requested)
    }

    @Test("After the cooldown the button works, also if no countdown ran")
    func afterwards() async throws {
        let script = try ScreenScript([.accepted, .accepted])
        let model = script.forgot()
        await model.request()
        script.clock.advance(by: .seconds(60))
        await model.request()
        #expect(model.state == Self.requested)
        #expect(model.secondsLeft == 60)
        #expect(script.transport.sent.count == 2)
    }

    @Test(
        "A refused or lost request starts no cooldown",
        arguments: [
            ScriptedTransport.Step.limited(retryAfter: 3_600), .limited(retryAfter: nil), .broken, .unreachable,
        ]
    )
    func refusedRequest(step: ScriptedTransport.Step) async throws {
        let script = try ScreenScript([step])
        let model = script.forgot()
        await model.request()
        #expect(!model.isCoolingDown)
        #expect(model.isRequestEnabled)
    }

    @Test("The cooldown is independent of the server's limit and ends while it lasts")
    func independentOfTheLimit() async throws {
        let script = try ScreenScript([.accepted, .limited(retryAfter: 3_600)])
        let model = script.forgot()
        await model.request()
        script.clock.advance(by: .seconds(60))
        await model.request()
        #expect(model.alert?.title == "Too many attempts")
        #expect(!model.isCoolingDown)
        model.dismissAlert()
        #expect(model.state == .editing)
    }
}
