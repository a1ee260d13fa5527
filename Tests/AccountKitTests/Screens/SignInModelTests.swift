import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@MainActor
@Suite("Sign-in screen")
struct SignInModelTests {
    @Test(
        "Reports an empty field before a request is sent",
        arguments: [("", ""), ("", "secret"), ("ana@example.com", ""), ("  \n", "secret")]
    )
    func emptyFields(email: String, password: String) async throws {
        let script = try ScreenScript()
        let model = script.signIn(email: email, password: password)
        await model.submit()
        let expected = ErrorPresentation(title: "Error", message: "Please fill in all fields", primary: .fixFields)
        #expect(model.state == .failed(expected))
        #expect(script.transport.sent.isEmpty)
    }

    @Test(
        "Reports a malformed address before a request is sent",
        arguments: ["ana", "ana@", "@example.com", "ana@example", "a b@c.de"]
    )
    func malformedAddress(email: String) async throws {
        let script = try ScreenScript()
        let model = script.signIn(email: email)
        await model.submit()
        #expect(model.alert?.title == "Invalid Email")
        #expect(model.alert?.message == "Please enter a valid email address")
        #expect(script.transport.sent.isEmpty)
    }

    @Test("Refuses an over-long password like a wrong one, without a request")
    func endlessPassword() async throws {
        let script = try ScreenScript()
        let model = script.signIn(password: String(repeating: "a", count: Password.maximumLength + 1))
        await model.submit()
        #expect(model.alert?.message == "Invalid email or password")
        #expect(script.transport.sent.isEmpty)
    }

    @Test("Valid credentials sign in, and the password is not stored")
    func success() async throws {
        let script = try ScreenScript([.session])
        let model = script.signIn(.spanish, email: " ana@example.com ")
        #expect(model.isFormShown)
        await model.submit()
        guard case .signedIn(let user) = model.state else {
            Issue.record("the state is \(model.state)")
            return
        }
        #expect(user.firstName == "Ana")
        #expect(model.password.isEmpty && !model.isFormShown)
        #expect(await script.store.load()?.accessToken == "access")
        #expect(script.transport.sent.first?.request.headerFields[.acceptLanguage] == "es")
    }

    @Test("Shows the server's text for wrong credentials")
    func wrongCredentials() async throws {
        let script = try ScreenScript([.refusal(401, .authInvalidCredentials, message: "Correo o contraseña incorrectos")])
        let model = script.signIn(.spanish)
        await model.submit()
        let expected = ErrorPresentation(title: "Error", message: "Correo o contraseña incorrectos", primary: .fixFields)
        #expect(model.state == .failed(expected))
        #expect(model.password == "first password")
    }

    @Test("A 401 without a code means wrong credentials, not an expired session")
    func uncodedRefusal() async throws {
        let script = try ScreenScript([.response(status: 401, body: #"{"detail":"Unauthorized"}"#)])
        let model = script.signIn()
        await model.submit()
        let expected = ErrorPresentation(title: "Error", message: "Invalid email or password", primary: .fixFields)
        #expect(model.state == .failed(expected))
    }

    @Test(
        "Inactive and suspended accounts show the way to support",
        arguments: [
            (ErrorCode.authUserInactive, "This account is not active. Please contact support."),
            (.authUserSuspended, "This account is suspended. Please contact support."),
        ]
    )
    func closedAccount(code: ErrorCode, text: String) async throws {
        let script = try ScreenScript([.refusal(403, code)])
        let model = script.signIn()
        await model.submit()
        #expect(model.alert?.title == "Error" && model.alert?.message == text)
        #expect(model.alert?.primary == .contactSupport && model.alert?.secondary == .dismiss)
        #expect(model.alert?.supportReference?.code == code)
        #expect(await model.perform(.contactSupport) == .contactSupport)
        #expect(model.state == .editing)
    }

    @Test("Shows an address that only the server refuses like a malformed one")
    func serverRefusesAddress() async throws {
        let script = try ScreenScript([.refusal(400, .validationInvalidEmail, message: "x")])
        let model = script.signIn()
        await model.submit()
        #expect(model.alert?.title == "Invalid Email")
        #expect(model.alert?.primary == .fixFields)
    }

    @Test(
        "Network and server failures offer a retry, which signs in",
        arguments: [
            (ScriptedTransport.Step.unreachable, "Check your internet connection"),
            (.offline, "Check your internet connection"),
            (.broken, "Something went wrong. Please try again."),
            (.response(status: 502), "Something went wrong. Please try again."),
        ]
    )
    func transientFailure(step: ScriptedTransport.Step, text: String) async throws {
        let script = try ScreenScript([step, .session])
        let model = script.signIn()
        await model.submit()
        #expect(
            model.state == .failed(ErrorPresentation(title: "Error", message: text, primary: .retry, secondary: .dismiss))
        )
        #expect(await model.perform(.retry) == nil)
        #expect(!model.isSubmitEnabled)
        #expect(model.password.isEmpty)
    }

    @Test("A web page of another server is an unknown error", arguments: ["<html>Welcome to the hotel</html>", "garbage", "{}"])
    func unreadableAnswer(body: String) async throws {
        let script = try ScreenScript([.response(status: 200, body: body)])
        let model = script.signIn()
        await model.submit()
        #expect(
            model.state
                == .failed(
                    ErrorPresentation(title: "Error", message: "An error occurred. Please try again.", primary: .dismiss)
                )
        )
    }

    @Test("A limit shows the remaining time, and retries after it has passed")
    func limited() async throws {
        let script = try ScreenScript([.limited(retryAfter: 45), .session])
        let model = script.signIn()
        await model.submit()
        let action = ErrorPresentation.Action.retryAt(ScreenScript.start.addingTimeInterval(45))
        #expect(model.alert?.title == "Too many attempts")
        #expect(model.alert?.message == "Too many requests. Please try again in 45 seconds.")
        #expect(model.alert?.primary == action)
        script.clock.advance(by: .seconds(40))
        await model.perform(action)
        #expect(model.alert?.message == "Too many requests. Please try again in 5 seconds.")
        #expect(model.alert?.primary == action)
        #expect(script.transport.sent.count == 1)
        script.clock.advance(by: .seconds(5))
        await model.perform(action)
        #expect(model.alert == nil)
        #expect(script.transport.sent.count == 2)
    }

    @Test("A dismissal removes the alert", arguments: [ErrorPresentation.Action.dismiss, .fixFields, .signIn])
    func dismissal(action: ErrorPresentation.Action) async throws {
        let model = try ScreenScript().signIn(email: "")
        await model.submit()
        #expect(model.isAlertShown)
        #expect(await model.perform(action) == nil)
        #expect(model.state == .editing)
        await model.submit()
        model.isAlertShown = false
        #expect(model.state == .editing)
    }
}
