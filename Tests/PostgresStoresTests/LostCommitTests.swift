import AccountCore
import AccountStoreTesting
import DataServerTesting
import Foundation
import Idempotency
import PostgresDriver
import PostgresStores
import Testing

/// Transactions that the driver repeats because the response to their commit was lost.
@Suite(.timeLimit(.minutes(5))) struct LostCommitTests {
    @Test("Reports a reused token although the response to the commit was lost")
    func reusedToken() async throws {
        try await withDatabase { temporary in
            let opened = try await OpenedSession(temporary.stores, account: try await temporary.stores.addAccount())
            #expect(try await opened.use(opened.first, after: 1).outcome == .rotated(opened.session))
            try await withCutCommit(temporary, reachesServer: true) { database, _ in
                let outcome = try await PostgresSessionStore(database).rotate(
                    opened.first,
                    to: SecretToken().digest,
                    at: .after(3_600),
                    rules: opened.rules
                )
                #expect(outcome == .reused(opened.session))
            }
            #expect(try await !opened.isAlive)
        }
    }

    @Test("Reports an expired session although the response to the commit was lost")
    func expiredSession() async throws {
        try await withDatabase { temporary in
            let opened = try await OpenedSession(temporary.stores, account: try await temporary.stores.addAccount())
            try await withCutCommit(temporary, reachesServer: true) { database, _ in
                let outcome = try await PostgresSessionStore(database).rotate(
                    opened.first,
                    to: SecretToken().digest,
                    at: .after(opened.rules.absoluteLimit / .seconds(1) + 1),
                    rules: opened.rules
                )
                #expect(outcome == .expired)
            }
            #expect(try await !opened.isAlive)
        }
    }

    @Test("Finishes a key if another request ends the session before the repetition")
    func endedSession() async throws {
        try await withDatabase { temporary in
            let opened = try await OpenedSession(temporary.stores, account: try await temporary.stores.addAccount())
            let (session, account) = (opened.session.id, opened.session.accountID)
            let keys = PostgresIdempotencyStore(temporary.database)
            let claim = try IdempotencyClaim.sample()
            #expect(try await keys.claim(claim, lease: .seconds(60), at: .after(0)) == .claimed)
            try await withCutCommit(temporary, reachesServer: false) { database, proxy in
                let sessions = PostgresSessionStore(database)
                // Opens the connection. No other connection opens until the other request has ended the session.
                #expect(try await sessions.isAlive(session))
                proxy.refuse(true)
                let request = IdempotentRequest(
                    claim,
                    lifetime: .seconds(1_000),
                    database: PostgresIdempotencyStore(database).database
                ) { .after(0) }
                let response = try IdempotentResponse.json(["done": true])
                let ending = Task {
                    try await IdempotentRequest.$current.withValue(request) {
                        try await request.expecting(response) { try await sessions.end(session, of: account) }
                    }
                }
                try await waitUntil("the commit is lost") { proxy.open == 0 }
                #expect(try await temporary.stores.sessions.end(session, of: account))
                proxy.refuse(false)
                #expect(try await ending.value)
                #expect(request.isFinished)
            }
            guard case .finished = try await keys.claim(try .sample(), lease: .seconds(60), at: .after(1)) else {
                Issue.record("the key is not finished")
                return
            }
        }
    }
}

/// Runs a closure with a database that cuts the connection of the first commit.
/// - Parameters:
///   - reachesServer: Whether the server gets this commit.
///   - body: Receives the database, which has one connection at a time, and its proxy.
private func withCutCommit(
    _ temporary: TemporaryDatabase,
    reachesServer: Bool,
    _ body: (PostgresDatabase, TCPProxy) async throws -> Void
) async throws {
    let server = try await PostgresServer.shared()
    let cut = CommitCut(reachesServer: reachesServer)
    let proxy = try TCPProxy(to: server.port) { cut }
    defer { proxy.stop() }
    let url = temporary.url.replacing(":\(server.port)/", with: ":\(proxy.port)/")
    let database = try TemporaryDatabase.connect(url, maximum: 1)
    do {
        try await body(database, proxy)
    } catch {
        await database.client.close()
        throw error
    }
    await database.client.close()
}
