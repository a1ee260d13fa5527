import AccountCore
import Foundation

@testable import SQLiteStores

/// A session with its first refresh token, begun at the start of the test's time.
struct OpenedSession {
    let stores: TemporaryStores
    let session: Session
    let first = SecretToken().digest
    let rules = SessionRules()

    /// Begins a session of an account.
    init(_ stores: TemporaryStores, account: Account) async throws {
        self.stores = stores
        session = Session(id: .init(rawValue: UUID()), accountID: account.id, createdAt: .after(0))
        _ = try await stores.sessions.open(session, refresh: first, epoch: account.epoch)
    }

    /// Uses a token some seconds after the start.
    /// - Returns: What became of it, and the token that was put in its place if it was good.
    func use(_ token: TokenDigest, after seconds: TimeInterval) async throws -> (outcome: RotationOutcome, next: TokenDigest) {
        let next = SecretToken().digest
        let outcome = try await stores.sessions.rotate(token, to: next, at: .after(seconds), rules: rules)
        return (outcome, next)
    }

    var isAlive: Bool {
        get async throws { try await stores.sessions.isAlive(session.id) }
    }
}

/// Runs a test with a session in a new database.
func withSession(_ body: (OpenedSession) async throws -> Void) async throws {
    try await withStores { stores in
        try await body(try await OpenedSession(stores, account: try await stores.addAccount()))
    }
}
