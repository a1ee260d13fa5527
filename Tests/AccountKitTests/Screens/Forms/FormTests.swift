import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@MainActor
@Suite("Forms of the account", .timeLimit(.minutes(10)))
struct FormTests {
    @Test("A success replaces the form by a page and removes the passwords", arguments: FormCase.all)
    func success(form: FormCase) async throws {
        let script = try ScreenScript([form.success])
        let model = try await form.model(script)
        #expect(Set(model.fields) == Set(form.texts.keys))
        await model.submit()
        guard case .succeeded(let message) = model.state else {
            Issue.record("the state is \(model.state)")
            return
        }
        #expect(!message.isEmpty && model.page?.message == message && model.announcement?.text == message)
        #expect(model.pageTitle?.isEmpty == false && model.secondPageTitle == nil)
        #expect(model.fields.allSatisfy { !$0.isPassword || model[$0].isEmpty })
        #expect(!model.isSubmitEnabled)
        await model.submit()
        #expect(script.transport.sent.map { $0.request.path } == [form.path])
    }

    @Test("An empty field is reported before a request is sent", arguments: FormCase.all)
    func empty(form: FormCase) async throws {
        for field in form.texts.keys {
            let script = try ScreenScript()
            let model = try await form.model(script)
            model[field] = field.isPassword ? "" : " "
            await model.submit()
            #expect(model.alert?.message == "Please fill in all fields" && model.focusRequest?.field == field)
            #expect(script.transport.sent.isEmpty)
        }
    }

    @Test("A rate limit shows the wait, and its action waits before it retries", arguments: FormCase.all)
    func limited(form: FormCase) async throws {
        let script = try ScreenScript([.limited(retryAfter: 45), form.success])
        let model = try await form.model(script)
        await model.submit()
        #expect(model.alert?.message == "Too many requests. Please try again in 45 seconds.")
        guard case .retryAt(let date) = model.alert?.primary else {
            Issue.record("no action with a time")
            return
        }
        #expect(date.timeIntervalSinceNow > 30)
        await model.perform(.retryAt(date))
        #expect(script.transport.sent.count == 1, "too early")
        model.dismissAlert()
        #expect(model.state == .editing)
        await model.submit()
        #expect(model.page != nil)
    }

