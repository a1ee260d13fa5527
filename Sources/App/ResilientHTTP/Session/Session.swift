import ErrorContract
import Foundation
import Logging
import RateLimiting
import Synchronization
import Timekeeping

/// The session of one user, shared by all calls of an app.
///
/// An expired token is refreshed once, for any number of calls: the callers wait for the refresh in flight, and a caller whose token has
/// been replaced meanwhile takes the new one. A refresh that fails for a passing reason (no response, a time-out, 429, 5xx) is repeated,
/// one attempt at a time, as long as the deadline of a waiting call allows it. Only a refusal of the refresh token ends the session.
///
/// A session that has ended stays ended: a refresh that completes after a sign-out, or after another user signed in, changes nothing, and
/// its tokens are revoked. Calls of one session never carry the tokens of another one.
public final class Session: Sendable {
    /// Exchanges a refresh token for new credentials.
    /// - Throws: `APIError`; one that refuses the token (400, 401, 403) ends the session.
    public typealias Refresh = @Sendable (_ refreshToken: String) async throws -> Credentials
    /// Asks the user to sign in; returns `nil` if the user declines.
    public typealias SignInPrompt = @Sendable () async -> Credentials?
    /// Revokes credentials at the server. A failure is the closure's own business.
    public typealias Revoke = @Sendable (Credentials) async -> Void

    /// How long refreshes take and how they are repeated.
    public struct Timing: Hashable, Sendable {
        /// How long before its expiry a token is replaced.
        public var skew: Duration = .seconds(30)
        /// The time that one refresh attempt may take. After three attempts in a row that failed, an attempt may take three times as long,
        /// for networks that are slow rather than broken.
        public var attemptTimeout: Duration = .seconds(5)
        /// The pause between two attempts when the server names none.
        public var backoff = Backoff(base: .milliseconds(500), cap: .seconds(8))
        /// The longest delay named by the server that is waited for; a longer one fails the waiting calls with the time in their error.
        public var longestWait: Duration = .seconds(60)

        /// Creates the default timing.
        public init() {}
    }

    let store: any CredentialStore
    let refresh: Refresh
    let prompt: SignInPrompt?
    let revoke: Revoke?
    let timing: Timing
    let environment: ClientEnvironment
    let state = Mutex(SessionState())
    let renewal = SingleFlight<SessionState.Held>()
    private let loading = SingleFlight<Void>()
    private let writing = SingleFlight<Void>()
    /// The closures to run when a session is over, by the object that registered them.
    private let endings = Mutex<[ObjectIdentifier: @Sendable (_ sessionID: String) async -> Void]>([:])
    /// The closures to run when another account may be signed in, by the object that registered them.
    private let observers = Mutex<[ObjectIdentifier: @Sendable (SessionChange) async -> Void]>([:])
    /// One write at a time: a store may compare and write in two steps.
    let writes = ConcurrencyLimiter(1, maximumWaiters: .max)

    /// Creates a session.
    /// - Parameters:
    ///   - store: Where the credentials are stored.
    ///   - timing: How long refreshes take and how they are repeated.
    ///   - environment: Time, randomness and log.
    ///   - refresh: Exchanges a refresh token for new credentials.
    ///   - revoke: Revokes credentials that arrive after the session ended; `nil` drops them.
    ///   - prompt: Asks the user to sign in when the session has ended; `nil` lets the calls fail.
    public init(
        store: any CredentialStore,
        timing: Timing = Timing(),
        environment: ClientEnvironment = ClientEnvironment(),
        refresh: @escaping Refresh,
        revoke: Revoke? = nil,
        prompt: SignInPrompt? = nil
    ) {
        self.store = store
        self.timing = timing
        self.environment = environment
        self.refresh = refresh
        self.revoke = revoke
        self.prompt = prompt
    }

    /// The credentials, or `nil` if no user is signed in.
    /// - Throws: The store's error.
    public var credentials: Credentials? {
        get async throws { try await held()?.credentials }
    }

