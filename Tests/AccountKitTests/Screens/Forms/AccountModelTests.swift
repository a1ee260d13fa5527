import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@MainActor
@Suite("Registration screen", .timeLimit(.minutes(10)))
struct RegisterModelTests {
    private func model(_ script: ScreenScript, asksForPassword: Bool = true) -> RegisterModel {
        let model = RegisterModel(client: script.client, language: .english, asksForPassword: asksForPassword)
        (model[.firstName], model[.email]) = ("Ana", "ana@example.com")
        if asksForPassword { model[.password] = "first password" }
        return model
    }

    @Test("A session signs in")
    func signedIn() async throws {
        let script = try ScreenScript([.session])
        let model = model(script)
        await model.submit()
        #expect(model.result?.user?.firstName == "Ana" && model.page?.message == "Your account is ready.")
        #expect(await script.store.load()?.accessToken == "access")
    }

    @Test("A 202 leads to the screen for the mailbox, with a cooldown")
    func checkEmail() async throws {
        let step = ScriptedTransport.Step.response(status: 202, body: #"{"message":"Check your mailbox."}"#)
        let script = try ScreenScript([step, step])
        let model = model(script, asksForPassword: false)
        await model.submit()
        #expect(model.result == .checkEmail(message: "Check your mailbox.") && model.page?.message == "Check your mailbox.")
        let next = try #require(model.makeCheckEmailModel(clock: script.clock))
        #expect(next.introduction == "We have sent an email to ana@example.com. Open the link in it to continue.")
        #expect(next.secondsLeft == 60 && !next.isSubmitEnabled)
        await next.submit()
        #expect(script.transport.sent.count == 1)
        script.clock.advance(by: .seconds(60))
        await next.submit()
        #expect(next.notice == "Check your mailbox." && next.secondsLeft == 60)
        #expect(script.transport.sent.map { $0.request.path } == ["/api/auth/register", "/api/auth/register"])
        #expect(script.transport.sent.allSatisfy { !String(decoding: $0.body ?? [], as: UTF8.self).contains("password") })
    }

    @Test("A registered address offers the sign-in, with the address")
    func exists() async throws {
        let model = model(try ScreenScript([.refusal(400, .authEmailExists)]))
        await model.submit()
        #expect(model.alert?.message == ErrorCatalogue.standard[.authEmailExists]?.message.text(in: .english))
        #expect(model.alert?.primary == .signIn && model.focusRequest?.field == .email)
        #expect(await model.perform(.signIn) == .signIn)
        #expect(model.makeSignInModel().email == "ana@example.com")
    }

    @Test("A closed registration shows the text of the contract")
    func closed() async throws {
        let model = model(try ScreenScript([.refusal(403, .authRegistrationClosed)]))
        await model.submit()
        #expect(model.alert?.message == "Registration is closed." && model.alert?.primary == .dismiss)
    }

    @Test("An invalid name or address is refused without a request", arguments: [AccountField.firstName, .email])
    func invalid(field: AccountField) async throws {
        let script = try ScreenScript()
        let model = model(script)
        model[field] = "Ana 1"
        await model.submit()
        let text = field == .email ? "Please enter a valid email address" : "Please enter a valid first name"
        #expect(model.alert?.message == text && model.focusRequest?.field == field)
        #expect(script.transport.sent.isEmpty)
    }

    @Test("Messages of the server about fields are shown at the fields")
    func fields() async throws {
        let body = #"{"first_name":["Enter another name."],"email":["Enter another address."]}"#
        let model = model(try ScreenScript([.response(status: 400, headers: [.contentLanguage: "en"], body: body)]))
        await model.submit()
        #expect(model.state == .editing && model.focusRequest?.field == .firstName)
        #expect(model.problem(at: .firstName) == "Enter another name.")
        #expect(model.problem(at: .email) == "Enter another address.")
    }
}

@MainActor
@Suite("Screen for the mailbox", .timeLimit(.minutes(10)))
struct CheckEmailModelTests {
    private func model(_ script: ScreenScript, isSent: Bool = true) throws -> CheckEmailModel {
        CheckEmailModel(
            .verification,
            email: try EmailAddress("ana@example.com"),
            isSent: isSent,
            client: script.client,
            language: .english,
            clock: script.clock,
            wallClock: script.wallClock
        )
    }