    @Test("Offline, the form stays with its input, and a retry sends it", arguments: FormCase.all)
    func offline(form: FormCase) async throws {
        let script = try ScreenScript([.offline, form.success])
        let model = try await form.model(script)
        await model.submit()
        #expect(model.alert?.message == "Check your internet connection" && model.alert?.primary == .retry)
        for (field, text) in form.texts { #expect(model[field] == text) }
        await model.perform(.retry)
        #expect(model.page != nil && script.transport.sent.count == 2)
    }

    @Test("A canceled submission returns to the form without an alert", arguments: FormCase.all)
    func canceled(form: FormCase) async throws {
        let script = try ScreenScript([form.success], isHeld: true)
        let model = try await form.model(script)
        let task = Task { await model.submit() }
        while model.state != .submitting { await Task.yield() }
        #expect(!model.isSubmitEnabled && model.submitTitle.hasSuffix("…") && model.announcement?.text == model.submitTitle)
        await script.clock.waitForSleepers()
        task.cancel()
        await task.value
        #expect(model.state == .editing && model.alert == nil)
    }

    @Test("A second submit while one is in flight has no effect", arguments: FormCase.all)
    func twice(form: FormCase) async throws {
        let script = try ScreenScript([form.success], isHeld: true)
        let model = try await form.model(script)
        let task = Task { await model.submit() }
        while model.state != .submitting { await Task.yield() }
        await model.submit()
        await script.clock.waitForSleepers()
        script.clock.advance(by: .seconds(1))
        await task.value
        #expect(script.transport.sent.count == 1 && model.page != nil)
    }

    @Test("A lost response is repeated with the same idempotency key", arguments: FormCase.all)
    func sameKey(form: FormCase) async throws {
        let script = try ScreenScript([.lost, form.success])
        let model = try await form.model(script)
        await model.submit()
        await model.perform(.retry)
        let keys = script.transport.sent.map { $0.request.headerFields[.idempotencyKey] }
        #expect(keys.count == 2 && keys[0] == keys[1] && keys[0] != nil)
    }

    @Test("A server error is an alert that offers a retry", arguments: FormCase.all)
    func broken(form: FormCase) async throws {
        let script = try ScreenScript([.broken])
        let model = try await form.model(script)
        await model.submit()
        #expect(model.alert?.message == "Something went wrong. Please try again.")
    }

    @Test("A wrong current password is shown at its field", arguments: FormCase.all.filter { $0.texts[.currentPassword] != nil })
    func wrongPassword(form: FormCase) async throws {
        let script = try ScreenScript([.refusal(401, .authInvalidCredentials)])
        let model = try await form.model(script)
        await model.submit()
        #expect(model.state == .editing && model.problem(at: .currentPassword) == "The current password is wrong")
        #expect(model.focusRequest?.field == .currentPassword)
        model[.currentPassword] = "another"
        #expect(model.problem(at: .currentPassword) == nil)
    }

    @Test("A weak new password is shown at its field", arguments: FormCase.all.filter { $0.texts[.password] != nil })
    func weakPassword(form: FormCase) async throws {
        let script = try ScreenScript([.refusal(400, .authWeakPassword, message: "Too common")])
        let model = try await form.model(script)
        await model.submit()
        #expect(model.state == .editing && model.problem(at: .password) == "Too common")
        #expect(model.focusRequest?.field == .password)
        model[.password] = "short"
        await model.submit()
        #expect(model.alert?.message == "The password must have at least 8 characters")
        #expect(script.transport.sent.count == 1)
    }

    @Test("An expired link replaces the form by a page", arguments: FormCase.links.filter { !$0.isSignedIn })
    func expiredLink(form: FormCase) async throws {
        let script = try ScreenScript([.refusal(400, .authResetTokenInvalid)])
        let model = try await form.model(script)
        await model.submit()
        #expect(model.page?.title == "Link Expired")
        #expect(model.page?.message == "This link has expired or was already used.")
        #expect(await model.perform(.dismiss) == .dismiss)
    }

    @Test(
        "A link that is refused after a lost response has probably been used",
        arguments: FormCase.links.filter { $0.link != .activate }
    )
    func usedLink(form: FormCase) async throws {
        let script = try ScreenScript([.lost, .refusal(400, .authResetTokenInvalid)])
        let model = try await form.model(script)
        await model.submit()
        await model.perform(.retry)
        #expect(model.page?.message == "Your request has probably succeeded. Try signing in.")
        #expect(await model.perform(.signIn) == .signIn)
    }

    @Test("A link that can't be read, or has another purpose, is invalid", arguments: FormCase.links)
    func invalidLink(form: FormCase) async throws {
        let script = try ScreenScript()
        let other = AccountLink(.resetPassword, token: try ResetToken("a-token"), email: nil)
        for link in [nil, other] {
            let model = form.make(script.client, link, .english)
            await model.open()
            #expect(model.page?.title == "Invalid Link" && model.page?.message == "This link is not valid.")
            await model.submit()
        }
        #expect(script.transport.sent.isEmpty)
    }

    @Test("Return moves through the fields and submits after the last one", arguments: FormCase.all)
    func returnKey(form: FormCase) async throws {
        let script = try ScreenScript([form.success])
        let model = try await form.model(script)
        for (field, next) in zip(model.fields, model.fields.dropFirst()) {
            model.returnPressed(in: field)
            #expect(model.focusRequest?.field == next)
        }
        guard let last = model.fields.last else { return }
        model.returnPressed(in: last)
        await model.work.run()
        #expect(model.page != nil)
    }

    @Test("Every text of a form is in the language of the screen", arguments: FormCase.all, Language.supported)
    func languages(form: FormCase, language: Language) async throws {
        let script = try ScreenScript([form.success])
        let model = try await form.model(script, language)
        let english = try await form.model(try ScreenScript(), .english)
        let texts = [model.title, model.submitTitle, model.introduction ?? ""] + model.fields.map(model.label)
        let originals = [english.title, english.submitTitle, english.introduction ?? ""] + english.fields.map(english.label)
        for (text, original) in zip(texts, originals) where !original.isEmpty {
            #expect((text == original) == (language == .english), "\(text)")
        }
        await model.submit()
        #expect(script.transport.sent.first?.request.headerFields[.acceptLanguage] == language.rawValue)
    }
}