    /// The account that is signed in, as ``Credentials/userID``; `nil` if no user is signed in or the credentials do not name the account.
    ///
    /// An offline queue stores authorized requests only for an account that it knows, and sends them only with tokens of that account.
    /// - Throws: The store's error.
    public var identity: String? {
        get async throws { try await held()?.credentials.userID }
    }

    /// Refreshes the session now.
    /// - Parameter timeout: The time within which a refresh that fails for a passing reason is repeated; by default it is not.
    /// - Throws: `APIError`; the server's refusal if it ended the session.
    public func refreshNow(timeout: Duration = .zero) async throws {
        guard let held = try await held() else {
            guard try await joinOtherProcess() else { throw APIError.signedOut }
            return
        }
        _ = try await renewed(after: held, by: .refresh, until: environment.clock.now + timeout)
    }

    /// Takes the session that another process began after this one was signed out.
    private func joinOtherProcess() async throws -> Bool {
        let (generation, isStored) = state.withLock { ($0.generation, $0.isStored) }
        guard isStored, let found = try await store.load() else { return false }
        state.withLock { state in
            guard state.generation == generation else { return }
            let joined = state.replace(with: found.identified())
            state.endWrite(of: joined)
        }
        return true
    }

    /// Begins a session with the credentials of a sign-in, or ends it with `nil`. The earlier session ends in memory even if the store
    /// fails.
    ///
    /// The change is written to the store even if the caller is canceled, and after every change before it.
    /// - Returns: The credentials that were replaced, to be revoked at the server.
    /// - Throws: The store's error.
    @discardableResult
    public func setCredentials(_ credentials: Credentials?) async throws -> Credentials? {
        // Responses of a session may be stored that this process has not loaded yet.
        if endings.withLock({ !$0.isEmpty }) { _ = try? await held() }
        let (replaced, generation, session) = state.withLock { state in
            (state.credentials, state.replace(with: credentials?.identified()), state.held?.sessionID)
        }
        await noteEnd(of: replaced?.sessionID, unless: session)
        try await persist(generation)
        let isSignOut = credentials == nil || credentials?.userID != replaced?.userID
        await noteChange(signedOut: isSignOut ? replaced?.userID : nil)
        return replaced
    }

    /// Registers a closure to run each time a session is over: the user signed out, another one signed in, or the server ended it.
    /// - Parameters:
    ///   - object: The object that registers it. The closure runs as long as the object exists, and replaces its earlier one.
    ///   - body: The closure; its argument identifies the session that is over.
    func onEnd<Object: AnyObject & Sendable>(of object: Object, _ body: @escaping @Sendable (Object, String) async -> Void) {
        endings.withLock { endings in
            endings[ObjectIdentifier(object)] = { [weak object] session in if let object { await body(object, session) } }
        }
    }

    /// Registers a closure to run each time that another account may be signed in, or none.
    /// - Parameters:
    ///   - object: The object that registers it. The closure runs as long as the object exists, and replaces its earlier one.
    ///   - body: The closure.
    package func onChange<Object: AnyObject & Sendable>(
        of object: Object,
        _ body: @escaping @Sendable (Object, SessionChange) async -> Void
    ) {
        observers.withLock { observers in
            observers[ObjectIdentifier(object)] = { [weak object] change in if let object { await body(object, change) } }
        }
    }

    func noteChange(signedOut account: String? = nil) async {
        let change = SessionChange(signedOut: account)
        for observer in observers.withLock({ Array($0.values) }) { await observer(change) }
    }

    func noteEnd(of session: String?, unless present: String?) async {
        guard let session, session != present else { return }
        for end in endings.withLock({ Array($0.values) }) { await end(session) }
    }

    /// Revokes credentials that no call will use. It happens in a separate slot, one after another: no refresh waits for it.
    func discard(_ credentials: Credentials) {
        guard let revoke, state.withLock({ $0.beginRevocation(of: credentials) }) else { return }
        Task { [self] in
            while let next = state.withLock({ $0.nextRevocation() }) { await revoke(next) }
        }
    }
}

