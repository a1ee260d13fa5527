import AccountCore
import AccountStoreTesting
import Crypto
import ErrorContract
import Foundation
import Testing

@testable import PostgresStores

/// The replacement of `HOLDFAST_SECRET` by means of `HOLDFAST_SECRET_PREVIOUS`, with three configurations of one database.
@Suite(.timeLimit(.minutes(5))) struct SecretRotationTests {
    private let old = SymmetricKey(size: .bits256)
    private let new = SymmetricKey(size: .bits256)

    @Test("An account keeps its address during and after the replacement of the secret")
    func accounts() async throws {
        try await withDatabase { temporary in
            let before = PostgresAccountStores(temporary.database, emailKeys: EmailKeys(old))
            let during = PostgresAccountStores(temporary.other, emailKeys: EmailKeys(new, previous: old))
            let after = PostgresAccountStores(temporary.other, emailKeys: EmailKeys(new))
            let first = try await before.addAccount()
            #expect(try await during.accounts.account(email: first.email)?.id == first.id)
            #expect(try await after.accounts.account(email: first.email) == nil)
            #expect(try await before.addKeysOfPresentSecret() == nil)
            #expect(try await during.addKeysOfPresentSecret() == 1)
            #expect(try await during.addKeysOfPresentSecret() == 0)
            #expect(try await after.accounts.account(email: first.email)?.id == first.id)
            #expect(try await before.accounts.account(email: first.email)?.id == first.id)
        }
    }

    @Test("A reset link from before the replacement of the secret is valid")
    func resetLinks() async throws {
        try await withDatabase { temporary in
            let before = PostgresAccountStores(temporary.database, emailKeys: EmailKeys(old))
            let during = PostgresAccountStores(temporary.other, emailKeys: EmailKeys(new, previous: old))
            let account = try await before.addAccount()
            let token = try await during.mint(for: account)
            #expect(try await during.resetTokens.find(token, at: .after(1))?.account.id == account.id)
        }
    }
}
