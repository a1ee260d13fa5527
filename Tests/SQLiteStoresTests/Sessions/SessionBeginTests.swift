import AccountContract
import AccountCore
import Crypto
import Foundation
import Testing

@testable import SQLiteStores

@Suite struct SessionBeginTests {
    @Test("A session begins only in the epoch in which the password was checked, and only for an account in use")
    func epoch() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let suspended = try await stores.addAccount("eve@example.com", state: .suspended)
            for (owner, epoch, begins) in [(account, 0, true), (account, 1, false), (account, -1, false), (suspended, 0, false)] {
                let session = Session(id: .init(rawValue: UUID()), accountID: owner.id, createdAt: .after(0))
                let token = SecretToken().digest
                #expect(try await stores.sessions.open(session, refresh: token, epoch: epoch) == begins)
                #expect(try await stores.sessions.isAlive(session.id) == begins)
            }
            #expect(try await stores.number("SELECT COUNT(*) FROM refresh_token") == 1)
        }
    }

    @Test("A sign-in with the old password that a reset overtakes opens no session")
    func overtaken() async throws {
        try await withStores { stores in
            let services = try await AccountServices(stores)
            let opened = try await services.register("ana@example.com")
            let token = try await stores.mint(for: opened.account)
            let accounts = OvertakenAccounts(base: stores.accounts) {
                let isConfirmed = try await stores.confirm(token, of: opened.account)
                #expect(isConfirmed)
            }
            let keys = ServerKeys(secret: SymmetricKey(size: .bits256))
            let signIn = SignIn(
                accounts: accounts,
                sessions: stores.sessions,
                gate: try HashingGate(hashing: PlainHashing(), width: 1),
                tokens: await AccessTokens(keys: keys),
                devices: DeviceTokens(keys: keys),
                policy: PasswordPolicy(),
                now: WallClock().now
            )
            await #expect(throws: AccountError.invalidCredentials) {
                try await signIn.signIn(email: try EmailAddress("ana@example.com"), password: try Password("old password"))
            }
            #expect(try await stores.number("SELECT COUNT(*) FROM session") == 0)
        }
    }
}

/// Accounts of which one is changed between the moment in which it is read and the moment in which the reader goes on.
private struct OvertakenAccounts: AccountRepository {
    let base: SQLiteAccountRepository
    let meanwhile: @Sendable () async throws -> Void

    func insert(_ account: Account) async throws -> Bool { try await base.insert(account) }
    func insert(contentsOf accounts: [Account]) async throws -> [Account.ID] { try await base.insert(contentsOf: accounts) }
    func setState(_ state: Account.State, of id: Account.ID) async throws -> Bool { try await base.setState(state, of: id) }
    func countForeignHashes(by kind: @escaping @Sendable (String) -> String?) async throws -> (counts: [String: Int], total: Int)
    {
        try await base.countForeignHashes(by: kind)
    }
    func account(id: Account.ID) async throws -> Account? { try await base.account(id: id) }
    func accounts() async throws -> [Account] { try await base.accounts() }
    func rehash(_ id: Account.ID, from old: String, to new: String) async throws {
        try await base.rehash(id, from: old, to: new)
    }

    func account(email: EmailAddress) async throws -> Account? {
        let account = try await base.account(email: email)
        try await meanwhile()
        return account
    }
}
