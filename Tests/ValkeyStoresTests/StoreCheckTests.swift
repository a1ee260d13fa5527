import AccountStoreTesting
import Testing

@testable import ValkeyStores

@Suite(.timeLimit(.minutes(5))) struct StoreCheckTests {
    @Test("Passes every check of stores of limits, with a second server on the same data", arguments: RateLimitStoreCheck.all)
    func limits(_ check: RateLimitStoreCheck) async throws {
        try await SharedLimits.run { limits in
            let (one, other) = (try await limits.start(check.rules), try await limits.start(check.rules))
            try await check.run(one.store, sharedWith: other.store) { limits.pass($0) }
        }
    }
}
