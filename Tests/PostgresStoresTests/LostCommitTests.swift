import AccountCore
import AccountStoreTesting
import DataServerTesting
import Foundation
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
