import AccountContract
import AccountCore
import AccountStoreTesting
import Crypto
import ErrorContract
import Foundation

/// The account domain in memory, with a clock that the test controls.
struct AccountServices: Sendable {
    let stores: InMemoryAccountStores
    let clock: WallClock
    let authentication: Authentication
    let recovery: PasswordRecovery
    let gate: HashingGate

    init(
        _ stores: InMemoryAccountStores = InMemoryAccountStores(),
        clock: WallClock = WallClock(),
        hashing: any PasswordHashing = PlainHashing(),
        width: Int = 2,
        queueLimit: Int = 64
    ) async throws {
        let keys = ServerKeys(secret: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
        let gate = try HashingGate(hashing: hashing, width: width, queueLimit: queueLimit)
        self.gate = gate
        self.stores = stores
        self.clock = clock
        authentication = Authentication(
            accounts: stores.accounts,
            sessions: stores.sessions,
            gate: gate,
            tokens: AccessTokens(
                keys: SigningKeys(store: stores.signingKeys, secrets: SigningKeySecrets(keys), now: clock.now),
                audience: "Notes"
            ) { "https://accounts.example.com" },
            devices: DeviceTokens(keys: keys),
            policy: PasswordPolicy(),
            now: clock.now
        )
        recovery = PasswordRecovery(
            intents: stores.intents,
            tokens: stores.resetTokens,
            gate: gate,
            devices: DeviceTokens(keys: keys),
            policy: PasswordPolicy(),
            now: clock.now
        )
    }

    /// Registers Ana with the password "old password".
    func register(_ email: String = "Ana@Example.com", language: Language = .spanish) async throws -> Authentication.Opened {
        try await authentication.register(
            email: try EmailAddress(email),
            password: try Password("old password"),
            firstName: try FirstName("Ana"),
            language: language
        )
    }

    func signIn(_ email: String, _ password: String) async throws -> Authentication.Opened {
        try await authentication.signIn(email: try EmailAddress(email), password: try Password(password))
    }

    func refresh(_ opened: Authentication.Opened) async throws -> Authentication.Opened {
        try await authentication.refresh(try RefreshToken(opened.refreshToken.text))
    }
}

/// Runs a test with the account domain on new stores.
func withServices(_ body: (AccountServices) async throws -> Void) async throws {
    try await body(try await AccountServices())
}
