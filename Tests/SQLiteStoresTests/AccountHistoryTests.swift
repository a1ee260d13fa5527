import AccountStoreTesting
import HoldfastTesting
import SQLiteStores
import Testing

@Suite(.timeLimit(.minutes(5))) struct AccountHistoryTests {
    @Test("Random histories of accounts agree with the model", arguments: 0..<12)
    func history(seed: Int) async throws {
        try await withStores { stores in
            var random = SplitMix64(seed: UInt64(seed))
            try await AccountHistory(stores: SQLiteAccountStores(stores.database)).run(steps: 120, using: &random)
        }
    }
}
