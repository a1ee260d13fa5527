import Foundation
import Idempotency
import RateLimiting
import SQLiteStores
import Testing

/// The stores that must behave alike.
enum IdempotencyStores: CaseIterable, CustomTestStringConvertible, Sendable {
    case memory, sqlite

    var testDescription: String { "\(self)" }

    /// Runs a test with a new store.
    func with(
        _ bounds: IdempotencyBounds = IdempotencyBounds(),
        _ body: @Sendable (any IdempotencyStore) async throws -> Void
    ) async throws {
        switch self {
        case .memory: try await body(MemoryIdempotencyStore(bounds: bounds))
        case .sqlite: try await withStores { try await body(SQLiteIdempotencyStore($0.database, bounds: bounds)) }
        }
    }
}

extension IdempotencyClaim {
    private static let secret = IdempotencySecret()

    /// A claim of a client to a key, for a request that its body tells from others.
    static func sample(_ key: String = "a", client: String = "ana", body: String = "x") throws -> IdempotencyClaim {
        secret.claim(
            try IdempotencyKey(key),
            client: client,
            method: "POST",
            route: "/orders",
            path: "/orders",
            body: Array(body.utf8)
        )
    }
}

extension IdempotencyStore {
    /// Claims a key for 60 s.
    func claim(_ claim: IdempotencyClaim, after seconds: Double = 0) async throws -> ClaimOutcome {
        try await self.claim(claim, lease: .seconds(60), at: .after(seconds))
    }

    /// Claims a key and finishes it, until 1,000 s after the start.
    func answer(_ claim: IdempotencyClaim, with answer: KeptAnswer? = nil, after seconds: Double = 0) async throws {
        #expect(try await self.claim(claim, after: seconds) == .claimed)
        #expect(try await finish(claim, with: answer, until: .after(1_000 + seconds)))
    }
}
