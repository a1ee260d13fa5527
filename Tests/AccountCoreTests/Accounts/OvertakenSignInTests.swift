import AccountContract
import AccountCore
import AccountStoreTesting
import Crypto
import Foundation
import Synchronization
import Testing

@Suite struct OvertakenSignInTests {
    @Test("A sign-in with the old password opens no session after a concurrent reset")
    func overtaken() async throws {
        let meanwhile = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let stores = InMemoryAccountStores { operation in
            guard operation == "sessions.open" else { return }
            try await meanwhile.withLock { $0.take() }?()
        }
        let services = try await AccountServices(stores)
        let opened = try await services.register("ana@example.com")
        let token = try await stores.mint(for: opened.account)
        // Runs between the check of the password and the creation of the session.
        meanwhile.withLock { meanwhile in
            meanwhile = {
                let isConfirmed = try await stores.confirm(token, of: opened.account)
                #expect(isConfirmed)
            }
        }
        await #expect(throws: AccountError.invalidCredentials) {
            try await services.signIn("ana@example.com", "old password")
        }
        #expect(try await !stores.isLive(token))
        await #expect(throws: AccountError.refreshFailed) { try await services.refresh(opened) }
    }
}
