import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@MainActor
@Suite("Screen of sessions", .timeLimit(.minutes(10)))
struct SessionsModelTests {
    private static let one = """
        {"id":"1","created_at":"2025-11-04T10:00:00Z","last_used_at":"2025-11-04T10:00:00Z","device_name":"iPhone","current":true}
        """
    private static let other = """
        {"id":"2","created_at":"2025-11-01T10:00:00Z","last_used_at":"2025-11-03T10:00:00Z","current":false}
        """
    private static let two = ScriptedTransport.Step.response(status: 200, body: #"{"sessions":[\#(one),\#(other)]}"#)
    private static let single = ScriptedTransport.Step.response(status: 200, body: #"{"sessions":[\#(one)]}"#)
    private static let ended = ScriptedTransport.Step.response(status: 204)

    private func script(_ steps: [ScriptedTransport.Step], isHeld: Bool = false) async throws -> (ScreenScript, SessionsModel) {
        let script = try ScreenScript(steps, isHeld: isHeld)
        try await script.client.session.setCredentials(Credentials(accessToken: "access", refreshToken: nil, expiresAt: nil))
        let model = SessionsModel(
            client: script.client,
            language: .english,
            timeZone: .gmt,
            wallClock: script.wallClock
        )
        return (script, model)
    }

    @Test("Lists the sessions with their devices and times")
    func load() async throws {
        let (_, model) = try await script([Self.two])
        #expect(model.sessions == nil && model.loadTitle == "Try Again")
        await model.load()
        let sessions = try #require(model.sessions)
        #expect(sessions.map(model.name) == ["iPhone", "Unknown device"])
        #expect(model.detail(of: sessions[0]) == "This device")
        #expect(model.detail(of: sessions[1]).hasPrefix("Last used: Nov 3, 2025"))
        #expect(model.hasOthers && model.isEnabled && model.state == .idle)
    }

    @Test("Ends the session of another device, and loads the list again")
    func end() async throws {
        let (script, model) = try await script([Self.two, Self.ended, Self.single])
        await model.load()
        let sessions = try #require(model.sessions)
        await model.end(sessions[0])
        #expect(script.transport.sent.count == 1, "the session of this device is ended by signing out")
        await model.end(sessions[1])
        #expect(model.sessions?.count == 1 && !model.hasOthers)
        #expect(
            script.transport.sent.map { "\($0.request.method) \($0.request.path ?? "")" }.suffix(2) == [
                "DELETE /api/auth/sessions/2", "GET /api/auth/sessions",
            ]
        )
        #expect(model.announcement?.text == "The device was signed out.")
    }

    @Test("A retry repeats the action that failed, and keeps the rows meanwhile")
    func retry() async throws {
        let (script, model) = try await script([Self.two, .offline, Self.ended, Self.single])
        await model.load()
        await model.endOthers()
        #expect(model.alert?.primary == .retry && model.sessions?.count == 2)
        await model.perform(.retry)
        #expect(model.alert == nil && model.sessions?.count == 1)
        #expect(script.transport.sent[2].request.method == .delete)
    }

    @Test("A retry after a change whose list could not be loaded only loads the list")
    func retryOfReload() async throws {
        let (script, model) = try await script([Self.two, Self.ended, .offline, Self.single])
        await model.load()
        await model.endOthers()
        #expect(model.alert?.primary == .retry && model.sessions?.count == 2)
        await model.perform(.retry)
        #expect(model.alert == nil && model.sessions?.count == 1)
        #expect(script.transport.sent.map(\.request.method) == [.get, .delete, .get, .get])
    }

    @Test("A rate limit shows the wait")
    func limited() async throws {
        let (_, model) = try await script([.limited(retryAfter: 45)])
        await model.load()
        #expect(model.alert?.message == "Too many requests. Please try again in 45 seconds.")
        model.dismissAlert()
        #expect(model.state == .idle)
    }

    @Test("An ended session leads to the sign-in")
    func expired() async throws {
        let (_, model) = try await script([.refusal(401, .authSessionExpired)])
        await model.load()
        #expect(await model.perform(.signIn) == .signIn)
    }

    @Test("A canceled load shows no alert, and one request is in flight at a time")
    func canceled() async throws {
        let (script, model) = try await script([Self.two], isHeld: true)
        let task = Task { await model.load() }
        while model.state != .loading { await Task.yield() }
        #expect(!model.isEnabled && model.loadTitle == "Loading the devices…")
        await model.endOthers()
        await script.clock.waitForSleepers()
        task.cancel()
        await task.value
        #expect(model.state == .idle && model.alert == nil && model.sessions == nil)
    }
}
