import AccountCore
import AccountStoreTesting
import Foundation
import HoldfastTesting
import Testing

/// Random histories of accounts against a model. `HOLDFAST_ROUNDS` is their number, and `HOLDFAST_SEED` the seed of the first one.
@Suite struct AccountHistoryTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    @Test("In random histories, an attacker takes over no account and no session returns", arguments: 0..<4)
    func histories(_ share: Int) async throws {
        let count = Self.number("HOLDFAST_ROUNDS") ?? 1_000
        let seed = Self.number("HOLDFAST_SEED") ?? 0
        for round in stride(from: seed + share, to: seed + count, by: 4) {
            var random = SplitMix64(seed: UInt64(round))
            do {
                try await AccountHistory(stores: InMemoryAccountStores()).run(steps: 40, using: &random)
            } catch {
                Issue.record("HOLDFAST_SEED=\(round): \(error)")
                return
            }
        }
    }
}
