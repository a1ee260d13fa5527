import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@Suite struct DeviceTokenTests {
    /// The response to a sign-in or a refresh with a device token; `nil` for a server that sends none.
    private func session(_ number: Int, device: String?) -> ScriptedTransport.Step {
        let member = device.map { #","device_token":"\#($0)""# } ?? ""
        return .response(status: 200, body: String(Samples.sessionJSON(number).dropLast()) + member + "}")
    }

    private func confirmed(device: String?) -> ScriptedTransport.Step {
        let member = device.map { #","device_token":"\#($0)""# } ?? ""
        return .response(status: 200, body: #"{"success":true,"message":"Done"\#(member)}"#)
    }

    private func client(
        _ steps: [ScriptedTransport.Step],
        store: any CredentialStore,
        server: String = "https://api.example.org"
    ) throws -> (AccountClient, ScriptedTransport) {
        let transport = ScriptedTransport(steps)
        let base = try #require(URL(string: server))
        let environment = ClientEnvironment(wallClock: { Samples.now })
        let api = APIClient(baseURL: base, transport: transport, language: .english, middleware: [], environment: environment)
        return (AccountClient(api: api, store: store), transport)
    }

    @discardableResult
    private func signIn(_ client: AccountClient, as email: String = "ana@example.org") async throws -> AccountUser {
        try await client.signIn(email: try EmailAddress(email), password: try Password("p"))
    }

    /// Returns the device tokens of the sent sign-ins, `-` for none.
    private func sentTokens(_ transport: ScriptedTransport) throws -> [String] {
        try transport.sent.filter { $0.request.path == AccountPath.login }.map { sent in
            let body = try JSONDecoder().decode(LoginRequest.self, from: Data(sent.body ?? []))
            return body.deviceToken?.rawValue ?? "-"
        }
    }

    @Test("A sign-in sends the newest token of the account, also after a sign-out")
    func keptOverSignOut() async throws {
        let (client, transport) = try client(
            [
                session(1, device: "d1"), .response(status: 204), session(2, device: "d2"), session(3, device: "d3"),
                session(4, device: nil),
            ],
            store: MemoryCredentialStore()
        )
        try await signIn(client)
        try await client.signOut()
        try await signIn(client, as: "ANA@example.org")
        try await client.refresh()
        try await signIn(client)
        #expect(try sentTokens(transport) == ["-", "d1", "d3"])
    }

    @Test("Sends no token to a server that issues none, and its bodies stay the same")
    func otherServer() async throws {
        let fixture = try Fixture([session(1, device: nil), session(2, device: nil)])
        for _ in 0..<2 { try await signIn(fixture.client) }
        #expect(Set(fixture.sent) == [#"POST /api/auth/login {"email":"ana@example.org","password":"p"}"#])
    }

    @Test("Each account and each server has a separate token in one store")
    func separate() async throws {
        let store = SharedSecretStore()
        let (first, sent) = try client(
            [session(1, device: "ana"), session(2, device: "bea"), session(3, device: nil), session(4, device: nil)],
            store: store
        )
        try await signIn(first)
        try await signIn(first, as: "bea@example.org")
        try await signIn(first)
        try await signIn(first, as: "bea@example.org")
        #expect(try sentTokens(sent) == ["-", "-", "ana", "bea"])
        let (second, others) = try client([session(1, device: nil)], store: store, server: "https://other.example.org")
        try await signIn(second)
        #expect(try sentTokens(others) == ["-"])
    }

    @Test("The token of a confirmed reset replaces the invalid one", arguments: ["ana@example.org", nil])
    func reset(email: String?) async throws {
        let (client, transport) = try client(
            [
                session(1, device: "old"), confirmed(device: "new"), session(2, device: nil), confirmed(device: nil),
                session(3, device: nil),
            ],
            store: MemoryCredentialStore()
        )
        try await signIn(client)
        #expect(try await client.confirmReset(Samples.link(email: email), newPassword: Password("n")) == "Done")
        try await signIn(client)
        _ = try await client.confirmReset(Samples.link(email: email), newPassword: Password("n"))
        try await signIn(client)
        #expect(try sentTokens(transport) == ["-", "new", "new"])
    }

    @Test("A private file beside the session's stores the tokens for the next process")
    func file() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-devices-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "session")
        let (first, _) = try client([session(1, device: "d1"), .response(status: 204)], store: FileCredentialStore(file: file))
        try await signIn(first)
        try await first.signOut()
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path + ".device-tokens")[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        let (second, transport) = try client([session(2, device: "d2")], store: FileCredentialStore(file: file))
        try await signIn(second)
        #expect(try sentTokens(transport) == ["d1"])
    }

    @Test("A failing store loses the token but not the sign-in, and is not overwritten")
    func failingStore() async throws {
        let store = SharedSecretStore()
        let (client, transport) = try client((1...3).map { session($0, device: "d\($0)") }, store: store)
        try await signIn(client)
        store.secret.isLocked.withLock { $0 = true }
        try await signIn(client)
        store.secret.isLocked.withLock { $0 = false }
        try await signIn(client)
        #expect(try sentTokens(transport) == ["-", "-", "d1"])
    }

    @Test("Stores the newest tokens of 16 accounts")
    func bounded() async throws {
        let store = SharedSecretStore()
        let (client, transport) = try client(
            (0..<20).map { session($0, device: "d\($0)") } + (0..<20).map { session($0, device: nil) },
            store: store
        )
        for _ in 0..<2 {
            for number in 0..<20 { try await signIn(client, as: "a\(number)@example.org") }
        }
        let expected = (0..<20).map { $0 < 4 ? "-" : "d\($0)" }
        #expect(try sentTokens(transport).suffix(20) == expected[...])
    }

    @Test("A refusal that a reset would end says so in the app's language, with the wait")
    func refusal() async throws {
        func step(_ details: String) -> ScriptedTransport.Step {
            let body = #"{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"m","details":{"retry_after":120\#(details)}}}"#
            return .response(status: 429, body: body)
        }
        let (client, _) = try client([step(#","reset_password":true"#), step("")], store: MemoryCredentialStore())
        let own = await failure { try await signIn(client) }
        let message = own?.presentation(in: .spanish, now: Samples.now).message
        #expect(message == ContractText.signInLimited(wait: .seconds(120)).text(in: .spanish))
        let other = await failure { try await signIn(client) }
        let usual = other?.presentation(in: .spanish, now: Samples.now).message
        #expect(usual == ContractText.limited(wait: .seconds(120)).text(in: .spanish))
    }
}

/// Credentials and secrets in memory. Access to the secrets can be locked.
private final class SharedSecretStore: CredentialStore {
    final class Secret: SecretStore {
        struct Locked: Error {}
        let isLocked = Mutex(false)
        private let memory = MemorySecretStore()

        func loadSecret() async throws -> Data? {
            guard !isLocked.withLock({ $0 }) else { throw Locked() }
            return await memory.loadSecret()
        }

        func saveSecret(_ secret: Data?) async throws { await memory.saveSecret(secret) }
    }

    let secret = Secret()
    private let credentials = MemoryCredentialStore()

    func load() async -> Credentials? { await credentials.load() }
    func save(_ new: Credentials?) async { await credentials.save(new) }
    func secretStore(named name: String) -> any SecretStore { secret }
}
