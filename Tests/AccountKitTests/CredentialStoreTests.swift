import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@Suite struct CredentialStoreTests {
    /// A store that can't be read or can't be written.
    private struct Broken: CredentialStore {
        struct Locked: Error {}
        var credentials: Credentials?

        func load() async throws -> Credentials? {
            guard let credentials else { throw Locked() }
            return credentials
        }

        func save(_ credentials: Credentials?) async throws { throw Locked() }
    }

    /// A store in memory that can't be written while it is locked.
    private final class Lockable: CredentialStore {
        struct Locked: Error {}
        let isLocked = Mutex(false)
        private let stored: MemoryCredentialStore

        init(_ credentials: Credentials) { stored = MemoryCredentialStore(credentials) }

        func load() async -> Credentials? { await stored.load() }

        func save(_ credentials: Credentials?) async throws {
            if isLocked.withLock(\.self) { throw Locked() }
            await stored.save(credentials)
        }
    }

    private func client(_ transport: ScriptedTransport, store: any CredentialStore) throws -> AccountClient {
        let base = try #require(URL(string: "https://api.example.org"))
        return AccountClient(api: APIClient(baseURL: base, transport: transport, middleware: []), store: store)
    }

    @Test("The in-memory store returns the last credentials until they are removed")
    func memory() async throws {
        let store = MemoryCredentialStore()
        #expect(await store.load() == nil)
        await store.save(try Samples.credentials(1))
        await store.save(try Samples.credentials(2))
        #expect(try await store.load() == Samples.credentials(2))
        await store.save(nil)
        #expect(await store.load() == nil)
        #expect(try await MemoryCredentialStore(Samples.credentials(3)).load() == Samples.credentials(3))
    }

    @Test("An unreadable store fails a call before anything is sent")
    func unreadable() async throws {
        let transport = ScriptedTransport([])
        let client = try client(transport, store: Broken())
        let error = await failure { _ = try await client.me() }
        #expect(error?.kind == .custom && error?.context == "user_me" && error?.underlying is Broken.Locked)
        #expect(transport.sent.isEmpty)
    }

    @Test("An unwritable store fails a sign-in with the store's error")
    func unwritable() async throws {
        let client = try client(ScriptedTransport([.response(status: 200, body: Samples.sessionJSON(1))]), store: Broken())
        let error = await failure { _ = try await client.signIn(email: try EmailAddress("a@b.co"), password: try Password("p")) }
        #expect(error?.kind == .custom && error?.context == "user_login" && error?.underlying is Broken.Locked)
    }

    @Test("A store that can't remove credentials fails the sign-out with its error")
    func unforgettable() async throws {
        let client = try client(
            ScriptedTransport([.response(status: 204)]),
            store: Broken(credentials: try Samples.credentials(1))
        )
        let error = await failure { try await client.signOut() }
        #expect(error?.kind == .custom && error?.context == "user_logout")
    }

    @Test("A repeated sign-out removes the credentials that an earlier one could not remove")
    func repeatedSignOut() async throws {
        let store = Lockable(try Samples.credentials(1))
        let transport = ScriptedTransport([.failure(TransportError(.noInternet, message: "x", wasSent: false))])
        let client = try client(transport, store: store)
        store.isLocked.withLock { $0 = true }
        for _ in 0..<2 {
            let error = await failure { try await client.signOut() }
            #expect(error?.kind == .custom && error?.context == "user_logout" && error?.underlying is Lockable.Locked)
        }
        #expect(try await store.load() == Samples.credentials(1))
        store.isLocked.withLock { $0 = false }
        try await client.signOut()
        #expect(await store.load() == nil && transport.sent.count == 1)
        #expect(await failure { try await client.signOut() }?.code == .authTokenMissing)
    }

    @Test("No description, reflection or dump shows a token")
    func hidden() throws {
        let credentials = Credentials(accessToken: "hunter2", refreshToken: "hunter2")
        var dumped = ""
        dump([credentials], to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), "\([credentials])", dumped] {
            #expect(!text.contains("hunter2"))
        }
    }
}
