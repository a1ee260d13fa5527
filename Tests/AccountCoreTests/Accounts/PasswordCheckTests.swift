import AccountContract
import AccountCore
import AccountStoreTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct PasswordCheckTests {
    /// The outcomes that a sign-in reports.
    private final class Reports: Sendable {
        private let outcomes = Mutex<[Authentication.PasswordCheck]>([])
        var all: [Authentication.PasswordCheck] { outcomes.withLock { $0 } }
        func note(_ outcome: Authentication.PasswordCheck) { outcomes.withLock { $0.append(outcome) } }
    }

    private func attempt(
        _ services: AccountServices,
        _ password: String,
        as email: String = "ana@example.com",
        _ reports: Reports
    ) async {
        guard let email = try? EmailAddress(email), let password = try? Password(password) else { return }
        _ = try? await services.authentication.signIn(email: email, password: password) { reports.note($0) }
    }

    @Test("A sign-in reports its password check once, also for an inactive account")
    func outcomes() async throws {
        try await withStores { stores in
            let services = try await AccountServices(stores)
            let account = try await services.register().account
            let attempts: [(String, String, Authentication.PasswordCheck)] = [
                ("ana@example.com", "old password", .right), ("ana@example.com", "a guess", .wrong),
                ("nobody@example.com", "old password", .wrong),
            ]
            for state in [Account.State.active, .suspended, .locked] {
                _ = try await stores.accounts.setState(state, of: account.id)
                for (email, password, outcome) in attempts {
                    let reports = Reports()
                    await attempt(services, password, as: email, reports)
                    #expect(reports.all == [outcome], "\(email) \(password) \(state)")
                }
            }
        }
    }

    @Test("Reports no check if the queue is full or the caller cancels before the check")
    func notMade() async throws {
        try await withStores { stores in
            let hashing = PlainHashing()
            let services = try await AccountServices(stores, hashing: hashing, width: 1, queueLimit: 1)
            _ = try await services.register()
            hashing.hold()
            let (running, waiting, refused) = (Reports(), Reports(), Reports())
            let first = Task { await attempt(services, "a guess", running) }
            await until { hashing.verified.count == 1 }
            let second = Task { await attempt(services, "a guess", waiting) }
            await until { services.gate.queueLength == 1 }
            await attempt(services, "a guess", refused)
            #expect(refused.all == [.notMade])
            second.cancel()
            await second.value
            #expect(waiting.all == [.notMade])
            first.cancel()
            hashing.release()
            await first.value
            #expect(running.all == [.wrong])
            #expect(hashing.verified.count == 1)
        }
    }

    @Test("Only a valid token of the account in its current epoch proves a device")
    func devices() async throws {
        try await withStores { stores in
            let services = try await AccountServices(stores)
            let ana = try await services.register("ana@example.com")
            let bea = try await services.register("bea@example.com")
            let email = try EmailAddress("ANA@example.com")
            let signIn = services.authentication
            #expect(try await signIn.device(provenBy: [ana.deviceToken], for: email) != nil)
            #expect(try await signIn.device(provenBy: [bea.deviceToken], for: email) == nil)
            #expect(try await signIn.device(provenBy: [], for: email) == nil)
            #expect(try await signIn.device(provenBy: [bea.deviceToken, ana.deviceToken], for: email) != nil)
            #expect(try await signIn.device(provenBy: [ana.deviceToken], for: EmailAddress("nobody@example.com")) == nil)

            // All tokens of a session belong to one device, so that a refresh adds no attempts.
            let next = try await signIn.refresh(try RefreshToken(ana.refreshToken.text))
            let devices = try await [ana, next].asyncMap { try await signIn.device(provenBy: [$0.deviceToken], for: email) }
            #expect(devices[0] == devices[1])

            for state in [Account.State.locked, .active] {
                _ = try await stores.accounts.setState(state, of: ana.account.id)
                #expect(try await signIn.device(provenBy: [next.deviceToken], for: email) == nil)
            }
        }
    }

    @Test("A confirmed reset invalidates the account's device tokens and returns a new one")
    func reset() async throws {
        try await withStores { stores in
            let services = try await AccountServices(stores)
            let ana = try await services.register("ana@example.com")
            let link = SecretToken()
            let stored = StoredResetToken(
                digest: link.digest,
                accountID: ana.account.id,
                recipient: ana.account.email,
                createdAt: services.clock.now(),
                expiresAt: services.clock.now().addingTimeInterval(3_600)
            )
            try await stores.resetTokens.insert(stored, liveLimit: 3)
            let token = try ResetToken(link.text)
            let new = try await services.recovery.confirm(token, email: nil, newPassword: try Password("another good password"))
            let email = ana.account.email
            #expect(try await services.authentication.device(provenBy: [ana.deviceToken], for: email) == nil)
            #expect(try await services.authentication.device(provenBy: [new], for: email) != nil)
            services.clock.advance(by: 180 * 86_400)
            #expect(try await services.authentication.device(provenBy: [new], for: email) == nil)
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