extension Session {
    /// How many calls wait for a renewal.
    var waiting: Int { renewal.waiting }
    /// Whether no call waits for the session, and nothing is in flight.
    var isIdle: Bool { loading.isIdle && renewal.isIdle && writing.isIdle }

    func held() async throws -> SessionState.Held? {
        let known = state.withLock { $0.isLoaded ? Optional($0.held) : nil }
        if let known { return known }
        _ = try await loading.run(unless: { .join }) { [self] in
            let loaded = try await store.load()
            state.withLock { $0.load(loaded?.identified()) }
        }
        return state.withLock(\.held)
    }

    /// Whether calls that began in one session may carry the tokens of another.
    func mayContinue(_ session: String?, as other: String?) -> Bool { state.withLock { $0.mayContinue(session, as: other) } }

    /// Whether a token expires so soon that it should be replaced before it is used.
    func isEnding(_ held: SessionState.Held) -> Bool {
        guard held.credentials.refreshToken != nil, let end = held.credentials.expiresAt else { return false }
        return end.timeIntervalSince(environment.wallClock()) <= timing.skew / .seconds(1)
    }

    /// Writes the present state unless that was done already. Writes never overtake each other, and each stores the state of its moment.
    func persist(_ generation: UInt64) async throws {
        while state.withLock({ $0.stored < generation }) {
            do {
                // A caller that is canceled waits nevertheless: a sign-out must reach the store.
                _ = try await writing.run(
                    isCancellable: false,
                    unless: { [self] in state.withLock { $0.stored < generation ? .join : .ready(()) } },
                    { [self] in
                        try await writes.run { [self] in
                            let (credentials, generation) = state.withLock { $0.beginWrite() }
                            try await store.save(credentials)
                            state.withLock { $0.endWrite(of: generation) }
                        }
                    }
                )
            } catch {
                // A write that began before this change says nothing about it: the change is written on its own.
                guard state.withLock({ $0.attempted < generation }) else { throw error }
            }
        }
    }
}

/// A change of the account that is signed in.
package struct SessionChange: Sendable {
    /// The account that the app signed out; `nil` if it signed none out. The end of a session that the server refused is no sign-out.
    package var signedOut: String?
}

/// The credentials of a session, and the generation that its store holds. A value under the session's lock.
struct SessionState {
    /// Credentials and which ones they are.
    struct Held: Hashable {
        var credentials: Credentials
        var generation: UInt64

        var sessionID: String? { credentials.sessionID }
    }

    /// More successful renewals than this within ``renewalWindow`` are not begun.
    static let mostRenewals = 5
    static let renewalWindow: Duration = .seconds(30)

    private(set) var isLoaded = false
    private(set) var credentials: Credentials?
    /// Grows with every change, so that a write or a response that is based on an earlier state is recognized.
    private(set) var generation: UInt64 = 0
    /// The generation that the store holds, as far as this process knows.
    private(set) var stored: UInt64 = 0
    /// The generation that a write was last begun for.
    private(set) var attempted: UInt64 = 0
    /// When the last renewals succeeded, oldest first.
    private var renewals: [Duration] = []
    /// Which session the user continued by signing in again when the client asked for it.
    private var continuation: (from: String, to: String)?
    /// The credentials to be revoked, and whether one is being revoked.
    private var revocations: (waiting: [Credentials], isRunning: Bool) = ([], false)
    /// How many attempts to refresh failed in a row, and when the next one may begin.
    private(set) var failures = 0
    private var pause: (until: Duration, failure: APIError)?

    var held: Held? { credentials.map { Held(credentials: $0, generation: generation) } }

    /// Whether the store is known to hold what this process holds.
    var isStored: Bool { stored == generation }

    mutating func load(_ loaded: Credentials?) {
        guard !isLoaded else { return }
        stored = replace(with: loaded)
        attempted = stored
    }

    /// Begins another session, or ends it.
    /// - Returns: The new generation.
    mutating func replace(with new: Credentials?) -> UInt64 {
        isLoaded = true
        credentials = new
        generation += 1
        (failures, pause) = (0, nil)
        return generation
    }

