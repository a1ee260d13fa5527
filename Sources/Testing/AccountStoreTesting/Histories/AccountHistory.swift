import AccountContract
public import AccountCore
import Crypto
import ErrorContract
import Foundation
import Logging
import Synchronization

/// A random test of the services for accounts. Two users, an owner and an attacker, take random steps. The result of each step must be the
/// same as in a model.
///
/// Each user has two mailboxes and reads only the emails that the server delivers there. In random order, both users register, activate,
/// verify, lock, delete and restore accounts, change and reset passwords, change addresses, undo changes, sign in, refresh and sign out. At
/// times, the attacker learns a password of the owner. The history compares the result of each step with the result of the model
/// (`HistoryModel`), and checks two rules after each step:
///
/// - No takeover: if an account has a verified address of the owner, the attacker has no session of the account and doesn't know its
///   password. The rule doesn't apply to an account whose password the attacker has learned in a `leak` step.
/// - No session works after its end: the server refuses its refresh token and its access token.
///
/// ```swift
/// var random = SplitMix64(seed: 42)
/// try await AccountHistory(stores: InMemoryAccountStores()).run(steps: 40, using: &random)
/// ```
public final class AccountHistory {
    private let stores: any AccountStores
    private let clock = HistoryClock()
    private let authentication: Authentication
    private let registration: Registration
    private let links: AccountLinks
    private let settings: AccountSettings
    private let recovery: PasswordRecovery
    private let lock: AccountLock
    private let delivery = ScriptedDelivery()
    private let worker: MailWorker<ContinuousClock>
    private var model = HistoryModel()
    /// The tokens of the model's sessions.
    private var tokens: [Int: Authentication.Opened] = [:]
    /// The number of delivered emails that the history has already sorted into mailboxes.
    private var sorted = 0
    /// The number of successful steps, by the name of the step. A test can use these numbers to check that its histories reach all steps.
    public private(set) var successes: [String: Int] = [:]
    /// The steps so far, for the message of a violation.
    private var steps: [String] = []

