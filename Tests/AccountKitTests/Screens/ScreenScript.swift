import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastTesting
import ResilientHTTP
import Testing
import Timekeeping

/// An account server that responds from a script, and the clocks of a screen.
struct ScreenScript {
    /// 2025-11-04T10:30:00Z
    static let start = Date(timeIntervalSince1970: 1_762_252_200)

    let transport: ScriptedTransport
    let client: AccountClient
    let clock = ManualClock()
    let store = MemoryCredentialStore()

    /// Creates a script.
    /// - Parameters:
    ///   - steps: The responses, in order.
    ///   - isHeld: Whether each response is delayed by one second on ``clock``.
    ///   - refusal: The error with which the client itself refuses each request.
    init(_ steps: [ScriptedTransport.Step] = [], isHeld: Bool = false, refusal: APIError? = nil) throws {
        transport = ScriptedTransport(steps)
        var middleware: [any ClientMiddleware] = []
        if isHeld {
            let delay = ClosureMiddleware { [clock] request, body, next in
                try await clock.sleep(for: .seconds(1))
                return try await next(request, body)
            }
            middleware.append(delay)
        }
        if let refusal { middleware.append(ClosureMiddleware { _, _, _ in throw refusal }) }
        let url = try #require(URL(string: "https://api.example.com"))
        client = AccountClient(api: APIClient(baseURL: url, transport: transport, middleware: middleware), store: store)
    }

    /// The local time, which advances with ``clock``.
    var wallClock: @Sendable () -> Date {
        { [clock] in Self.start.addingTimeInterval(Double(clock.now.offset.wholeSecondsRoundedUp)) }
    }

    @MainActor func signIn(
        _ language: Language = .english,
        email: String = "ana@example.com",
        password: String = "first password"
    ) -> SignInModel {
        let model = SignInModel(client: client, language: language, email: email, wallClock: wallClock)
        model.password = password
        return model
    }

    @MainActor func forgot(_ language: Language = .english, email: String = "ana@example.com") -> ForgotPasswordModel {
        ForgotPasswordModel(client: client, language: language, email: email, clock: clock, wallClock: wallClock)
    }

    @MainActor func reset(
        _ language: Language = .english,
        password: String = "second password",
        confirmation: String? = nil,
        rules: PasswordRules = PasswordRules()
    ) throws -> ResetPasswordModel {
        let link = ResetLink(token: try ResetToken("a-token"), email: nil)
        let model = ResetPasswordModel(link: link, client: client, language: language, rules: rules, wallClock: wallClock)
        model.password = password
        model.confirmation = confirmation ?? password
        return model
    }

    /// Returns a reset screen with a valid link, which uses the first step.
    @MainActor func openedReset(
        _ language: Language = .english,
        password: String = "second password",
        confirmation: String? = nil,
        rules: PasswordRules = PasswordRules()
    ) async throws -> ResetPasswordModel {
        let model = try reset(language, password: password, confirmation: confirmation, rules: rules)
        await model.open()
        try #require(model.state == .editing)
        return model
    }
}
