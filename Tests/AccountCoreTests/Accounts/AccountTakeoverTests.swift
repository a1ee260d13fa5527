import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import Synchronization
import Testing

/// Attacks on accounts by clients with a mailbox, a password or an access token, but without the right to the account.
@Suite(.timeLimit(.minutes(10))) struct AccountTakeoverTests {
    private let chosen = "the owner chose this"

    @Test("A victim's verification signs out the attacker who registered the address")
    func preRegistration() async throws {
        try await withServices { services in
            let attacker = try await services.register("victim@example.com")
            let link = try await services.token(.verifyEmail)
            // The victim has neither the attacker's session nor the attacker's password.
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.links.verify(link, by: .password(try Password("a guess of mine")))
            }
            try await services.links.verify(link, by: .newPassword(try Password(chosen)))
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.signIn("victim@example.com", "old password")
            }
            await #expect(throws: AccountError.refreshFailed) { try await services.refresh(attacker) }
            await #expect(throws: AccountError.sessionExpired) { try await services.signedIn(attacker) }
            #expect(try await services.signIn("victim@example.com", chosen).account.isEmailVerified)
        }
    }

    @Test("An honest user verifies the address and stays signed in")
    func honestVerification() async throws {
        try await withServices { services in
            let opened = try await services.register("ana@example.com")
            #expect(!opened.account.isEmailVerified)
            let link = try await services.token(.verifyEmail)
            try await services.links.verify(link, by: .session(accessToken: opened.accessToken))
            #expect(try await services.signedIn(opened).account.isEmailVerified)
            _ = try await services.refresh(opened)
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.links.verify(link, by: .session(accessToken: opened.accessToken))
            }
        }
    }

    @Test("A link of one purpose is refused for every other purpose")
    func purposes() async throws {
        try await withServices { services in
            let opened = try await services.register("ana@example.com")
            let verify = try await services.token(.verifyEmail)
            let caller = try await services.signedIn(opened)
            let new = try EmailAddress("ana@new.example.com")
            try await services.settings.requestEmailChange(of: caller, to: new, password: try Password("old password"))
            let confirm = try await services.token(.confirmEmail)
            try await services.recovery.request(email: try EmailAddress("ana@example.com"), language: .english)
            let reset = try await services.token(.passwordReset)
            try await services.registration.request(
                email: try EmailAddress("bob@example.com"),
                firstName: try FirstName("Bob"),
                language: .english
            )
            let activate = try await services.token(.activate)
            let tokens: [AccountLink.Purpose: ResetToken] = [
                .verifyEmail: verify, .confirmEmail: confirm, .resetPassword: reset, .activate: activate,
            ]
            for (purpose, token) in tokens {
                for other in AccountLink.Purpose.allCases where other != purpose {
                    let refusal = await #expect(throws: AccountError.self, "\(purpose) as \(other)") {
                        try await use(token, for: other, services, opened)
                    }
                    #expect(refusal?.code == .authResetTokenInvalid)
                }
            }
            // None of the attempts has consumed a link.
            for (purpose, token) in [(AccountLink.Purpose.verifyEmail, verify), (.confirmEmail, confirm), (.activate, activate)] {
                try await use(token, for: purpose, services, opened)
            }
        }
    }

    /// Uses a token for a purpose, with the best proof that there is.
    private func use(
        _ token: ResetToken,
        for purpose: AccountLink.Purpose,
        _ services: AccountServices,
        _ opened: Authentication.Opened
    ) async throws {
        let proof = AccountProof.password(try Password("old password"))
        switch purpose {
        case .resetPassword: try await services.recovery.confirm(token, email: nil, newPassword: try Password(chosen))
        case .verifyEmail: try await services.links.verify(token, by: proof)
        case .activate: _ = try await services.registration.activate(token, password: try Password(chosen))
        case .confirmEmail: try await services.links.confirmEmail(token, by: proof)
        case .undoEmail: try await services.links.undoEmail(token)
        case .keepAccount: try await services.links.keepAccount(token)
        }
    }

    @Test("A verification link of the former address doesn't verify the new one")
    func oldVerificationLink() async throws {
        try await withServices { services in
            let opened = try await services.register("ana@example.com")
            let old = try await services.token(.verifyEmail)
            try await change(services, opened, to: "ana@new.example.com")
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.links.verify(old, by: .session(accessToken: opened.accessToken))
            }
        }
    }

    /// Changes the address of a session's account, and returns the token in the notice to the former address.
    @discardableResult
    private func change(
        _ services: AccountServices,
        _ opened: Authentication.Opened,
        to address: String,
        password: String = "old password"
    ) async throws -> ResetToken {
        let caller = try await services.signedIn(opened)
        try await services.settings.requestEmailChange(
            of: caller,
            to: try EmailAddress(address),
            password: try Password(password)
        )
        let link = try await services.token(.confirmEmail)
        try await services.links.confirmEmail(link, by: .session(accessToken: opened.accessToken))
        return try await services.token(.emailChanged)
    }

    @Test("A reset cancels a change of the address that was requested before")
    func changeRacingReset() async throws {
        try await withServices { services in
            let attacker = try await services.register("victim@example.com")
            let caller = try await services.signedIn(attacker)
            let target = try EmailAddress("attacker@example.com")
            try await services.settings.requestEmailChange(of: caller, to: target, password: try Password("old password"))
            let confirm = try await services.token(.confirmEmail)
            try await services.recovery.request(email: try EmailAddress("victim@example.com"), language: .english)
            let reset = try await services.token(.passwordReset)
            try await services.recovery.confirm(reset, email: nil, newPassword: try Password(chosen))
            for proof in [AccountProof.password(try Password("old password")), .session(accessToken: attacker.accessToken)] {
                let refusal = await #expect(throws: AccountError.self) {
                    try await services.links.confirmEmail(confirm, by: proof)
                }
                #expect(refusal?.code == .authResetTokenInvalid)
            }
            #expect(try await services.signIn("victim@example.com", chosen).account.email.text == "victim@example.com")
        }
    }

    @Test("Of a confirmed change and a reset at the same time, the owner keeps the account")
    func concurrentChangeAndReset() async throws {
        for _ in 0..<20 {
            try await withServices { services in
                let attacker = try await services.register("victim@example.com")
                let target = try EmailAddress("attacker@example.com")
                let caller = try await services.signedIn(attacker)
                try await services.settings.requestEmailChange(of: caller, to: target, password: try Password("old password"))
                let confirm = try await services.token(.confirmEmail)
                try await services.recovery.request(email: try EmailAddress("victim@example.com"), language: .english)
                let reset = try await services.token(.passwordReset)
                async let change: Void = services.links.confirmEmail(confirm, by: .session(accessToken: attacker.accessToken))
                async let confirmed = services.recovery.confirm(reset, email: nil, newPassword: try Password(chosen))
                _ = try? await (change, confirmed)
                let account = try #require(try await services.stores.accounts.account(id: attacker.account.id))
                if account.email == target {
                    // The change came first, so the reset link has no effect, and the notice restores the address.
                    try await services.links.undoEmail(try await services.token(.emailChanged))
                }
                await #expect(throws: AccountError.sessionExpired) { try await services.signedIn(attacker) }
                let owned = try #require(try await services.stores.accounts.account(id: attacker.account.id))
                #expect(owned.email.text == "victim@example.com")
            }
        }
    }

    @Test("After two address changes and a deletion, the first owner restores the account")
    func firstOwnerWins() async throws {
        try await withServices { services in
            let attacker = try await services.register("victim@example.com")
            let undo = try await change(services, attacker, to: "attacker@one.example.com")
            services.clock.advance(by: 60)
            let laterUndo = try await change(services, attacker, to: "attacker@two.example.com")
            services.clock.advance(by: 60)
            try await services.recovery.request(email: try EmailAddress("attacker@two.example.com"), language: .english)
            try await services.recovery.confirm(
                try await services.token(.passwordReset),
                email: nil,
                newPassword: try Password("of the attacker")
            )
            let again = try await services.signIn("attacker@two.example.com", "of the attacker")
            let purgeAt = try await services.settings.delete(
                try await services.signedIn(again),
                password: try Password("of the attacker")
            )
            #expect(purgeAt >= services.clock.now().addingTimeInterval(7 * 86_400 - 120))
            let mails = try await services.mails()
            #expect(mails.filter { $0.subject == "former_account_deleted" }.map(\.recipient.text).contains("victim@example.com"))
            let keep = try ResetToken(try #require(mails.first { $0.subject == "account_deleted" }).text)

            try await services.links.undoEmail(undo)
            for token in [laterUndo, undo] {
                await #expect(throws: AccountError.resetTokenInvalid) { try await services.links.undoEmail(token) }
            }
            await #expect(throws: AccountError.resetTokenInvalid) { try await services.links.keepAccount(keep) }
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.signIn("victim@example.com", "of the attacker")
            }
            await #expect(throws: AccountError.refreshFailed) { try await services.refresh(again) }
            let account = try #require(try await services.stores.accounts.account(id: attacker.account.id))
            #expect((account.email.text, account.purgeAt) == ("victim@example.com", nil))
            #expect(account.passwordHash == Account.unusablePassword)
            try await services.recovery.request(email: account.email, language: .english)
            let reset = try await services.token(.passwordReset)
            try await services.recovery.confirm(reset, email: nil, newPassword: try Password(chosen))
            #expect(try await services.signIn("victim@example.com", chosen).account.id == account.id)
        }
    }

    @Test("After an undo, no former address gets the notice of the canceled deletion")
    func noNoticeOfCanceledDeletion() async throws {
        try await withServices { services in
            let opened = try await services.register("ana@example.com")
            try await change(services, opened, to: "ana@one.example.com")
            services.clock.advance(by: 60)
            let undo = try await change(services, opened, to: "ana@two.example.com")
            _ = try await services.settings.delete(try await services.signedIn(opened), password: try Password("old password"))
            try await services.links.undoEmail(undo)
            let account = try #require(try await services.stores.accounts.account(id: opened.account.id))
            #expect((account.email.text, account.purgeAt) == ("ana@one.example.com", nil))
            #expect(try await services.mails().isEmpty)
        }
    }

    @Test("The first owner wins even if the clock is set back between two address changes")
    func firstOwnerWinsAfterClockStep() async throws {
        try await withServices { services in
            let attacker = try await services.register("victim@example.com")
            let undo = try await change(services, attacker, to: "attacker@one.example.com")
            services.clock.advance(by: -3_600)
            let laterUndo = try await change(services, attacker, to: "attacker@two.example.com")
            try await services.links.undoEmail(undo)
            await #expect(throws: AccountError.resetTokenInvalid) { try await services.links.undoEmail(laterUndo) }
            let account = try #require(try await services.stores.accounts.account(id: attacker.account.id))
            #expect(account.email.text == "victim@example.com")
        }
    }

    @Test("An undo link that waits delays the purge, also without a grace time")
    func purgeWaitsForUndo() async throws {
        let services = try await AccountServices(deletionGrace: .zero)
        let attacker = try await services.register("victim@example.com")
        let undo = try await change(services, attacker, to: "attacker@example.com")
        _ = try await services.settings.delete(try await services.signedIn(attacker), password: try Password("old password"))
        services.clock.advance(by: 6 * 86_400)
        #expect(try await services.purge() == 0)
        try await services.links.undoEmail(undo)
        services.clock.advance(by: 30 * 86_400)
        #expect(try await services.purge() == 0)
        #expect(try await services.stores.accounts.account(id: attacker.account.id)?.email.text == "victim@example.com")
    }

    @Test("An undo link is refused after the purge")
    func undoAfterPurge() async throws {
        try await withServices { services in
            let opened = try await services.register("ana@example.com")
            let undo = try await change(services, opened, to: "ana@new.example.com")
            _ = try await services.settings.delete(try await services.signedIn(opened), password: try Password("old password"))
            let keep = try await services.token(.accountDeleted)
            services.clock.advance(by: 7 * 86_400 + 60)
            #expect(try await services.purge() == 1)
            await #expect(throws: AccountError.resetTokenInvalid) { try await services.links.undoEmail(undo) }
            await #expect(throws: AccountError.resetTokenInvalid) { try await services.links.keepAccount(keep) }
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.signIn("ana@new.example.com", "old password")
            }
        }
    }

    @Test("A stolen access token can't delete, export, or change the password or address")
    func stolenAccessToken() async throws {
        try await withServices { services in
            let opened = try await services.register("ana@example.com")
            let thief = try await services.signedIn(opened)
            let guess = try Password("a guess of mine")
            await #expect(throws: AccountError.invalidCredentials) { try await services.settings.delete(thief, password: guess) }
            await #expect(throws: AccountError.invalidCredentials) { try await services.settings.export(thief, password: guess) }
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.settings.changePassword(of: thief, from: guess, to: try Password("of the attacker"))
            }
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.settings.requestEmailChange(
                    of: thief,
                    to: try EmailAddress("eve@example.com"),
                    password: guess
                )
            }
            #expect(try await services.signedIn(opened).account.purgeAt == nil)
        }
    }

    @Test("An attacker gains nothing if the victim opens the attacker's confirmation link")
    func pointedAtVictim() async throws {
        try await withServices { services in
            let victim = try await services.register("victim@example.com")
            let attacker = try await services.register("attacker@example.com")
            _ = try await services.mails()
            let caller = try await services.signedIn(attacker)
            let target = try EmailAddress("victim@work.example.com")
            try await services.settings.requestEmailChange(of: caller, to: target, password: try Password("old password"))
            let link = try await services.token(.confirmEmail)
            // The victim opens the link while signed in to another account, or types the password of another account.
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.links.confirmEmail(link, by: .session(accessToken: victim.accessToken))
            }
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.links.confirmEmail(link, by: .password(try Password(chosen)))
            }
            #expect(try await services.signedIn(attacker).account.email.text == "attacker@example.com")
            #expect(try await services.stores.accounts.account(email: target) == nil)
        }
    }

    @Test("No caller sees or ends a session of another account")
    func foreignSessions() async throws {
        try await withServices { services in
            let ana = try await services.register("ana@example.com")
            let eve = try await services.register("eve@example.com")
            let target = try await services.signedIn(ana)
            let caller = try await services.signedIn(eve)
            #expect(try await services.settings.sessions(of: caller).map(\.session.id) == [caller.session])
            try await services.settings.endSession(target.session, of: caller)
            try await services.settings.endOtherSessions(of: caller)
            #expect(try await services.signedIn(ana).account.id == ana.account.id)
        }
    }

    @Test("Changing the address back and forth doesn't shorten the undo link's lifetime")
    func repeatedChanges() async throws {
        try await withServices { services in
            let owner = try await services.register("victim@example.com")
            try await change(services, owner, to: "victim@work.example.com")
            services.clock.advance(by: 60)
            try await change(services, owner, to: "victim@example.com")
            services.clock.advance(by: 6.9 * 86_400)
            let thief = try await services.signIn("victim@example.com", "old password")
            let undo = try await change(services, thief, to: "attacker@example.com")
            services.clock.advance(by: 6 * 86_400)
            try await services.links.undoEmail(undo)
            #expect(try await services.stores.accounts.account(id: owner.account.id)?.email.text == "victim@example.com")
        }
    }

    @Test("An export doesn't reveal whether the requested new address has an account")
    func exportRevealsNoAccount() async throws {
        try await withServices { services in
            _ = try await services.register("taken@example.com")
            let opened = try await services.register("ana@example.com")
            _ = try await services.mails()
            let caller = try await services.signedIn(opened)
            var exports: [[StoredLink]] = []
            for address in ["taken@example.com", "free@example.com"] {
                let password = try Password("old password")
                try await services.settings.requestEmailChange(of: caller, to: try EmailAddress(address), password: password)
                _ = try await services.mails()
                exports.append(try await services.settings.export(caller, password: password).record.links)
            }
            #expect(exports[0] == exports[1])
        }
    }

    @Test("A thief with the password can't void the link \"this was not me\"")
    func thiefCantVoidLinks() async throws {
        try await withServices { services in
            _ = try await services.register("ana@example.com")
            _ = try await services.signIn("ana@example.com", "old password", on: ClientDevice(family: "Mac"))
            _ = try await services.mails()
            let thief = try await services.signIn("ana@example.com", "old password", on: ClientDevice(family: "Android"))
            let lock = try await services.token(.newDevice)
            try await services.recovery.request(email: try EmailAddress("ana@example.com"), language: .english)
            let reset = try await services.token(.passwordReset)
            _ = try await services.settings.changePassword(
                of: try await services.signedIn(thief),
                from: try Password("old password"),
                to: try Password("of the attacker")
            )
            try await AccountLock(tokens: services.stores.accountLockTokens, now: services.clock.now).lock(lock)
            await #expect(throws: AccountError.locked) { try await services.signIn("ana@example.com", "of the attacker") }
            // The lock voids reset links, because they may have been sent before the mailbox was safe again.
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.recovery.confirm(reset, email: nil, newPassword: try Password(chosen))
            }
        }
    }

    @Test("An intruder gets no link \"this was not me\" while the owner restores the address")
    func lockLinkDuringUndo() async throws {
        let meanwhile = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let stores = InMemoryAccountStores { operation in
            guard operation == "freezeTokens.insert" else { return }
            try await meanwhile.withLock { $0.take() }?()
        }
        let services = try await AccountServices(stores)
        let attacker = try await services.register("victim@example.com")
        let undo = try await change(services, attacker, to: "attacker@example.com")
        _ = try await services.settings.changePassword(
            of: try await services.signedIn(attacker),
            from: try Password("old password"),
            to: try Password("of the attacker")
        )
        // Runs after the worker has prepared the notice for the intruder's address, and before it stores the token of the notice.
        meanwhile.withLock { meanwhile in
            meanwhile = { try await services.links.undoEmail(undo) }
        }
        #expect(try await services.mails().isEmpty)
        #expect(try await stores.intents.mails(limit: 9).map(\.reason) == ["the address of the account has changed"])
        services.clock.advance(by: 60)
        // The notice goes to the owner instead.
        let notice = try #require(try await services.mails().first)
        #expect((notice.subject, notice.recipient.text) == ("changed", "victim@example.com"))
        try await AccountLock(tokens: stores.accountLockTokens, now: services.clock.now).lock(try ResetToken(notice.text))
    }

    @Test("A former address can't be taken by another account until its undo link expires")
    func formerAddressIsReserved() async throws {
        try await withServices { services in
            let ana = try await services.register("first@example.com")
            let eve = try await services.register("eve@example.com")
            _ = try await services.mails()
            let caller = try await services.signedIn(eve)
            let target = try EmailAddress("ana@example.com")
            func requestChange() async throws {
                try await services.settings.requestEmailChange(of: caller, to: target, password: try Password("old password"))
            }
            try await requestChange()
            let link = try await services.token(.confirmEmail)
            try await change(services, ana, to: "ana@example.com")
            try await change(services, ana, to: "ana@new.example.com")
            _ = try await services.mails()
            await #expect(throws: AccountError.emailExists) { try await services.register("ana@example.com") }
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.links.confirmEmail(link, by: .session(accessToken: eve.accessToken))
            }
            // No link is sent that could only fail.
            try await requestChange()
            try await services.registration.request(email: target, firstName: try FirstName("Eve"), language: .english)
            #expect(try await services.mails().isEmpty)
            services.clock.advance(by: 7 * 86_400 + 1)
            _ = try await services.register("ana@example.com")
        }
    }

    @Test("Emails to an unverified address greet without the name that was registered")
    func namelessGreeting() async throws {
        try await withServices { services in
            _ = try await services.register("victim@example.com")
            try await services.recovery.request(email: try EmailAddress("victim@example.com"), language: .english)
            let names = NameRecorder()
            _ = try await services.mails(rendering: names)
            #expect(names.names == ["verify_email": nil, "password_reset": nil])
        }
    }
}

/// Records the names in emails, by kind.
private final class NameRecorder: MailRendering {
    private let recorded = LockedNames()

    var names: [String: String?] { recorded.all }

    func mail(_ content: MailContent) throws -> Mail {
        recorded.add(content.kind.rawValue, content.name?.rawValue)
        return PlainRendering().mail(content)
    }
}
