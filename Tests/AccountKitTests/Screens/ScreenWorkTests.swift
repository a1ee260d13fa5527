import AccountKit
import ErrorContract
import HoldfastTesting
import Testing

@MainActor
@Suite("Work of a screen", .timeLimit(.minutes(10)))
struct ScreenWorkTests {
    /// Runs work like SwiftUI's `.task(id: model.work.request)` at the root of a screen.
    private func run(_ work: ScreenWork) async {
        while work.isBusy { await work.run() }
    }

    @Test("Runs an action that a button requested, once")
    func once() async {
        let work = ScreenWork()
        var runs = 0
        #expect(work.start { runs += 1 })
        #expect(work.request == 1 && runs == 0)
        await work.run()
        #expect(runs == 1 && !work.isBusy)
        await work.run()
        #expect(runs == 1)
        work.start { runs += 1 }
        #expect(work.request == 2, "another request is another identity for .task(id:)")
        await work.run()
        #expect(runs == 2)
    }

    @Test("Ignores a second press while an action is requested or running")
    func secondPress() async throws {
        let script = try ScreenScript([.session], isHeld: true)
        let model = script.signIn()
        #expect(model.work.start { await model.submit() })
        #expect(!model.work.start { Issue.record("the second press ran") })
        async let task: Void = run(model.work)
        await script.clock.waitForSleepers()
        #expect(!model.work.start { Issue.record("the second press ran") })
        script.clock.advance(by: .seconds(1))
        await task
        #expect(script.transport.sent.count == 1)
    }

    @Test("“Try Again” on the reset screen continues after the state that showed it")
    func retryOnResetScreen() async throws {
        let script = try ScreenScript([.unreachable, .linkIsGood], isHeld: true)
        let model = try script.reset()
        model.work.start { await model.open() }
        await finish(script, model)
        model.dismissAlert()
        #expect(model.state == .unchecked)
        model.work.start { await model.open() }
        async let task: Void = run(model.work)
        await script.clock.waitForSleepers()
        #expect(model.state == .checking, "the button that was pressed is not shown any more")
        script.clock.advance(by: .seconds(1))
        await task
        #expect(model.state == .editing)
    }

    @Test("“Again” in the lab continues although its row disappears during the run")
    func againInLab() async throws {
        let script = try LabScript([.labError(429, .rateLimitExceeded, retryAfter: 2), .reply(attempt: 2), .reply(attempt: 3)])
        script.model.followsAdvice = false
        try await script.run("limited-once")
        #expect(script.model.lastRun?.error != nil)
        script.model.dismissAlert(script.model.currentAlert?.id ?? 0)
        script.model.work.start { await script.model.runAgain() }
        #expect(script.model.work.isBusy)
        await run(script.model.work)
        #expect(script.model.lastRun?.steps == [.succeeded])
    }

    @Test("A confirm continues while its button scrolls away; leaving the screen cancels it")
    func confirmation() async throws {
        let script = try ScreenScript([.linkIsGood, .accepted], isHeld: true)
        let model = try script.reset()
        model.work.start { await model.open() }
        await finish(script, model)
        model.work.start { await model.submit() }
        let screen = Task { await run(model.work) }
        await script.clock.waitForSleepers()
        #expect(model.state == .submitting && model.work.isBusy)
        screen.cancel()
        await screen.value
        #expect(model.state == .editing && !model.work.isBusy, "the screen is gone; nothing is left for the next time")
        model.work.start { await model.submit() }
        await finish(script, model)
        #expect(model.successText != nil)
    }

    @Test("A screen that appears again does not run an action twice")
    func appearsAgain() async throws {
        let script = try ScreenScript([.session], isHeld: true)
        let model = script.signIn()
        model.work.start { await model.submit() }
        async let first: Void = run(model.work)
        await script.clock.waitForSleepers()
        await model.work.run()
        script.clock.advance(by: .seconds(1))
        await first
        #expect(script.transport.sent.count == 1)
    }

    private func finish(_ script: ScreenScript, _ model: ResetPasswordModel) async {
        async let task: Void = run(model.work)
        await script.clock.waitForSleepers()
        script.clock.advance(by: .seconds(1))
        await task
    }
}
