import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastURLSession
import ResilientHTTP

/// Runs the whole flow without user input, against a server in development.
@MainActor
struct Walkthrough {
    /// The error of a step with an unexpected result.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    let app: App

    /// Runs the flow and prints each step.
    /// - Throws: ``Unexpected`` at the first step with an unexpected result; errors of the server.
    func run() async throws {
        let email = try EmailAddress("ana.\(UUID().uuidString.lowercased().prefix(8))@example.com")
        let oldPassword = "first password \(UUID().uuidString)"
        let newPassword = "Second password \(UUID().uuidString)"
        _ = try await app.client.register(email: email, password: try Password(oldPassword), firstName: try FirstName("Ana"))
        step("An account", email.text)

        try await refusedSignIn(email)
        let link = try await requestLink(email)
        try holdCoupon()
        let reset = try await openLink(link)
        try await setPassword(newPassword, email: email, on: reset)
        try await refusedOldPassword(oldPassword, email: email)
        try await signIn(newPassword, on: reset.makeSignInModel(), email: email)
        try await deadLink(link)
        try await AccountWalkthrough(walkthrough: self).run()
        Terminal.say("All steps have the expected results.")
    }

    private func refusedSignIn(_ email: EmailAddress) async throws {
        let model = SignInModel(client: app.client, language: app.language, email: email.text)
        await model.submit()
        try expect(model.alert?.message, ContractText.fieldsEmpty, "Empty fields")
        model.password = "not the password"
        await model.perform(.fixFields)
        await model.submit()
        try expect(model.alert?.message, ErrorCatalogue.standard[.authInvalidCredentials]?.message, "A wrong password")
    }

    private func refusedOldPassword(_ password: String, email: EmailAddress) async throws {
        let model = SignInModel(client: app.client, language: app.language, email: email.text)
        model.password = password
        await model.submit()
        try expect(model.alert?.message, ErrorCatalogue.standard[.authInvalidCredentials]?.message, "The old password")
    }

    private func requestLink(_ email: EmailAddress) async throws -> URL {
        let model = ForgotPasswordModel(client: app.client, language: app.language)
        await model.request()
        try expect(model.alert?.title, ContractText.emailMissingTitle, "No address")
        model.email = email.text
        await model.request()
        guard case .requested(let message) = model.state else { throw Unexpected(description: "no link: \(model.state)") }
        try expect(message, ContractText.resetRequested, "A reset link")
        await model.request()
        try expect(model.alert?.title, ContractText.resetCooldownTitle, "A second press")
        model.dismissAlert()
        try await countDownALittle(model)
        return try await mailedLink(to: email, .resetPassword)
    }

    /// Runs the countdown for two seconds, then leaves the screen.
    private func countDownALittle(_ model: ForgotPasswordModel) async throws {
        let before = model.secondsLeft
        await withTaskGroup { group in
            group.addTask { await model.runCountdown() }
            group.addTask { try? await Task.sleep(for: .milliseconds(2_100)) }
            await group.next()
            group.cancelAll()
        }
        guard model.secondsLeft < before else { throw Unexpected(description: "the countdown stands at \(before) s") }
        step("The countdown", model.cooldownText ?? "")
    }

    private func holdCoupon() throws {
        let text = "\(AppLink.scheme)://coupon?distributor=Holdfast&title=Welcome&sum=12.50"
        guard let url = URL(string: text), try app.router.open(url) == .held else {
            throw Unexpected(description: "the coupon was not held until the sign-in")
        }
        step("A link that needs a session", "held")
    }

    private func openLink(_ url: URL) async throws -> ResetPasswordModel {
        guard case .follow(.resetPassword(let link)) = try app.router.open(url) else {
            throw Unexpected(description: "the link in the email is not a reset link")
        }
        let model = ResetPasswordModel(link: link, client: app.client, language: app.language)
        await model.open()
        try expect(model.greeting, ContractText.resetGreeting(name: "Ana"), "The link in the email")
        return model
    }

    private func setPassword(_ password: String, email: EmailAddress, on model: ResetPasswordModel) async throws {
        try await fill(model, "short")
        try expect(model.alert?.message, ContractText.passwordTooShort(minimum: 8), "A short password")
        try await fill(model, password, confirmation: password + "!")
        try expect(model.alert?.message, ContractText.passwordsDiffer, "Two passwords")
        try await fill(model, email.text)
        try expect(model.passwordProblem, ContractText.passwordResemblesAccount, "The address as the password")
        try await fill(model, password)
        try expect(model.successText, ContractText.resetSucceeded, "A good password")
    }

    private func fill(_ model: ResetPasswordModel, _ password: String, confirmation: String? = nil) async throws {
        model.dismissAlert()
        model.password = password
        model.confirmation = confirmation ?? password
        step("\(password.count) characters", model.strengthText ?? "")
        await model.submit()
    }

    private func signIn(_ password: String, on model: SignInModel, email: EmailAddress) async throws {
        guard model.email == email.text else { throw Unexpected(description: "the address is not filled in") }
        model.password = password
        await model.submit()
        // If responses are slow, the app's throttler delays the call. The user then presses the button again at the time that it shows.
        if case .failed(let shown) = model.state, case .retryAt(let time) = shown.primary, time.timeIntervalSinceNow < 30 {
            model.dismissAlert()
            try await Task.sleep(for: .seconds(max(0, time.timeIntervalSinceNow)))
            await model.submit()
        }
        guard case .signedIn(let user) = model.state else { throw Unexpected(description: "not signed in: \(model.state)") }
        step("The new password", user.firstName)
        let held = app.router.signedIn()
        guard held == .coupon(distributor: "Holdfast", title: "Welcome", sum: Decimal(1_250) / 100), app.router.signedIn() == nil
        else { throw Unexpected(description: "the held link did not follow the sign-in once") }
        step("The held link", held?.description ?? "")
    }

    private func deadLink(_ url: URL) async throws {
        guard case .follow(.resetPassword(let link)) = try app.router.open(url) else { return }
        let model = ResetPasswordModel(link: link, client: app.client, language: app.language)
        await model.open()
        try expect(model.deadLink?.title, ContractText.linkExpiredTitle, "The same link again")
    }

    func step(_ title: String, _ outcome: String) {
        Terminal.say("  \(title): \(outcome)")
    }

    func expect(_ shown: String?, _ expected: LocalizedText?, _ title: String) throws {
        guard let shown, shown == expected?.text(in: app.language) else {
            throw Unexpected(description: "\(title): the screen shows “\(shown ?? "nothing")”")
        }
        step(title, shown)
    }
}

extension Walkthrough {
    private struct Mailbox: Decodable {
        struct Item: Decodable {
            let recipient: String
            let subject: String
            let link: String?
        }

        let messages: [Item]
    }

    /// Waits until the server has delivered an email with a link to an address, and returns the newest link of a purpose.
    func mailedLink(to email: EmailAddress, _ purpose: AccountLink.Purpose) async throws -> URL {
        // The mailbox belongs to the walkthrough and not to the app, so the app's quotas don't apply.
        let api = APIClient(baseURL: app.server)
        for _ in 0..<2_400 {
            let mailbox: Mailbox = try await api.get("/dev/mailbox")
            let mail = mailbox.messages.first { mail in
                mail.recipient.contains(email.text) && mail.link?.contains("/\(purpose.page)") == true
            }
            if let mail, let link = mail.link.flatMap(URL.init(string:)) {
                Terminal.say("  “\(mail.subject)”: \(link.host ?? "")\(link.path)")
                return link
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw Unexpected(description: "no email arrived within a minute")
    }
}