    /// Creates a history on new, empty stores.
    /// - Parameters:
    ///   - stores: The stores, which the history fills.
    ///   - hashing: The hashing of passwords. Several histories may share it.
    /// - Throws: Errors of the hashing.
    public init(stores: any AccountStores, hashing: any PasswordHashing = PlainHashing()) throws {
        self.stores = stores
        let keys = ServerKeys(secret: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
        let gate = try HashingGate(hashing: hashing, width: 1)
        let now = clock.now
        let silent = Logger(label: "history") { _ in SwiftLogNoOpLogHandler() }
        let devices = DeviceTokens(keys: keys)
        let policy = PasswordPolicy()
        authentication = Authentication(
            stores: stores,
            gate: gate,
            tokens: AccessTokens(
                keys: SigningKeys(store: stores.signingKeys, secrets: SigningKeySecrets(keys), now: now, logger: silent),
                audience: "Notes"
            ) { "https://accounts.example.com" },
            devices: devices,
            now: now
        )
        registration = Registration(
            authentication: authentication,
            stores: stores,
            gate: gate,
            policy: policy,
            now: now
        )
        links = AccountLinks(
            authentication: authentication,
            stores: stores,
            gate: gate,
            policy: policy,
            now: now
        )
        settings = AccountSettings(authentication: authentication, stores: stores, gate: gate, policy: policy, now: now)
        recovery = PasswordRecovery(
            stores: stores,
            gate: gate,
            devices: devices,
            policy: policy,
            now: now
        )
        // The worker delivers one email at a time, so that the history knows the order of the links.
        var schedule = MailWorker<ContinuousClock>.Schedule(pause: .zero...(.zero))
        (schedule.batchSize, schedule.width) = (1, 1)
        lock = AccountLock(tokens: stores.accountLockTokens, now: now)
        worker = MailWorker(
            stores: stores,
            rendering: PlainRendering(),
            delivery: delivery,
            rules: RecoveryRules(),
            schedule: schedule,
            clock: ContinuousClock(),
            now: now,
            logger: silent
        )
    }

    /// Runs random steps.
    /// - Throws: ``AccountStoreCheck/Violation`` with the steps so far, at the first difference from the model; errors of the stores.
    public func run(steps count: Int, using random: inout some RandomNumberGenerator) async throws {
        do {
            for _ in 0..<count {
                let step = HistoryStep.random(model, using: &random)
                steps.append("\(step)")
                let expected = model.apply(step)
                let actual = try await perform(step)
                try require(actual, equals: expected, "The result of \(step)")
                if actual { successes[step.name, default: 0] += 1 }
                try await checkSessions(using: &random)
                try model.checkOwnership()
            }
        } catch let difference as Difference {
            throw AccountStoreCheck.Violation(description: "\(difference)\nafter:\n" + steps.joined(separator: "\n"))
        }
    }

    /// Performs a step with the services.
    /// - Returns: Whether the step succeeded. If the services refuse the step, the method returns `false`. It rethrows all other errors.
    private func perform(_ step: HistoryStep) async throws -> Bool {
        do {
            return try await attempt(step)
        } catch let error as AccountError where error.code != .serverServiceUnavailable {
            return false
        }
    }

    /// Performs a step with the services, and stores the tokens of new sessions.
    /// - Returns: `true`. A step that fails throws.
    /// - Throws: The refusals of the services; errors of the store.
    private func attempt(_ step: HistoryStep) async throws -> Bool {
        switch step {
        case .register(_, let address, let password, let session):
            tokens[session] = try await registration.register(
                email: try email(address),
                password: try secret(password),
                firstName: try FirstName("Ana"),
                language: .english
            )
            model.bind(session, to: try await stores.accounts.account(email: try email(address))?.id)
        case .requestRegistration(let address):
            try await registration.request(email: try email(address), firstName: try FirstName("Ana"), language: .english)
        case .activate(let mail, let password, let session):
            tokens[session] = try await registration.activate(try token(mail), password: try secret(password))
            model.bind(session, to: tokens[session]?.account.id)
        case .requestVerification(let address):
            try await links.requestVerification(of: try email(address), language: .english)
        case .verify(let mail, let proof): try await links.verify(try token(mail), by: try self.proof(proof))
        case .requestReset(let address): try await recovery.request(email: try email(address), language: .english)
        case .reset(let mail, let password, _):
            try await recovery.confirm(try token(mail), email: nil, newPassword: try secret(password))
        case .signIn(_, let address, let password, let session):
            tokens[session] = try await authentication.signIn(email: try email(address), password: try secret(password))
        case .refresh(let session):
            tokens[session] = try await authentication.refresh(try RefreshToken(try opened(session).refreshToken.text))
        case .signOut(let session): try await authentication.signOut(try RefreshToken(try opened(session).refreshToken.text))
        case .changePassword(let session, let current, let new, let next):
            let caller = try await self.caller(session)
            tokens[next] = try await settings.changePassword(of: caller, from: try secret(current), to: try secret(new))
        case .requestEmailChange(let session, let password, let address):
            let caller = try await self.caller(session)
            try await settings.requestEmailChange(of: caller, to: try email(address), password: try secret(password))
        case .confirmEmail(let mail, let proof): try await links.confirmEmail(try token(mail), by: try self.proof(proof))
        case .undoEmail(let mail): try await links.undoEmail(try token(mail))
        case .lock(let mail): try await lock.lock(try token(mail))
        case .delete(let session, let password):
            _ = try await settings.delete(try await caller(session), password: try secret(password))
        case .keep(let mail): try await links.keepAccount(try token(mail))
        case .endOtherSessions(let session): try await settings.endOtherSessions(of: try await caller(session))
        case .endSession(let target, let session):
            try await settings.endSession(try id(of: target), of: try await caller(session))
        case .update(let session):
            let name = try FirstName("Bea")
            let changed = try await settings.update(try await caller(session), firstName: name, language: nil)
            try require(changed.firstName, equals: name, "The name")
        case .deliver:
            while try await worker.processDue() > 0 {
                try await sortMails()
                clock.advance(by: 1)
                _ = model.apply(.wait(1))
            }
        case .leak: break
        case .wait(let seconds): clock.advance(by: seconds)
        case .purge(let includesUnused):
            let cutoff = includesUnused ? clock.now() - HistoryModel.unusedTime : nil
            let due = try await stores.records.purgeCandidates(at: clock.now(), unverifiedSince: cutoff, limit: 100).map(\.id)
            _ = try await stores.records.purge(due, at: clock.now(), unverifiedSince: cutoff, isForced: false)
        }
        return true
    }

    /// Checks that the tokens of up to six ended sessions don't work, and that the access token of a random open session works.
    private func checkSessions(using random: inout some RandomNumberGenerator) async throws {
        for session in model.endedSessions.suffix(6) {
            guard let opened = tokens[session] else { continue }
            let isAlive = try await isSignedIn(opened)
            try require(!isAlive, "Session \(session) has ended, and its access token is accepted")
            let isRefreshed = try await isRefreshed(opened)
            try require(!isRefreshed, "Session \(session) has ended, and it can be refreshed")
        }
        guard let session = model.liveSessions.randomElement(using: &random), let opened = tokens[session] else { return }
        guard clock.now().timeIntervalSince(model.refreshedAt(session)) < 800 else { return }
        try require(try await isSignedIn(opened), "Session \(session) has not ended, and its access token is refused")
    }

    /// Returns whether the server accepts the access token of a session.
    private func isSignedIn(_ opened: Authentication.Opened) async throws -> Bool {
        do {
            _ = try await authentication.account(accessToken: opened.accessToken)
            return true
        } catch is AccountError {
            return false
        }
    }

    /// Returns whether the server accepts the refresh token of a session. The call consumes the token.
    private func isRefreshed(_ opened: Authentication.Opened) async throws -> Bool {
        do {
            _ = try await authentication.refresh(try RefreshToken(opened.refreshToken.text))
            return true
        } catch is AccountError {
            return false
        }
    }

    /// Sorts delivered emails into the mailboxes of the model. The method reads the account of each link from the store.
    private func sortMails() async throws {
        let mails = delivery.delivered
        for mail in mails[sorted...] {
            let token = try ResetToken(mail.text)
            let digest = TokenDigest(of: token.rawValue)
            var account = try await stores.records.find(digest, at: clock.now())?.link.accountID
            if account == nil { account = try await stores.resetTokens.find(digest, at: clock.now())?.account.id }
            if account == nil { account = try await stores.accountLockTokens.find(digest, at: clock.now())?.id }
            guard let address = (0..<HistoryModel.addressCount).first(where: { (try? email($0)) == mail.recipient }) else {
                continue
            }
            try model.receive(token.rawValue, kind: mail.subject, at: address, account: account)
        }
        sorted = mails.count
    }

    /// Returns the signed-in user of a session.
    /// - Throws: The error of the server if it refuses the access token; ``Difference`` if the session has no tokens.
    private func caller(_ session: Int) async throws -> SignedIn {
        try await authentication.signedIn(accessToken: try opened(session).accessToken)
    }

    /// Returns the tokens of a session of the model.
    /// - Throws: ``Difference`` if the step that opened the session has failed.
    private func opened(_ session: Int) throws -> Authentication.Opened {
        guard let opened = tokens[session] else { throw Difference(description: "Session \(session) has no tokens") }
        return opened
    }

    /// Returns the id of a session, which the method reads from the access token.
    private func id(of session: Int) throws -> StoredSession.ID {
        struct Claims: Decodable {
            let sid: UUID
        }
        let parts = try opened(session).accessToken.split(separator: ".")
        guard parts.count == 3, let payload = Base64URL.decoded(parts[1]) else {
            throw Difference(description: "The access token of session \(session) has no payload")
        }
        return StoredSession.ID(rawValue: try JSONDecoder().decode(Claims.self, from: Data(payload)).sid)
    }

    /// Converts a proof of the model (an earlier sign-in or a password) to a proof of the services.
    private func proof(_ proof: HistoryStep.Proof) throws -> AccountProof {
        switch proof {
        case .session(let session): .session(accessToken: try opened(session).accessToken)
        case .password(let password): .password(try secret(password))
        case .newPassword(let password): .newPassword(try secret(password))
        }
    }

    /// Returns an address by its number. The owner reads the mailboxes 0 and 1, and the attacker reads the others.
    private func email(_ address: Int) throws -> EmailAddress {
        try EmailAddress((address < 2 ? "owner" : "attacker") + "\(address)@example.com")
    }

    /// Returns a password by its number. The password policy accepts all of these passwords.
    private func secret(_ password: Int) throws -> Password { try Password("correct horse \(password)") }

    /// Returns the token of a delivered email.
    private func token(_ mail: Int) throws -> ResetToken { try ResetToken(model.mails[mail].token) }
}

/// A clock that only a history advances.
private final class HistoryClock: Sendable {
    private let date = Mutex(Date.after(0))

    /// Returns the time of the history.
    var now: @Sendable () -> Date { { self.date.withLock { $0 } } }

    /// Advances the time by some seconds.
    func advance(by seconds: TimeInterval) { date.withLock { $0 = $0.addingTimeInterval(seconds) } }
}