    @Test("The title counts down, and the button is enabled at the end")
    func countdown() async throws {
        let script = try ScreenScript()
        let model = try model(script)
        #expect(model.submitTitle == "Please wait 60 seconds before requesting again")
        let countdown = Task { await model.runCountdown() }
        for left in [59, 58] {
            await script.clock.waitForSleepers()
            script.clock.advance(by: .seconds(1))
            while model.secondsLeft != left { await Task.yield() }
        }
        countdown.cancel()
        await countdown.value
        script.clock.advance(by: .seconds(58))
        await model.runCountdown()
        #expect(model.secondsLeft == 0 && model.isSubmitEnabled && model.submitTitle == "Send Again")
    }

    @Test("A request that was not sent yet has no cooldown")
    func first() async throws {
        let script = try ScreenScript([.accepted])
        let model = try model(script, isSent: false)
        #expect(model.isSubmitEnabled && model.submitTitle == "Send Link" && model.introduction == nil)
        await model.submit()
        #expect(model.state == .editing && model.notice == "whatever the server says" && model.secondsLeft == 60)
        #expect(model.introduction != nil)
        #expect(script.transport.sent.map { $0.request.path } == ["/api/auth/verify-email/request"])
    }

    @Test("A refused or failed request causes no cooldown", arguments: [429, 0])
    func refused(status: Int) async throws {
        let script = try ScreenScript([status == 0 ? .offline : .limited(retryAfter: 90)])
        let model = try model(script, isSent: false)
        await model.submit()
        #expect(model.alert != nil && model.secondsLeft == 0 && model.isSubmitEnabled)
        if status == 429 { #expect(model.alert?.message == "Too many requests. Please try again in 2 minutes.") }
    }
}

@MainActor
@Suite("Screens of links that need a proof", .timeLimit(.minutes(10)))
struct ProvenLinkTests {
    private func script(_ steps: [ScriptedTransport.Step], isSignedIn: Bool) async throws -> ScreenScript {
        let script = try ScreenScript(steps)
        if isSignedIn {
            try await script.client.session.setCredentials(Credentials(accessToken: "access", refreshToken: nil, expiresAt: nil))
        }
        return script
    }

    private func link(_ purpose: AccountLink.Purpose, email: String? = "ana@example.com") throws -> AccountLink {
        AccountLink(purpose, token: try ResetToken("a-token"), email: try email.map { try EmailAddress($0) })
    }

    private static let refused = ScriptedTransport.Step.refusal(400, .authResetTokenInvalid)