    /// Replaces the tokens of the session unless it changed since a generation.
    /// - Returns: The new credentials; `nil` if the session changed.
    mutating func renew(_ new: Credentials, basedOn known: UInt64, at now: Duration?) -> Held? {
        guard generation == known else { return nil }
        if let now {
            renewals.append(now)
            if renewals.count > Self.mostRenewals { renewals.removeFirst() }
        }
        _ = replace(with: new)
        return held
    }

    /// Ends the session unless it changed since a generation.
    /// - Returns: The new generation; `nil` if the session changed.
    mutating func end(basedOn known: UInt64) -> UInt64? { generation == known ? replace(with: nil) : nil }

    /// - Returns: Whether the revocations have to be started.
    mutating func beginRevocation(of credentials: Credentials) -> Bool {
        revocations.waiting.append(credentials)
        defer { revocations.isRunning = true }
        return !revocations.isRunning
    }

    /// - Returns: The next credentials to revoke; `nil` ends the revocations.
    mutating func nextRevocation() -> Credentials? {
        if revocations.waiting.isEmpty { revocations.isRunning = false }
        return revocations.waiting.isEmpty ? nil : revocations.waiting.removeFirst()
    }

    /// Takes the credentials of a sign-in that the client asked for. The calls of the session that ended go on with them, unless another
    /// user is known to have signed in.
    mutating func `continue`(_ ended: Held?, with new: Credentials) -> UInt64 {
        // A sign-in screen may have begun the session already.
        if credentials != new { _ = replace(with: new) }
        guard let old = ended?.credentials, let session = old.sessionID, let id = credentials?.sessionID else {
            return generation
        }
        let isSameUser = old.userID == nil || new.userID == nil || old.userID == new.userID
        continuation = isSameUser ? (session, id) : nil
        return generation
    }

    /// Whether calls that began in one session may go on with the present credentials.
    func mayContinue(_ session: String?) -> Bool { mayContinue(session, as: credentials?.sessionID) }

    /// Whether calls that began in one session may carry the tokens of another.
    func mayContinue(_ session: String?, as other: String?) -> Bool {
        guard let session, let other, session != other else { return true }
        return continuation.map { $0 == (session, other) } ?? false
    }

    mutating func beginWrite() -> (Credentials?, UInt64) {
        attempted = generation
        return (credentials, generation)
    }

    mutating func endWrite(of written: UInt64) { stored = max(stored, written) }

    /// Notes a failed attempt, after which the next one has to wait.
    mutating func noteFailure(_ error: APIError, basedOn known: UInt64, isAttempt: Bool, until instant: Duration) {
        guard generation == known else { return }
        if isAttempt { failures += 1 }
        pause = (instant, error)
    }

    /// The next step of a caller with refused credentials.
    func entrance(after stale: Held?, at now: Duration) -> SingleFlight<Held>.Entrance {
        if let stale, stale.generation != generation {
            // The credentials that were refused have been replaced already.
            guard let held else { return .hopeless(SessionFailure.ended(nil)) }
            return mayContinue(stale.sessionID) ? .ready(held) : .hopeless(SessionFailure.replaced)
        }
        if stale == nil, let held { return .ready(held) }
        // Fresh tokens that are refused again and again: another one would be refused as well.
        let isExcessive = renewals.count >= Self.mostRenewals && now - renewals[0] < Self.renewalWindow
        if isExcessive { return .hopeless(SessionFailure.excessive) }
        if let pause, pause.until > now { return .hopeless(SessionFailure.paused(pause.failure, until: pause.until)) }
        return .join
    }
}

/// Why a caller got no credentials.
enum SessionFailure: Error {
    /// The session is over; the server's refusal, if it was asked.
    case ended(APIError?)
    /// Another session has begun.
    case replaced
    /// The session changed while the renewal was in flight.
    case superseded
    /// Too many renewals in a short time.
    case excessive
    /// The user has to sign in, and the caller may not ask for it; the server's refusal, if it was asked.
    case promptNeeded(APIError?)
    /// A refresh failed for a passing reason, and the next one begins at an instant.
    case paused(APIError, until: Duration)
}
