import AccountContract
import AccountCore
import AccountStoreTesting
import Crypto
import ErrorContract
import Foundation
import Logging
import Testing

/// The account domain in memory, with a clock that the test controls.
struct AccountServices: Sendable {
    let stores: InMemoryAccountStores
    let clock: WallClock
    let authentication: Authentication
    let registration: Registration
    let links: AccountLinks
    let settings: AccountSettings
    let recovery: PasswordRecovery
    let gate: HashingGate

    init(
        _ stores: InMemoryAccountStores = InMemoryAccountStores(),
        clock: WallClock = WallClock(),
        hashing: any PasswordHashing = PlainHashing(),
        width: Int = 2,
        queueLimit: Int = 64,
        signInRules: SignInRules = SignInRules(),
        audit: (any AuditNoting)? = nil,
        deletionGrace: Duration = .seconds(7 * 86_400)
    ) async throws {
        let keys = ServerKeys(secret: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
        let gate = try HashingGate(hashing: hashing, width: width, queueLimit: queueLimit)
        self.gate = gate
        self.stores = stores
        self.clock = clock
        authentication = Authentication(
            stores: stores,
            gate: gate,
            tokens: AccessTokens(
                keys: SigningKeys(store: stores.signingKeys, secrets: SigningKeySecrets(keys), now: clock.now),
                audience: "Notes"
            ) { "https://accounts.example.com" },
            devices: DeviceTokens(keys: keys),
            signInRules: signInRules,
            audit: audit,
            now: clock.now
        )
        registration = Registration(
            authentication: authentication,
            stores: stores,
            gate: gate,
            policy: PasswordPolicy(),
            now: clock.now
        )
        links = AccountLinks(
            authentication: authentication,
            stores: stores,
            gate: gate,
            policy: PasswordPolicy(),
            now: clock.now
        )
        settings = AccountSettings(
            authentication: authentication,
            stores: stores,
            gate: gate,
            policy: PasswordPolicy(),
            deletionGrace: deletionGrace,
            now: clock.now
        )
        recovery = PasswordRecovery(
            stores: stores,
            gate: gate,
            devices: DeviceTokens(keys: keys),
            policy: PasswordPolicy(),
            now: clock.now
        )
    }

    /// Registers Ana with the password "old password".
    func register(_ email: String = "Ana@Example.com", language: Language = .spanish) async throws -> Authentication.Opened {
        try await registration.register(
            email: try EmailAddress(email),
            password: try Password("old password"),
            firstName: try FirstName("Ana"),
            language: language
        )
    }

    func signIn(
        _ email: String,
        _ password: String,
        on device: ClientDevice = ClientDevice()
    ) async throws -> Authentication.Opened {
        try await authentication.signIn(email: try EmailAddress(email), password: try Password(password), on: device)
    }

    func signedIn(_ opened: Authentication.Opened) async throws -> SignedIn {
        try await authentication.signedIn(accessToken: opened.accessToken)
    }

    /// Delivers all pending emails and returns them, in the order of their delivery.
    func mails(rendering: any MailRendering = PlainRendering()) async throws -> [Mail] {
        let delivery = ScriptedDelivery()
        let worker = MailWorker(
            stores: stores,
            rendering: rendering,
            delivery: delivery,
            rules: RecoveryRules(),
            schedule: .init(pause: .zero...(.zero)),
            clock: ContinuousClock(),
            now: clock.now,
            logger: Logger(label: "test")
        )
        try await worker.processDue()
        return delivery.delivered
    }

    /// Delivers all pending emails and returns the token in the one of a kind.
    func token(_ kind: MailKind) async throws -> ResetToken {
        let mail = try await mails().last { $0.subject == kind.rawValue || kind == .passwordReset && $0.subject == "reset" }
        return try ResetToken(try #require(mail?.text, "no email of the kind \(kind)"))
    }

    func refresh(_ opened: Authentication.Opened) async throws -> Authentication.Opened {
        try await authentication.refresh(try RefreshToken(opened.refreshToken.text))
    }
}

/// Runs a test with the account domain on new stores.
func withServices(_ body: (AccountServices) async throws -> Void) async throws {
    try await body(try await AccountServices())
}