    private static func me(_ email: String) -> ScriptedTransport.Step {
        .response(status: 200, body: #"{"user":{"id":"1","email":"\#(email)"}}"#)
    }

    @Test("With a session, verification sends the token without a password")
    func session() async throws {
        let script = try await script([.accepted], isSignedIn: true)
        let model = VerifyEmailModel(link: try link(.verifyEmail), client: script.client, language: .english)
        await model.open()
        #expect(model.fields.isEmpty && model.introduction == "Confirm that ana@example.com is your address.")
        await model.submit()
        #expect(script.transport.sent.first?.request.headerFields[.authorization] == "Bearer access")
        #expect(model.page != nil)
    }

    @Test("The session of another account leads to the password")
    func otherAccount() async throws {
        let script = try await script([Self.refused, Self.me("ben@example.com"), .accepted], isSignedIn: true)
        let model = VerifyEmailModel(link: try link(.verifyEmail), client: script.client, language: .english)
        await model.open()
        await model.submit()
        #expect(model.state == .editing && model.fields == [.currentPassword])
        model[.currentPassword] = "first password"
        await model.submit()
        #expect(model.page?.message == "whatever the server says")
        #expect(script.transport.sent.last?.request.headerFields[.authorization] == nil)
    }

    @Test("A form that asks for the password still does when it appears again")
    func appearsAgain() async throws {
        let script = try await script([Self.refused, Self.me("ben@example.com"), .accepted], isSignedIn: true)
        let model = VerifyEmailModel(link: try link(.verifyEmail), client: script.client, language: .english)
        await model.open()
        await model.submit()
        model[.currentPassword] = "first password"
        // The user has opened the screen for a forgotten password and come back. SwiftUI starts the task of the form again.
        await model.open()
        #expect(model.fields == [.currentPassword] && model[.currentPassword] == "first password")
        await model.submit()
        #expect(script.transport.sent.last?.request.headerFields[.authorization] == nil)
        #expect(model.page?.message == "whatever the server says")
    }

    @Test("An expired link with the session of its recipient needs no password")
    func expired() async throws {
        let script = try await script([Self.refused, Self.me("Ana@example.com")], isSignedIn: true)
        let model = VerifyEmailModel(link: try link(.verifyEmail), client: script.client, language: .english)
        await model.open()
        await model.submit()
        #expect(model.page?.title == "Link Expired")
        let next = try #require(model.makeCheckEmailModel(clock: script.clock))
        #expect(next.email.text == "ana@example.com" && next.isSubmitEnabled)
    }

    @Test("An ended session leads to the password", arguments: [AccountLink.Purpose.verifyEmail, .confirmEmail])
    func endedSession(purpose: AccountLink.Purpose) async throws {
        let script = try await script([.refusal(401, .authSessionExpired)], isSignedIn: true)
        let link = try link(purpose)
        let model: FormModel =
            purpose == .verifyEmail
            ? VerifyEmailModel(link: link, client: script.client, language: .english)
            : ConfirmEmailModel(link: link, client: script.client, language: .english)
        await model.open()
        await model.submit()
        #expect(model.state == .editing && model.fields == [.currentPassword])
    }

    @Test("A confirmed change leads back to the app, an undone one to a reset")
    func next() async throws {
        let script = try await script([.accepted, .accepted], isSignedIn: true)
        let confirm = ConfirmEmailModel(link: try link(.confirmEmail), client: script.client, language: .english)
        await confirm.open()
        await confirm.submit()
        #expect(confirm.pageTitle == "Continue" && !confirm.isUndo)
        let undo = ConfirmEmailModel(link: try link(.undoEmail), client: script.client, language: .english)
        await undo.open()
        await undo.submit()
        #expect(undo.pageTitle == "Reset Password" && undo.isUndo)
        #expect(await undo.perform(.requestNewLink) == .requestNewLink)
        #expect(undo.makeForgotPasswordModel().email == "ana@example.com")
    }

    @Test("A restored account leads to the sign-in with its address")
    func keep() async throws {
        let script = try await script([.accepted], isSignedIn: false)
        let model = KeepAccountModel(link: try link(.keepAccount), client: script.client, language: .english)
        await model.submit()
        #expect(model.pageTitle == "Sign In" && model.makeSignInModel().email == "ana@example.com")
    }

    @Test("An activation signs in")
    func activate() async throws {
        let script = try await script([.session], isSignedIn: false)
        let model = ActivateModel(link: try link(.activate), client: script.client, language: .english)
        (model[.password], model[.confirmation]) = ("first password", "first password")
        #expect(model.username == "ana@example.com" && model.strength != nil)
        await model.submit()
        #expect(model.user?.firstName == "Ana")
        #expect(await script.store.load()?.accessToken == "access")
    }
}

@MainActor
@Suite("Screens of changes of the account", .timeLimit(.minutes(10)))
struct AccountChangeTests {
    private func signedIn(_ steps: [ScriptedTransport.Step]) async throws -> ScreenScript {
        let script = try ScreenScript(steps)
        try await script.client.session.setCredentials(Credentials(accessToken: "old", refreshToken: nil, expiresAt: nil))
        return script
    }

    @Test("A changed password continues the session with the new tokens")
    func changePassword() async throws {
        let script = try await signedIn([.session])
        let model = ChangePasswordModel(client: script.client, language: .english)
        model[.currentPassword] = "first password"
        (model[.password], model[.confirmation]) = ("second password", "another")
        await model.submit()
        #expect(model.alert?.message == "The passwords do not match" && model.focusRequest?.field == .confirmation)
        model[.confirmation] = "second password"
        await model.submit()
        #expect(await script.store.load()?.accessToken == "access" && model.page != nil)
    }

