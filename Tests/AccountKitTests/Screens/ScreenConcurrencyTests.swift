import AccountKit
import ErrorContract
import HoldfastTesting
import Testing

@MainActor
@Suite("Screens: double presses and cancellation", .timeLimit(.minutes(10)))
struct ScreenConcurrencyTests {
    @Test("Ignores a second press and an alert's action while signing in")
    func doubleSignIn() async throws {
        let script = try ScreenScript([.session], isHeld: true)
        let model = script.signIn()
        let first = Task { await model.submit() }
        await script.clock.waitForSleepers()
        #expect(model.state == .signingIn)
        #expect(!model.isSubmitEnabled)
        await model.submit()
        await model.perform(.retry)
        model.dismissAlert()
        #expect(model.state == .signingIn)
        script.clock.advance(by: .seconds(1))
        await first.value
        await model.submit()
        #expect(script.transport.sent.count == 1)
    }

    @Test("Ignores a second press while requesting a link")
    func doubleRequest() async throws {
        let script = try ScreenScript([.accepted], isHeld: true)
        let model = script.forgot()
        let first = Task { await model.request() }
        await script.clock.waitForSleepers()
        #expect(model.state == .requesting)
        #expect(!model.isRequestEnabled)
        await model.request()
        await model.perform(.retry)
        model.dismissAlert()
        #expect(model.state == .requesting)
        script.clock.advance(by: .seconds(1))
        await first.value
        #expect(script.transport.sent.count == 1)
        #expect(model.secondsLeft == 60)
    }

    @Test("Ignores a second press while setting the password")
    func doubleConfirm() async throws {
        let script = try ScreenScript([.linkIsGood, .accepted], isHeld: true)
        let model = try script.reset()
        await finish(script) { await model.open() }
        let first = Task { await model.submit() }
        await script.clock.waitForSleepers()
        #expect(model.state == .submitting)
        #expect(model.isFormShown)
        await model.submit()
        await model.perform(.retry)
        model.dismissAlert()
        #expect(model.state == .submitting)
        script.clock.advance(by: .seconds(1))
        await first.value
        #expect(model.successText != nil)
        #expect(script.transport.sent.count == 2)
    }

    @Test("A canceled sign-in can be repeated")
    func cancelledSignIn() async throws {
        let script = try ScreenScript([.session], isHeld: true)
        let model = script.signIn()
        await cancel(script) { await model.submit() }
        #expect(model.state == .editing)
        #expect(model.password == "first password")
        await finish(script) { await model.submit() }
        #expect(!model.isSubmitEnabled)
        #expect(model.alert == nil)
    }

    @Test("A canceled request for a link starts no cooldown and can be repeated")
    func cancelledRequest() async throws {
        let script = try ScreenScript([.accepted], isHeld: true)
        let model = script.forgot()
        await cancel(script) { await model.request() }
        #expect(model.state == .editing)
        #expect(model.isRequestEnabled)
        await finish(script) { await model.request() }
        #expect(model.isCoolingDown)
    }

    @Test("A canceled validation and a canceled confirm can be repeated")
    func cancelledReset() async throws {
        let script = try ScreenScript([.linkIsGood, .accepted], isHeld: true)
        let model = try script.reset()
        await cancel(script) { await model.open() }
        #expect(model.state == .unchecked)
        await finish(script) { await model.open() }
        await cancel(script) { await model.submit() }
        #expect(model.state == .editing)
        #expect(model.password == "second password")
        await finish(script) { await model.submit() }
        #expect(model.successText != nil)
    }

    /// Starts a call and cancels it while its request is delayed.
    private func cancel(_ script: ScreenScript, _ call: @escaping @MainActor () async -> Void) async {
        let task = Task { await call() }
        await script.clock.waitForSleepers()
        task.cancel()
        await task.value
    }

    /// Runs a call to its end, and releases its request.
    private func finish(_ script: ScreenScript, _ call: @escaping @MainActor () async -> Void) async {
        let task = Task { await call() }
        await script.clock.waitForSleepers()
        script.clock.advance(by: .seconds(1))
        await task.value
    }
}
