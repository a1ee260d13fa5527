import AccountContract
import AccountStoreTesting
import ErrorContract
import Foundation
import Synchronization
import Testing

@testable import AccountCore

@Suite struct SignInTests {
    @Test("A registered user is signed in and can sign in with the address in any case")
    func register() async throws {
        try await withServices { services in
            let opened = try await services.register()
            #expect(try await services.authentication.account(accessToken: opened.accessToken) == opened.account)
            let again = try await services.signIn("ANA@example.com", "old password")
            #expect(again.account == opened.account)
            #expect(again.account.passwordHash == "1:old password")
            #expect(again.refreshToken.text != opened.refreshToken.text)
        }
    }

    @Test("A registration that fails after it stored the account doesn't lose the email")
    func registerInterrupted() async throws {
        let fails = Mutex(true)
        let stores = InMemoryAccountStores { operation in
            // The store is busy as soon as it has written the account.
            let isLater = operation == "intents.enqueue" || operation == "sessions.open"
            if isLater, fails.withLock({ $0 }) { throw StoreFailure(isBusy: true, message: "busy") }
        }
        let services = try await AccountServices(stores)
        await #expect(throws: StoreFailure.self) { try await services.register() }
        fails.withLock { $0 = false }
        #expect(try await services.mails().map(\.subject) == ["verify_email"])
    }

    @Test("Refuses a registered address and a weak password")
    func registerRefusals() async throws {
        try await withServices { services in
            _ = try await services.register()
            await #expect(throws: AccountError.emailExists) { try await services.register("ana@EXAMPLE.com") }
            let weak = await #expect(throws: AccountError.self) {
                try await services.registration.register(
                    email: try EmailAddress("bob@example.com"),
                    password: try Password("short"),
                    firstName: try FirstName("Bob"),
                    language: .english
                )
            }
            #expect(weak?.code == .authWeakPassword)
            #expect(weak?.weaknesses == [.tooShort(minimum: 8)])
            #expect(try await services.stores.accounts.accounts().count == 1)
        }
    }

    @Test("Refuses a wrong password and a missing account with the same error")
    func invalidCredentials() async throws {
        try await withServices { services in
            _ = try await services.register()
            for (email, password) in [("ana@example.com", "wrong password"), ("bob@example.com", "old password")] {
                await #expect(throws: AccountError.invalidCredentials) { try await services.signIn(email, password) }
            }
        }
    }

    @Test(
        "Reports an inactive account only after the right password",
        arguments: [Account.State.inactive, .suspended]
    )
    func outOfUse(_ state: Account.State) async throws {
        try await withServices { services in
            let opened = try await services.register()
            // Does not use `setState`, which also ends sessions.
            services.stores.read { $0.accounts[opened.account.id]?.state = state }
            let refusal: AccountError = state == .inactive ? .inactive : .suspended
            await #expect(throws: refusal) { try await services.signIn("ana@example.com", "old password") }
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.signIn("ana@example.com", "wrong password")
            }
            await #expect(throws: AccountError.sessionExpired) {
                try await services.authentication.account(accessToken: opened.accessToken)
            }
            await #expect(throws: AccountError.refreshFailed) { try await services.refresh(opened) }
        }
    }

    @Test("The next sign-in renews a hash of weaker parameters and ends no session")
    func rehash() async throws {
        try await withServices { services in
            let opened = try await services.register()
            let newer = try await AccountServices(services.stores, hashing: PlainHashing(generation: 2))
            let again = try await newer.signIn("ana@example.com", "old password")
            let stored = try await services.stores.accounts.account(id: again.account.id)
            #expect(stored?.passwordHash == "2:old password")
            #expect(try await services.authentication.account(accessToken: opened.accessToken).id == again.account.id)
            await #expect(throws: AccountError.invalidCredentials) { try await newer.signIn("ana@example.com", "wrong one") }
        }
    }

    @Test("A refresh token refreshes a session; the access token expires after 15 minutes")
    func refresh() async throws {
        try await withServices { services in
            let opened = try await services.register()
            services.clock.advance(by: 899)
            _ = try await services.authentication.account(accessToken: opened.accessToken)
            services.clock.advance(by: 1)
            await #expect(throws: AccountError.tokenExpired) {
                try await services.authentication.account(accessToken: opened.accessToken)
            }
            let next = try await services.refresh(opened)
            #expect(try await services.authentication.account(accessToken: next.accessToken) == opened.account)
            services.clock.advance(by: 11)
            await #expect(throws: AccountError.refreshFailed) { try await services.refresh(opened) }
            await #expect(throws: AccountError.sessionExpired) {
                try await services.authentication.account(accessToken: next.accessToken)
            }
        }
    }

    @Test("A refresh succeeds although the store can't record the activity of the account")
    func refreshWithoutActivity() async throws {
        let fails = Mutex(false)
        let failures = Mutex(0)
        let stores = InMemoryAccountStores { operation in
            guard operation == "records.noteActivity", fails.withLock({ $0 }) else { return }
            failures.withLock { $0 += 1 }
            throw StoreFailure(isBusy: true, message: "busy")
        }
        let services = try await AccountServices(stores)
        let opened = try await services.register()
        fails.withLock { $0 = true }
        let next = try await services.refresh(opened)
        services.clock.advance(by: 11)
        _ = try await services.refresh(next)
        #expect(failures.withLock { $0 } >= 2)
    }

    @Test(
        "A sign-in that fails or is canceled after it opened a session ends the session",
        arguments: ["records.noteActivity", "records.noteDevice"],
        [false, true]
    )
    func unusedSession(_ failing: String, isCanceled: Bool) async throws {
        let fails = Mutex(false)
        let stores = InMemoryAccountStores { operation in
            // Like the stores in databases, the canceled task can write nothing.
            if Task.isCancelled { throw CancellationError() }
            guard operation == failing, fails.withLock({ $0 }) else { return }
            guard isCanceled else { throw StoreFailure(isBusy: true, message: "busy") }
            withUnsafeCurrentTask { $0?.cancel() }
            throw CancellationError()
        }
        let services = try await AccountServices(stores)
        let id = try await services.register().account.id
        fails.withLock { $0 = true }
        let signIn = Task {
            _ = try await services.signIn("ana@example.com", "old password", on: ClientDevice(family: "iPhone"))
        }
        await #expect(throws: (any Error).self) { try await signIn.value }
        #expect(try await stores.sessions.sessions(of: id, limit: 9).count == 1)
    }

    @Test("A session that was idle too long is refused as expired")
    func idle() async throws {
        try await withServices { services in
            let opened = try await services.register()
            services.clock.advance(by: 31 * 86_400)
            await #expect(throws: AccountError.sessionExpired) { try await services.refresh(opened) }
        }
    }

    @Test("A sign-out ends the session and its access token at once, and can be repeated")
    func signOut() async throws {
        try await withServices { services in
            let opened = try await services.register()
            let token = try RefreshToken(opened.refreshToken.text)
            try await services.authentication.signOut(token)
            try await services.authentication.signOut(token)
            try await services.authentication.signOut(try RefreshToken("unknown"))
            await #expect(throws: AccountError.sessionExpired) {
                try await services.authentication.account(accessToken: opened.accessToken)
            }
            await #expect(throws: AccountError.refreshFailed) { try await services.refresh(opened) }
        }
    }
}
