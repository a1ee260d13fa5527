import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import Testing

@Suite struct PasswordRecoveryTests {
    /// Creates a reset token like the worker.
    private func mint(_ services: AccountServices, for account: Account) async throws -> ResetToken {
        let secret = SecretToken()
        let stored = StoredResetToken(
            digest: secret.digest,
            accountID: account.id,
            recipient: account.email,
            createdAt: services.clock.now(),
            expiresAt: services.clock.now().addingTimeInterval(3_600)
        )
        try await services.stores.resetTokens.insert(stored, liveLimit: 3)
        return try ResetToken(secret.text)
    }

    @Test("Stores the same intent for an address with and without an account")
    func request() async throws {
        try await withServices { services in
            _ = try await services.register()
            _ = try await services.mails()
            for email in ["ANA@example.com", "nobody@example.com"] {
                try await services.recovery.request(email: try EmailAddress(email), language: .spanish)
            }
            let intents = try await services.stores.intents.claim(limit: 9, at: .after(0), leaseEnd: .after(9))
            let subjects = Set(intents.map(\.subject))
            let expected: [MailIntent.Subject] = [
                .passwordReset(try EmailAddress("ANA@example.com")), .passwordReset(try EmailAddress("nobody@example.com")),
            ]
            #expect(subjects == Set(expected))
            #expect(intents.allSatisfy { $0.language == .spanish && $0.failures == 0 })
        }
    }

    @Test("Validation names the account without changes; another address gets a refusal")
    func validate() async throws {
        try await withServices { services in
            let account = try await services.register().account
            let token = try await mint(services, for: account)
            for email in [nil, try EmailAddress("ana@EXAMPLE.com")] {
                let (found, expiresAt) = try await services.recovery.validate(token, email: email)
                #expect(found == account)
                #expect(expiresAt == .after(3_600))
            }
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.recovery.validate(token, email: try EmailAddress("bob@example.com"))
            }
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.recovery.validate(try ResetToken("unknown"), email: nil)
            }
            services.clock.advance(by: 3_600)
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.recovery.validate(token, email: nil)
            }
        }
    }

    @Test("After a confirm only the new password works, and older tokens are refused")
    func confirm() async throws {
        try await withServices { services in
            let opened = try await services.register()
            _ = try await services.mails()
            let token = try await mint(services, for: opened.account)
            let password = try Password("new password")
            try await services.recovery.confirm(token, email: nil, newPassword: password)
            _ = try await services.signIn("ana@example.com", "new password")
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.signIn("ana@example.com", "old password")
            }
            await #expect(throws: AccountError.sessionExpired) {
                try await services.authentication.account(accessToken: opened.accessToken)
            }
            await #expect(throws: AccountError.refreshFailed) { try await services.refresh(opened) }
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.recovery.confirm(token, email: nil, newPassword: password)
            }
            let intents = try await services.stores.intents.claim(limit: 9, at: .after(0), leaseEnd: .after(9))
            #expect(intents.map(\.subject) == [.passwordChanged(opened.account.id)])
            #expect(intents.map(\.language) == [.spanish], "in the account's language")
        }
    }

    @Test("The device token of a confirm is valid if the password changes meanwhile")
    func deviceToken() async throws {
        try await withServices { services in
            let opened = try await services.register()
            let intruder = try await services.signedIn(opened)
            let token = try await mint(services, for: opened.account)
            let device = try await services.recovery.confirm(token, email: nil, newPassword: try Password("new password")) {
                // The confirm has already read the account.
                let (old, other) = (try Password("old password"), try Password("other password"))
                _ = try await services.settings.changePassword(of: intruder, from: old, to: other)
                return try await $1()
            }
            _ = try await services.signIn("ana@example.com", "new password")
            #expect(try await services.authentication.device(provenBy: [device], for: opened.account.email) != nil)
        }
    }

    @Test(
        "Refuses a weak password, and the link stays usable",
        arguments: [("short", "too_short"), ("Ana@Example.com", "resembles_account")]
    )
    func weakPassword(_ password: String, reason: String) async throws {
        try await withServices { services in
            let account = try await services.register().account
            let token = try await mint(services, for: account)
            let refusal = await #expect(throws: AccountError.self) {
                try await services.recovery.confirm(token, email: nil, newPassword: try Password(password))
            }
            #expect(refusal?.code == .authWeakPassword)
            #expect(refusal?.weaknesses.map(\.name) == [reason])
            #expect(try await services.stores.accounts.account(id: account.id) == account)
            try await services.recovery.confirm(token, email: nil, newPassword: try Password("new password"))
        }
    }

    @Test("Refuses a token with another address, and the token stays usable")
    func otherAddress() async throws {
        try await withServices { services in
            let account = try await services.register().account
            let token = try await mint(services, for: account)
            let password = try Password("new password")
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.recovery.confirm(token, email: try EmailAddress("bob@example.com"), newPassword: password)
            }
            try await services.recovery.confirm(token, email: account.email, newPassword: password)
        }
    }

    @Test("Of concurrent confirms with different passwords exactly one wins")
    func concurrent() async throws {
        try await withServices { services in
            let account = try await services.register().account
            _ = try await services.mails()
            let token = try await mint(services, for: account)
            let results = try await concurrently(20) { number in
                do {
                    try await services.recovery.confirm(token, email: nil, newPassword: try Password("new password \(number)"))
                    return number as Int?
                } catch let error as AccountError where error == .resetTokenInvalid {
                    return nil
                }
            }
            let winners = results.compactMap { $0 }
            #expect(winners.count == 1)
            _ = try await services.signIn("ana@example.com", "new password \(try #require(winners.first))")
            #expect(try await services.stores.intents.count() == 1)
        }
    }
}
