import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

/// “Check again” after a request with a lost response: the caller checks what happened, and the request is not sent again.
@MainActor
@Suite struct CheckAgainTests {
    /// Counts the calls of a closure.
    @MainActor private final class Counter {
        var count = 0
    }

    /// Forwards validations of links, and loses the responses of all other requests.
    private final class LostResponses: ClientMiddleware {
        private let requests = Mutex(0)
        var count: Int { requests.withLock(\.self) }

        func intercept(
            _ request: HTTPRequest,
            body: RequestBody?,
            context: CallContext,
            next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
        ) async throws -> (HTTPResponse, ResponseBody) {
            if request.path == AccountPath.validateResetToken { return try await next(request, body) }
            requests.withLock { $0 += 1 }
            throw APIError(.unknownOutcome)
        }
    }

    private let lost = LostResponses()

    private func client() throws -> AccountClient {
        let url = try #require(URL(string: "https://api.example.com"))
        return AccountClient(api: APIClient(baseURL: url, transport: ScriptedTransport([.linkIsGood]), middleware: [lost]))
    }

    private func signInModel() throws -> SignInModel {
        let model = SignInModel(client: try client(), language: .spanish, email: "ana@example.com")
        model.password = "first password"
        return model
    }

    private func resetModel() async throws -> ResetPasswordModel {
        let link = ResetLink(token: try ResetToken("a-token"), email: nil)
        let model = ResetPasswordModel(link: link, client: try client(), language: .english)
        (model.password, model.confirmation) = ("second password", "second password")
        await model.open()
        return model
    }

    @Test("“Check again” on the sign-in screen calls the closure and does not submit")
    func signIn() async throws {
        let (model, counter) = (try signInModel(), Counter())
        model.checkAgain = { counter.count += 1 }
        await model.submit()
        #expect(model.alert?.primary == .checkAgain)
        #expect(model.alert?.primaryLabel(in: .spanish) == "Comprobar de nuevo")
        #expect(await model.perform(.checkAgain) == nil)
        #expect(counter.count == 1 && model.state == .editing && lost.count == 1)
    }

    @Test("“Check again” after a lost link request calls the closure and does not submit")
    func forgotPassword() async throws {
        let (model, counter) = (
            ForgotPasswordModel(client: try client(), language: .english, email: "ana@example.com"), Counter()
        )
        model.checkAgain = { counter.count += 1 }
        await model.request()
        #expect(model.alert?.primary == .checkAgain)
        #expect(await model.perform(.checkAgain) == nil)
        #expect(counter.count == 1 && model.state == .editing && lost.count == 1)
    }

    @Test("“Check again” on the reset screen calls the closure and does not submit")
    func resetPassword() async throws {
        let (model, counter) = (try await resetModel(), Counter())
        model.checkAgain = { counter.count += 1 }
        await model.submit()
        #expect(model.alert?.primary == .checkAgain)
        #expect(await model.perform(.checkAgain) == nil)
        #expect(counter.count == 1 && model.state == .editing && lost.count == 1)
    }

    @Test("“Check again” in the error lab calls the closure and repeats no scenario")
    func errorLab() async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "", wasSent: true))
        let script = try LabScript([lost, .reply(attempt: 2)])
        let counter = Counter()
        script.model.checkAgain = { counter.count += 1 }
        try await script.run("drop-post")
        #expect(script.model.alert?.primary == .checkAgain)
        #expect(await script.model.perform(.checkAgain) == nil)
        #expect(counter.count == 1 && !script.model.isAlertShown && script.transport.sent.count == 1)
    }

    @Test("“Check again” without a closure is returned to the caller")
    func withoutClosure() async throws {
        let signIn = try signInModel()
        await signIn.submit()
        #expect(await signIn.perform(.checkAgain) == .checkAgain)
        let reset = try await resetModel()
        await reset.submit()
        #expect(await reset.perform(.checkAgain) == .checkAgain)
        let forgot = ForgotPasswordModel(client: try client(), language: .english, email: "ana@example.com")
        await forgot.request()
        #expect(await forgot.perform(.checkAgain) == .checkAgain)
        #expect(lost.count == 3)
    }
}
