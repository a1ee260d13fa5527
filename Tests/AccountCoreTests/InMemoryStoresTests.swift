import AccountCore
import AccountStoreTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct InMemoryStoresTests {
    // snippet: start-account-store-testing
    @Test("Passes every check of stores", arguments: AccountStoreCheck.all)
    func passes(_ check: AccountStoreCheck) async throws {
        try await check.run(InMemoryAccountStores())
    }
    // snippet end

    @Test("A violation names the store, the rule, both values and the line")
    func violations() async throws {
        // With stores that are not shared, another process sees nothing.
        let checks = AccountStoreCheck.decoys
        let violation = await #expect(throws: AccountStoreCheck.Violation.self) {
            for check in checks { try await check.run(InMemoryAccountStores(), sharedWith: InMemoryAccountStores()) }
        }
        let text = try #require(violation?.description)
        for part in [
            "decoys: Stores decoys", "should be [AccountCore.DecoySpan(", "and is []", "AccountStoreCheck+Accounts.swift:",
        ] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test("An operation whose closure throws changes nothing")
    func failures() async throws {
        let failure = StoreFailure(isBusy: true, message: "busy")
        let stores = InMemoryAccountStores { operation in
            if operation == "resetTokens.confirm" { throw failure }
        }
        let account = try await stores.addAccount()
        let token = try await stores.mint(for: account)
        await #expect(throws: failure) { try await stores.confirm(token, of: account) }
        #expect(try await stores.isLive(token))
        #expect(try await stores.accounts.account(id: account.id) == account)
        #expect(try await stores.intents.count() == 0)
    }
}
