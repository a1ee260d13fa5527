import AccountKit
import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@MainActor
@Suite("Error lab: the screen", .timeLimit(.minutes(10)))
struct ErrorLabModelTests {
    @Test("Shows the built-in scenarios at once, grouped by kind")
    func builtIn() throws {
        let script = try LabScript([])
        #expect(script.model.scenarios == LabScenario.all())
        #expect(script.model.sections.map(\.group) == LabScenario.groups)
        #expect(script.model.sections.flatMap(\.scenarios) == script.model.scenarios)
        #expect(script.model.lastRun == nil && !script.model.isRunning && !script.model.isAlertShown)
    }

    @Test("Shows the server's scenarios, or the built-in ones if the server is unreachable")
    func load() async throws {
        let listing = LabListing(scenarios: [try LabScript.scenario("slow")])
        let body = String(decoding: try JSONEncoder().encode(listing), as: UTF8.self)
        let script = try LabScript([.response(status: 404), .response(status: 200, body: body)])
        await script.model.load()
        #expect(script.model.loadFailure?.kind == .notFound)
        #expect(script.model.scenarios.count > 100)
        await script.model.load()
        #expect(script.model.loadFailure == nil)
        #expect(script.model.scenarios == listing.scenarios)
        #expect(script.paths == ["/base/dev/lab/scenarios", "/base/dev/lab/scenarios"])
    }

    @Test("Runs one scenario at a time")
    func oneAtATime() async throws {
        let script = try LabScript([.labError(429, .rateLimitExceeded, retryAfter: 2), .reply(attempt: 2)])
        let first = try LabScript.scenario("limited-once")
        async let run: Void = script.model.run(first)
        await script.clock.waitForSleepers()
        #expect(script.model.isRunning)
        #expect(script.model.steps == [.failed(.rateLimitExceeded)])
        try await script.run("slow")
        #expect(script.transport.sent.count == 1)
        script.clock.advance(by: .seconds(2))
        await run
        #expect(script.model.lastRun?.scenario == first)
    }

    @Test("A canceled run leaves the screen as it was, and its wait ends at once")
    func cancelled() async throws {
        let script = try LabScript([.reply(), .labError(429, .rateLimitExceeded, retryAfter: 2)])
        try await script.run("flat-success")
        let scenario = try LabScript.scenario("limited-once")
        let model = script.model
        let task = Task { await model.run(scenario) }
        await script.clock.waitForSleepers()
        task.cancel()
        await task.value
        #expect(model.lastRun?.scenario.name == "flat-success")
        #expect(model.steps == [.succeeded])
        #expect(model.alert == nil)
        #expect(script.clock.sleeperCount == 0)
    }

    @Test("“Try again” continues in the session; a new run starts another")
    func again() async throws {
        let failed = ScriptedTransport.Step.labError(500, .serverDatabaseError)
        let script = try LabScript([failed, failed, .reply(attempt: 3), failed])
        script.model.followsAdvice = false
        try await script.run("flaky")
        #expect(script.model.alert?.primary == .retry)
        #expect(await script.model.perform(.retry) == nil)
        #expect(script.model.lastRun?.differences == [])
        await script.model.runAgain()
        #expect(script.model.lastRun?.differences == [], "the third call of the session succeeds, as promised")
        try await script.run("flaky")
        #expect(script.model.lastRun?.differences == [], "the first call of another fails, as promised")
    }

    @Test("“Try again at” shows the remaining wait until it is over, then retries")
    func retryAt() async throws {
        let script = try LabScript([.labError(429, .rateLimitExceeded, retryAfter: 60), .reply(attempt: 2)])
        try await script.run("limited-once")
        let date = LabScript.start.addingTimeInterval(60)
        #expect(script.model.alert?.primary == .retryAt(date))
        script.clock.advance(by: .seconds(50))
        await script.model.perform(.retryAt(date))
        #expect(script.model.alert?.message == "Too many requests. Please try again in 10 seconds.")
        #expect(script.transport.sent.count == 1)
        script.clock.advance(by: .seconds(10))
        await script.model.perform(.retryAt(date))
        #expect(script.model.lastRun?.steps == [.succeeded])
    }

    @Test("A button dismisses an alert; actions for the app are passed to the app")
    func alert() async throws {
        let script = try LabScript([.labError(403, .authUserInactive), .labError(409, .resourceAlreadyExists)])
        #expect(await script.model.perform(.contactSupport) == nil, "there was no run")
        try await script.run("AUTH_USER_INACTIVE")
        #expect(script.model.isAlertShown)
        #expect(await script.model.perform(.contactSupport) == .contactSupport)
        #expect(!script.model.isAlertShown)
        try await script.run("RESOURCE_ALREADY_EXISTS")
        #expect(await script.model.perform(.dismiss) == nil)
        #expect(!script.model.isAlertShown)
        #expect(script.model.lastRun?.error?.code == .resourceAlreadyExists)
        script.model.isAlertShown = true
        #expect(!script.model.isAlertShown)
    }

    @Test("Requests and shows errors in the user's language")
    func language() async throws {
        let script = try LabScript([.response(status: 500)], language: .spanish)
        script.model.followsAdvice = false
        try await script.run("SERVER_INTERNAL_ERROR")
        #expect(script.transport.sent.first?.request.headerFields[.acceptLanguage] == "es")
        #expect(script.model.alert?.message == "Algo salió mal. Por favor, intenta de nuevo.")
    }

    @Test("A session that can't be opened ends the run with its error")
    func noSession() async throws {
        let script = try LabScript([.response(status: 404)])
        try await script.run("token-good")
        #expect(script.model.lastRun?.error?.kind == .notFound)
        #expect(script.transport.sent.count == 1)
    }

    @Test("The transport receives the scenario's own timeout")
    func timeout() async throws {
        let script = try LabScript([.failure(TransportError(.timeout, message: "", wasSent: true))])
        script.model.followsAdvice = false
        try await script.run("too-slow")
        #expect(script.model.lastRun?.error?.kind == .timeout)
        #expect(script.model.lastRun?.differences == [])
    }
}
