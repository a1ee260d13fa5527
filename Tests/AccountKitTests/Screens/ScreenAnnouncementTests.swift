import AccountKit
import ErrorContract
import HoldfastTesting
import Testing

@MainActor
@Suite("Announcements of the screens", .timeLimit(.minutes(10)))
struct ScreenAnnouncementTests {
    /// Collects the announcements of a model, like a view with `.onChange(of: model.announcement)`.
    @MainActor private final class Listener {
        private(set) var texts: [String] = []
        private let model: any ScreenModel
        private var last: ScreenAnnouncement?

        init(_ model: any ScreenModel) {
            self.model = model
            last = model.announcement
        }

        func update() {
            if model.announcement != last, let text = model.announcement?.text { texts.append(text) }
            last = model.announcement
        }
    }

    @Test("A sign-in in flight is announced")
    func signIn() async throws {
        let script = try ScreenScript([.session], isHeld: true)
        let model = script.signIn(.spanish)
        async let submit: Void = model.submit()
        await script.clock.waitForSleepers()
        #expect(model.announcement?.text == "Iniciando sesión…")
        #expect(model.submitTitle == "Iniciando sesión…")
        script.clock.advance(by: .seconds(1))
        await submit
    }

    @Test("Announces a sent link with the text of the screen, each time anew")
    func sent() async throws {
        let script = try ScreenScript([.accepted, .accepted], isHeld: true)
        let model = script.forgot()
        async let first: Void = model.request()
        await script.clock.waitForSleepers()
        #expect(model.announcement?.text == "Sending the link…")
        script.clock.advance(by: .seconds(1))
        await first
        let announcement = try #require(model.announcement)
        #expect(announcement.text == model.requestedMessage)
        script.clock.advance(by: .seconds(60))
        async let second: Void = model.request()
        await script.clock.waitForSleepers()
        script.clock.advance(by: .seconds(1))
        await second
        #expect(model.announcement?.text == announcement.text && model.announcement != announcement)
    }

    @Test("Announces the validation of a link, the form, the progress and the success")
    func reset() async throws {
        let script = try ScreenScript([.linkIsGood, .accepted], isHeld: true)
        let model = try script.reset()
        async let opening: Void = model.open()
        await script.clock.waitForSleepers()
        #expect(model.announcement?.text == "Checking the link…")
        script.clock.advance(by: .seconds(1))
        await opening
        #expect(model.announcement?.text == "Hello Ana, enter your new password")
        async let submit: Void = model.submit()
        await script.clock.waitForSleepers()
        #expect(model.announcement?.text == "Saving the password…" && model.submitTitle == "Saving the password…")
        script.clock.advance(by: .seconds(1))
        await submit
        #expect(model.announcement?.text == model.successText)
    }

    @Test("A mismatch is announced once, when the second password is as long as the first")
    func mismatch() throws {
        let model = try ScreenScript().reset(password: "", confirmation: "")
        let listener = Listener(model)
        model.password = "second"
        for typed in ["s", "se", "sec", "seco", "secon"] {
            model.confirmation = typed
            listener.update()
        }
        #expect(listener.texts.isEmpty, "every password differs while it is typed")
        for typed in ["seconx", "seconxy"] {
            model.confirmation = typed
            listener.update()
        }
        #expect(listener.texts == ["The passwords do not match"])
        for typed in ["second", "seconx"] {
            model.confirmation = typed
            listener.update()
        }
        #expect(listener.texts.count == 2, "it matched in between")
    }

    @Test("Announces an unusable link and a refused password")
    func refusals() async throws {
        let expired = try ScreenScript([.refusal(400, .authResetTokenInvalid)]).reset()
        await expired.open()
        #expect(expired.announcement?.text == expired.deadLink?.message)
        let refused = try await ScreenScript([.linkIsGood, .refusal(400, .authWeakPassword)]).openedReset()
        await refused.submit()
        #expect(refused.announcement?.text == refused.passwordProblem)
    }

    @Test("Announces a run of the lab and its success")
    func lab() async throws {
        let script = try LabScript([.reply()])
        try await script.run("flat-success")
        #expect(script.model.announcement?.text == "flat-success succeeded")
    }
}