    @Test(
        "After a lost response, a refused session or password suggests a changed password",
        arguments: [ErrorCode.authSessionExpired, .authInvalidCredentials]
    )
    func lost(code: ErrorCode) async throws {
        let script = try await signedIn([.lost, .refusal(401, code)])
        let model = ChangePasswordModel(client: script.client, language: .english)
        model[.currentPassword] = "first password"
        (model[.password], model[.confirmation]) = ("second password", "second password")
        await model.submit()
        await model.perform(.retry)
        #expect(model.page?.message == "Try signing in with your new password" && model.page?.primary == .signIn)
    }

    @Test("A deletion ends the session, and shows when the data is removed")
    func delete() async throws {
        let script = try await signedIn([
            .response(status: 202, body: #"{"success":true,"message":"Deleted.","purge_at":"2025-11-11T10:30:00Z"}"#)
        ])
        let model = DeleteAccountModel(client: script.client, language: .english)
        model[.currentPassword] = "first password"
        await model.submit()
        #expect(model.page?.message == "Deleted." && model.purgeAt == Date(timeIntervalSince1970: 1_762_857_000))
        #expect(await script.store.load() == nil)
    }

    @Test("An ended session is an alert that leads to the sign-in")
    func expired() async throws {
        let script = try await signedIn([.refusal(401, .authSessionExpired)])
        let model = ChangeEmailModel(client: script.client, language: .english)
        (model[.email], model[.currentPassword]) = ("new@example.com", "first password")
        await model.submit()
        #expect(model.alert?.title == "Session Expired")
        #expect(await model.perform(.signIn) == .signIn)
    }
}

@MainActor
@Suite("Sign-in to accounts that are not verified or deleted", .timeLimit(.minutes(10)))
struct SignInRefusalTests {
    @Test("An unverified account offers to send the link again, and sends it")
    func unverified() async throws {
        let script = try ScreenScript([.refusal(403, .authEmailNotVerified), .accepted])
        let model = script.signIn()
        await model.submit()
        #expect(model.alert?.message == "Verify your email to sign in." && model.alert?.primary == .requestNewLink)
        #expect(await model.perform(.requestNewLink) == nil)
        #expect(model.alert?.title == "Check Your Email" && model.alert?.message == "whatever the server says")
        #expect(script.transport.sent.last?.request.path == "/api/auth/verify-email/request")
        #expect(String(decoding: script.transport.sent.last?.body ?? [], as: UTF8.self) == #"{"email":"ana@example.com"}"#)
        model.dismissAlert()
        #expect(model.state == .editing && model.password == "first password")
    }

    @Test("A failed request for the link is an alert")
    func failed() async throws {
        let script = try ScreenScript([.refusal(403, .authEmailNotVerified), .limited(retryAfter: 45)])
        let model = script.signIn()
        await model.submit()
        await model.perform(.requestNewLink)
        #expect(model.alert?.message == "Too many requests. Please try again in 45 seconds.")
    }

    @Test("A retry after a failed request for the link requests the link again")
    func retriesLink() async throws {
        let script = try ScreenScript([.refusal(403, .authEmailNotVerified), .offline, .accepted])
        let model = script.signIn()
        await model.submit()
        await model.perform(.requestNewLink)
        #expect(model.alert?.primary == .retry)
        await model.perform(.retry)
        #expect(model.alert?.title == "Check Your Email")
        #expect(script.transport.sent.last?.request.path == "/api/auth/verify-email/request")
    }

    @Test("A deleted account shows the text of the contract")
    func deleted() async throws {
        let script = try ScreenScript([.refusal(403, .authAccountDeleted)])
        let model = script.signIn()
        await model.submit()
        let expected = ErrorPresentation(
            title: "Error",
            message: "This account was deleted. Use the link in your email to restore it.",
            primary: .dismiss
        )
        #expect(model.state == .failed(expected))
    }
}
