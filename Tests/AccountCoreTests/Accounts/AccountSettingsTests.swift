import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import Logging
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct AccountSettingsTests {
    @Test("A change of the password ends all sessions and returns a new one")
    func changePassword() async throws {
        try await withServices { services in
            let first = try await services.register()
            let second = try await services.signIn("ana@example.com", "old password")
            let new = try await services.settings.changePassword(
                of: try await services.signedIn(second),
                from: try Password("old password"),
                to: try Password("a better password")
            )
            for opened in [first, second] {
                await #expect(throws: AccountError.sessionExpired) { try await services.signedIn(opened) }
                await #expect(throws: AccountError.refreshFailed) { try await services.refresh(opened) }
            }
            #expect(try await services.signedIn(new).account.id == first.account.id)
            _ = try await services.signIn("ana@example.com", "a better password")
            #expect(try await services.mails().map(\.subject).contains("changed"))
        }
    }

    @Test("Refuses a weak new password before the current one is checked")
    func weakPassword() async throws {
        try await withServices { services in
            let caller = try await services.signedIn(try await services.register())
            let refusal = await #expect(throws: AccountError.self) {
                try await services.settings.changePassword(of: caller, from: try Password("a guess"), to: try Password("short"))
            }
            #expect(refusal?.code == .authWeakPassword)
        }
    }

    @Test("A change that a reset overtakes is refused")
    func overtaken() async throws {
        try await withServices { services in
            let caller = try await services.signedIn(try await services.register())
            _ = try await services.stores.accounts.setState(.locked, of: caller.account.id)
            await #expect(throws: AccountError.sessionExpired) {
                try await services.settings.changePassword(
                    of: caller,
                    from: try Password("old password"),
                    to: try Password("a better password")
                )
            }
        }
    }

    @Test("A store that is busy after a change reports an unknown outcome")
    func busyAfterChange() async throws {
        let isBusy = Mutex(false)
        let stores = InMemoryAccountStores { operation in
            if operation == "sessions.open", isBusy.withLock({ $0 }) { throw StoreFailure(isBusy: true, message: "busy") }
        }
        let services = try await AccountServices(stores)
        let caller = try await services.signedIn(try await services.register())
        try await services.registration.request(
            email: try EmailAddress("cleo@example.com"),
            firstName: try FirstName("Cleo"),
            language: .english
        )
        let link = try await services.token(.activate)
        isBusy.withLock { $0 = true }
        let changed = await #expect(throws: StoreFailure.self) {
            try await services.settings.changePassword(
                of: caller,
                from: try Password("old password"),
                to: try Password("a better password")
            )
        }
        let registered = await #expect(throws: StoreFailure.self) { try await services.register("ben@example.com") }
        let activated = await #expect(throws: StoreFailure.self) {
            try await services.registration.activate(link, password: try Password("a good password"))
        }
        let refused = await #expect(throws: StoreFailure.self) {
            try await services.signIn("ana@example.com", "a better password")
        }
        #expect([changed, registered, activated].map { $0?.isOutcomeUnknown } == [true, true, true])
        #expect(refused?.isOutcomeUnknown == false)
        isBusy.withLock { $0 = false }
        for (email, password) in [
            ("ana@example.com", "a better password"), ("ben@example.com", "old password"),
            ("cleo@example.com", "a good password"),
        ] {
            _ = try await services.signIn(email, password)
        }
    }

    @Test("Changes the name and the language")
    func update() async throws {
        try await withServices { services in
            let opened = try await services.register()
            let caller = try await services.signedIn(opened)
            let renamed = try await services.settings.update(caller, firstName: try FirstName("Anne"), language: nil)
            #expect((renamed.firstName.rawValue, renamed.language) == ("Anne", .spanish))
            let moved = try await services.settings.update(caller, firstName: nil, language: .german)
            #expect((moved.firstName.rawValue, moved.language) == ("Anne", .german))
            #expect(try await services.signedIn(opened).account == moved)
        }
    }

    @Test("The account's sessions are listed with their devices and can be ended one by one")
    func sessions() async throws {
        try await withServices { services in
            let first = try await services.register()
            services.clock.advance(by: 60)
            let phone = ClientDevice(name: "Ana's phone", family: "iPhone")
            let second = try await services.signIn("ana@example.com", "old password", on: phone)
            let caller = try await services.signedIn(first)
            let listed = try await services.settings.sessions(of: caller)
            #expect(listed.map(\.session.deviceName) == ["Ana's phone", nil])
            #expect(listed.map(\.lastUsedAt) == [services.clock.now(), services.clock.now().addingTimeInterval(-60)])
            let other = try #require(listed.first?.session.id)
            try await services.settings.endSession(other, of: caller)
            await #expect(throws: AccountError.sessionExpired) { try await services.signedIn(second) }
            let third = try await services.signIn("ana@example.com", "old password")
            try await services.settings.endOtherSessions(of: caller)
            await #expect(throws: AccountError.refreshFailed) { try await services.refresh(third) }
            #expect(try await services.settings.sessions(of: caller).map(\.session.id) == [caller.session])
        }
    }

    @Test("An email reports a new device family, but neither the first nor a known one")
    func newDevice() async throws {
        try await withServices { services in
            let mac = ClientDevice(family: "Mac")
            _ = try await services.register()
            for device in [mac, mac, ClientDevice()] {
                _ = try await services.signIn("ana@example.com", "old password", on: device)
            }
            #expect(try await !services.mails().map(\.subject).contains("new_device"))
            _ = try await services.signIn("ana@example.com", "old password", on: ClientDevice(family: "Android"))
            let token = try await services.token(.newDevice)
            try await AccountLock(tokens: services.stores.accountLockTokens, now: services.clock.now).lock(token)
            await #expect(throws: AccountError.locked) { try await services.signIn("ana@example.com", "old password") }
        }
    }

    @Test("A sign-in that fails while it queues an email doesn't lose the email")
    func newDeviceAfterCancellation() async throws {
        let fails = Mutex(false)
        let stores = InMemoryAccountStores { operation in
            if operation == "intents.enqueue", fails.withLock({ $0 }) { throw CancellationError() }
        }
        let services = try await AccountServices(stores)
        _ = try await services.register()
        _ = try await services.signIn("ana@example.com", "old password", on: ClientDevice(family: "Mac"))
        _ = try await services.mails()
        let phone = ClientDevice(family: "Android")
        fails.withLock { $0 = true }
        _ = try? await services.signIn("ana@example.com", "old password", on: phone)
        fails.withLock { $0 = false }
        _ = try await services.signIn("ana@example.com", "old password", on: phone)
        #expect(try await services.mails().map(\.subject) == ["new_device"])
    }

    @Test("No email about a new device is sent if the operator turned it off")
    func noNewDeviceEmail() async throws {
        let services = try await AccountServices(signInRules: SignInRules(sendsNewDeviceEmails: false))
        _ = try await services.register()
        for family in ["Mac", "Android"] {
            _ = try await services.signIn("ana@example.com", "old password", on: .init(family: family))
        }
        #expect(try await services.mails().map(\.subject) == ["verify_email"])
    }

    @Test("A deleted account has its own code for the right password, not for a wrong one")
    func deletion() async throws {
        try await withServices { services in
            let opened = try await services.register()
            _ = try await services.settings.delete(try await services.signedIn(opened), password: try Password("old password"))
            await #expect(throws: AccountError.deleted) { try await services.signIn("ana@example.com", "old password") }
            await #expect(throws: AccountError.invalidCredentials) { try await services.signIn("ana@example.com", "a guess") }
            await #expect(throws: AccountError.refreshFailed) { try await services.refresh(opened) }
            await #expect(throws: AccountError.emailExists) { try await services.register() }
            let mails = try await services.mails()
            let keep = try ResetToken(try #require(mails.first { $0.subject == "account_deleted" }).text)
            try await services.recovery.request(email: opened.account.email, language: .english)
            #expect(try await services.mails().isEmpty)
            try await services.links.keepAccount(keep)
            await #expect(throws: AccountError.sessionExpired) { try await services.signedIn(opened) }
            #expect(try await services.signIn("ana@example.com", "old password").account.purgeAt == nil)
            await #expect(throws: AccountError.resetTokenInvalid) { try await services.links.keepAccount(keep) }
        }
    }

    @Test("A purge removes deleted accounts in time, lists them, and can be reapplied")
    func purge() async throws {
        try await withServices { services in
            let opened = try await services.register()
            _ = try await services.settings.delete(try await services.signedIn(opened), password: try Password("old password"))
            services.clock.advance(by: 7 * 86_400 - 1)
            #expect(try await services.purge() == 0)
            services.clock.advance(by: 1)
            let list = RecordedPurges()
            #expect(try await services.purge(list) == 1)
            #expect(list.ids == [opened.account.id])
            #expect(try await services.stores.accounts.accounts().isEmpty)
            // A restored backup has the account again.
            let account = opened.account
            _ = try await services.stores.accounts.insert(account)
            let service = services.purgeService(list)
            #expect(try await service.reapply([account.id, Account.ID(rawValue: UUID())]) == 1)
            #expect(try await services.stores.accounts.accounts().isEmpty)
        }
    }

    @Test("Only unverified accounts without a recent session are removed as unused")
    func unverified() async throws {
        try await withServices { services in
            let idle = try await services.register("idle@example.com")
            let used = try await services.register("used@example.com")
            let verified = try await services.register("verified@example.com")
            let mails = try await services.mails()
            let link = try ResetToken(try #require(mails.first { $0.recipient == verified.account.email }).text)
            try await services.links.verify(link, by: .session(accessToken: verified.accessToken))
            services.clock.advance(by: 20 * 86_400)
            _ = try await services.refresh(used)
            services.clock.advance(by: 12 * 86_400)
            #expect(try await services.purge(unverifiedDays: 0) == 0)
            #expect(try await services.purge(unverifiedDays: 30) == 1)
            let left = try await services.stores.accounts.accounts().map(\.email.text)
            #expect(Set(left) == ["used@example.com", "verified@example.com"])
            #expect(try await services.stores.accounts.account(id: idle.account.id) == nil)
        }
    }

    @Test("A purge of unused accounts keeps an account that was just restored")
    func restoredUnverified() async throws {
        try await withServices { services in
            let opened = try await services.register()
            _ = try await services.settings.delete(try await services.signedIn(opened), password: try Password("old password"))
            let keep = try await services.token(.accountDeleted)
            services.clock.advance(by: 6 * 86_400)
            try await services.links.keepAccount(keep)
            #expect(try await services.purge(unverifiedDays: 1) == 0)
            #expect(try await services.signIn("ana@example.com", "old password").account.id == opened.account.id)
        }
    }

    @Test("An export has the account with its sessions, links, devices and events")
    func export() async throws {
        try await withServices { services in
            let opened = try await services.register()
            _ = try await services.mails()
            let caller = try await services.signedIn(opened)
            let export = try await services.settings.export(caller, password: try Password("old password"))
            #expect(export.record.account == opened.account)
            #expect(export.record.links.map(\.purpose) == [.verifyEmail])
            #expect(export.sessions.map(\.session.id) == [caller.session])
        }
    }

    @Test("A missing required verification has its own error if the password is right")
    func requiresVerifiedEmail() async throws {
        let services = try await AccountServices(signInRules: SignInRules(requiresVerifiedEmail: true))
        let opened = try await services.register()
        await #expect(throws: AccountError.emailNotVerified) { try await services.signIn("ana@example.com", "old password") }
        await #expect(throws: AccountError.invalidCredentials) { try await services.signIn("ana@example.com", "a guess") }
        let link = try await services.token(.verifyEmail)
        try await services.links.verify(link, by: .password(try Password("old password")))
        _ = try await services.signIn("ana@example.com", "old password")
        #expect(try await services.signedIn(opened).account.isEmailVerified)
    }

    @Test("Blind registration responds alike to any address; its link creates the account")
    func blindRegistration() async throws {
        try await withServices { services in
            _ = try await services.register("taken@example.com")
            _ = try await services.mails()
            for address in ["new@example.com", "taken@example.com"] {
                let name = try FirstName("Ana")
                try await services.registration.request(email: try EmailAddress(address), firstName: name, language: .english)
            }
            #expect(try await services.stores.accounts.accounts().count == 1)
            await #expect(throws: AccountError.invalidCredentials) {
                try await services.signIn("new@example.com", "old password")
            }
            let mails = try await services.mails()
            #expect(mails.first { $0.recipient.text == "taken@example.com" }?.subject == "account_exists")
            let link = try ResetToken(try #require(mails.first { $0.subject == "activate" }).text)
            let weak = await #expect(throws: AccountError.self) {
                try await services.registration.activate(link, password: try Password("short"))
            }
            #expect(weak?.code == .authWeakPassword)
            let opened = try await services.registration.activate(link, password: try Password("a good password"))
            #expect(opened.account.isEmailVerified)
            await #expect(throws: AccountError.resetTokenInvalid) {
                try await services.registration.activate(link, password: try Password("a good password"))
            }
        }
    }
}

extension AccountServices {
    func purgeService(_ list: RecordedPurges = RecordedPurges(), unverifiedDays: Int = 0) -> AccountPurge<ContinuousClock> {
        AccountPurge(
            records: stores.records,
            list: list,
            unverifiedDays: unverifiedDays,
            clock: ContinuousClock(),
            now: clock.now,
            logger: Logger(label: "test")
        )
    }

    @discardableResult
    func purge(_ list: RecordedPurges = RecordedPurges(), unverifiedDays: Int = 0) async throws -> Int {
        try await purgeService(list, unverifiedDays: unverifiedDays).purge()
    }
}

/// A list of purges in memory.
final class RecordedPurges: PurgeList {
    private let purges = Mutex<[ListedPurge]>([])

    var ids: [Account.ID] { purges.withLock { $0.map(\.id) } }

    func append(_ new: [ListedPurge]) async throws { purges.withLock { $0 += new } }
}

/// Names by kind of email.
final class LockedNames: Sendable {
    private let names = Mutex<[String: String?]>([:])

    var all: [String: String?] { names.withLock { $0 } }

    func add(_ kind: String, _ name: String?) { names.withLock { $0[kind] = .some(name) } }
}
