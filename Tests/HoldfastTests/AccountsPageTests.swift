import Foundation
import Holdfast
import HoldfastTesting
import Testing

/// Runs the examples of `docs/app/accounts.md`.
@MainActor
@Suite("Examples of the page about accounts")
struct AccountsPageTests {
    private static let session = ScriptedTransport.Step.response(
        status: 200,
        body: #"{"user":{"id":"1","email":"ana@example.com","first_name":"Ana"},"access_token":"a","refresh_token":"r"}"#
    )

    private func client(_ steps: [ScriptedTransport.Step]) throws -> AccountClient {
        let url = try #require(URL(string: "https://notes.example.com"))
        return AccountClient(api: APIClient(baseURL: url, transport: ScriptedTransport(steps), middleware: []))
    }

    // snippet: accounts-device-name
    /// Creates a client whose sessions have a name in the user's list of devices.
    static func client(url: URL, deviceName: String) -> AccountClient {
        AccountClient(api: APIClient(baseURL: url, language: .preferred()), deviceName: deviceName)
    }
    // snippet end

    // snippet: accounts-register
    /// Registers without a screen of the library.
    static func register(_ accounts: AccountClient) async throws -> String {
        let result = try await accounts.register(
            email: EmailAddress("ana@example.com"),
            password: Password("correct horse battery staple"),
            firstName: FirstName("Ana")
        )
        switch result {
        case .signedIn(let user): return "Hello \(user.firstName)"
        // REGISTRATION=blind: the user chooses the password after opening the link.
        case .checkEmail(let message): return message
        }
    }
    // snippet end

    // snippet: accounts-calls
    /// Changes the name, ends all other sessions, and downloads the data of the account.
    static func change(_ accounts: AccountClient, password: String) async throws -> Data {
        let user = try await accounts.updateUser(firstName: FirstName("Ana María"), language: .spanish)
        print("The name is \(user.firstName)")
        for session in try await accounts.sessions() where !session.isCurrent {
            print("Signed out: \(session.deviceName ?? "unknown device")")
            try await accounts.endSession(session.id)
        }
        return try await accounts.exportData(password: Password(password))
    }
    // snippet end

    @Test("Both results of a registration reach the user")
    func register() async throws {
        let accepted = ScriptedTransport.Step.response(status: 202, body: #"{"message":"Check your mailbox."}"#)
        #expect(try await Self.register(try client([Self.session])) == "Hello Ana")
        #expect(try await Self.register(try client([accepted])) == "Check your mailbox.")
    }

    @Test("Changes without a screen need the session")
    func change() async throws {
        let user = ScriptedTransport.Step.response(status: 200, body: #"{"user":{"id":"1","first_name":"Ana María"}}"#)
        let sessions = ScriptedTransport.Step.response(
            status: 200,
            body: """
                {"sessions":[{"id":"s2","created_at":"2025-11-04T10:00:00Z","last_used_at":"2025-11-04T10:00:00Z","current":false}]}
                """
        )
        let export = ScriptedTransport.Step.response(status: 200, body: #"{"account":{}}"#)
        let accounts = try client([Self.session, user, sessions, .response(status: 204), export])
        _ = try await Self.register(accounts)
        #expect(try await Self.change(accounts, password: "correct horse battery staple") == Data(#"{"account":{}}"#.utf8))
    }

    // snippet: accounts-model
    @Test("A wrong password is shown at its field")
    func wrongPassword() async throws {
        let refused = ScriptedTransport.Step.response(status: 401, body: #"{"error":{"code":"AUTH_INVALID_CREDENTIALS"}}"#)
        let accounts = try client([Self.session, refused])
        _ = try await Self.register(accounts)
        let model = ChangePasswordModel(client: accounts, language: .english)
        model[.currentPassword] = "not the password"
        model[.password] = "another good password"
        model[.confirmation] = "another good password"
        await model.submit()
        #expect(model.problem(at: .currentPassword) == "The current password is wrong")
        #expect(model.focusRequest?.field == .currentPassword)
    }
    // snippet end

    @Test("The client of the page sends the name of its device")
    func deviceName() throws {
        let url = try #require(URL(string: "https://notes.example.com"))
        #expect(Self.client(url: url, deviceName: "iPhone").api.baseURL == url)
    }
}
