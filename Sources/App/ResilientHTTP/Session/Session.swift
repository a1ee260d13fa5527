import ErrorContract
import Foundation
import Logging
import RateLimiting
import Synchronization
import Timekeeping

/// The session of one user, shared by all calls of an app.
///
/// **One refresh.** An expired token is refreshed once, for any number of calls: the callers wait for the refresh in flight, and a caller
/// whose token has been replaced meanwhile takes the new one. If the app and its extensions share a store, their refreshes run one after
/// another.
///
/// **Failures.** A refresh that fails for a temporary reason (no response, a timeout, 429, 5xx) is repeated, one attempt at a time, as long
/// as the deadline of a waiting call allows it. Only a refusal of the refresh token ends the session. After 5 successful refreshes within
/// 30 s, no further one begins: fresh tokens that are refused again point to an error of the server.
///
/// **Sign-out.** A session that has ended stays ended: if a refresh completes after a sign-out, or after another user signed in, its tokens
/// are revoked and not stored. Calls of one session never carry the tokens of another one.
///
/// **Crashes.** New credentials are written to the store as soon as the refresh completes. If the process is killed between the response
/// and the write, the next start sends the old refresh token again; the server must accept it for a short time, as a Holdfast server does.
///
/// All methods may be called from any task at the same time.
public final class Session: Sendable {
    /// Exchanges a refresh token for new credentials. A `nil` refresh token or user in the result preserves the present one.
    /// - Throws: `APIError`; one that refuses the token (400, 401, 403) ends the session. Every other error counts as temporary.
    public typealias Refresh = @Sendable (_ refreshToken: String) async throws -> Credentials
    /// Prompts the user to sign in; returns `nil` if the user declines. Called once for all calls that wait, whose deadlines continue
    /// meanwhile.
    public typealias SignInPrompt = @Sendable () async -> Credentials?
    /// Revokes credentials at the server. Failures are not reported: the closure handles them itself.
    public typealias Revoke = @Sendable (Credentials) async -> Void

    /// The durations of refreshes, and the delays between repeated ones.
    public struct Timing: Hashable, Sendable {
        /// The time before its expiry from which a token is replaced; 30 s by default. It should exceed the difference between the clocks
        /// of the device and the server.
        public var skew: Duration = .seconds(30)
        /// The time limit of one refresh attempt; 5 s by default. After three failures in a row, an attempt may take three times as long,
        /// for networks that are slow rather than broken.
        public var attemptTimeout: Duration = .seconds(5)
        /// The delay between two attempts if the server names none: at least half of the exponential value, at most 8 s by default.
        public var backoff = Backoff(base: .milliseconds(500), cap: .seconds(8))
        /// The longest delay named by the server that calls wait for; 60 s by default. A longer delay ends the waiting calls with an error
        /// that contains the delay.
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
    /// The renewal in flight, shared by all calls.
    let renewal = SingleFlight<SessionState.Held>()
    /// The first read of the store, shared by its callers.
    private let loading = SingleFlight<Void>()
    /// The write in flight, shared by the callers whose change it includes.
    private let writing = SingleFlight<Void>()
    /// The closures that run when a session has ended, by the object that registered them.
    private let endings = Mutex<[ObjectIdentifier: @Sendable (_ sessionID: String) async -> Void]>([:])
    /// The closures that run when another account may be signed in, by the object that registered them.
    private let observers = Mutex<[ObjectIdentifier: @Sendable (SessionChange) async -> Void]>([:])
    /// One write at a time: a store may compare and write in two steps.
    let writes = ConcurrencyLimiter(1, maximumWaiters: .max)

    /// Creates a session.
    /// - Parameters:
    ///   - store: The store of the credentials. It is read when the first call needs them.
    ///   - timing: The durations of refreshes, and the delays between repeated ones.
    ///   - environment: The clocks, randomness and logger.
    ///   - refresh: Exchanges a refresh token for new credentials.
    ///   - revoke: Revokes credentials that arrive after the session ended. With `nil`, they stay valid at the server until they expire.
    ///   - prompt: Prompts the user to sign in when the session has ended. With `nil`, the calls fail with the kind `unauthorized`.
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

    /// Refreshes the session now, such as after the user's permissions changed. A refresh in flight is shared.
    ///
    /// After a sign-out, the method takes the credentials that another process has stored since, if there are any.
    /// - Parameter timeout: The time within which a refresh that fails for a temporary reason is repeated. With the default, zero, it is
    ///   tried once.
    /// - Throws: `APIError`: the server's refusal if it ended the session, the kind `unauthorized` if no user is signed in, or the
    ///   temporary failure. The store's error if it can't be read.
    public func refreshNow(timeout: Duration = .zero) async throws {
        guard let held = try await held() else {
            guard try await joinOtherProcess() else { throw APIError.signedOut }
            return
        }
        _ = try await renewed(after: held, by: .refresh, until: environment.clock.now + timeout)
    }

    /// Takes the session that another process began after this one was signed out.
    /// - Returns: Whether the store has credentials.
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

    /// Begins a session with the credentials of a sign-in, or ends it with `nil`.
    ///
    /// The earlier session ends in memory even if the store fails: from then on no call carries its tokens. The change is written to the
    /// store even if the caller is canceled, and after every change before it.
    ///
    /// The method does not call the server: revoke the returned credentials there.
    /// - Parameter credentials: The new credentials; `nil` signs the user out.
    /// - Returns: The credentials that were replaced; `nil` if there were none.
    /// - Throws: The store's error. After a failed sign-out, the store may still have the tokens: repeat the call, otherwise the user is
    ///   signed in after a restart of the app.
    @discardableResult
    public func setCredentials(_ credentials: Credentials?) async throws -> Credentials? {
        // Caches may contain responses of a session that this process has not loaded yet.
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

    /// Registers a closure that runs each time a session ends: the user signed out, another user signed in, or the server ended the
    /// session.
    /// - Parameters:
    ///   - object: The object that registers it. The closure runs as long as the object exists, and replaces its earlier one.
    ///   - body: The closure. Its second argument identifies the session that ended.
    func onEnd<Object: AnyObject & Sendable>(of object: Object, _ body: @escaping @Sendable (Object, String) async -> Void) {
        endings.withLock { endings in
            endings[ObjectIdentifier(object)] = { [weak object] session in if let object { await body(object, session) } }
        }
    }

    /// Registers a closure that runs each time another account, or none, may be signed in.
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

    /// Runs the closures that observe the account.
    func noteChange(signedOut account: String? = nil) async {
        let change = SessionChange(signedOut: account)
        for observer in observers.withLock({ Array($0.values) }) { await observer(change) }
    }

    /// Runs the closures that observe the end of sessions, unless the session is the present one.
    func noteEnd(of session: String?, unless present: String?) async {
        guard let session, session != present else { return }
        for end in endings.withLock({ Array($0.values) }) { await end(session) }
    }

    /// Revokes credentials that no call will use, one after another in a separate task: no refresh waits for it.
    func discard(_ credentials: Credentials) {
        guard let revoke, state.withLock({ $0.beginRevocation(of: credentials) }) else { return }
        Task { [self] in
            while let next = state.withLock({ $0.nextRevocation() }) { await revoke(next) }
        }
    }
}

extension Session {
    /// The number of calls that wait for a renewal.
    var waiting: Int { renewal.waiting }
    /// Whether no call waits for the session, and nothing is in flight.
    var isIdle: Bool { loading.isIdle && renewal.isIdle && writing.isIdle }

    /// Returns the present credentials with their generation, and reads the store the first time.
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

    /// Returns whether a token expires so soon that it should be replaced before it is used. `false` without a refresh token or expiry.
    func isEnding(_ held: SessionState.Held) -> Bool {
        guard held.credentials.refreshToken != nil, let end = held.credentials.expiresAt else { return false }
        return end.timeIntervalSince(environment.wallClock()) <= timing.skew / .seconds(1)
    }

    /// Writes the present state unless a write has included the generation already. Writes run one after another, and each stores the state
    /// at its beginning, so that an earlier state never overwrites a later one.
    func persist(_ generation: UInt64) async throws {
        while state.withLock({ $0.stored < generation }) {
            do {
                // Not canceled with the caller: a sign-out must reach the store.
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
                // The write may have begun before this change. Then the change needs another write.
                guard state.withLock({ $0.attempted < generation }) else { throw error }
            }
        }
    }
}

/// A change of the account that is signed in.
package struct SessionChange: Sendable {
    /// The account that the app signed out; `nil` if there was no sign-out. A session that the server ended is not a sign-out.
    package var signedOut: String?
}

/// The state of a session. A value under the session's lock.
///
/// `generation` grows with every change of the credentials. Each operation that waits remembers the generation at its beginning and has an
/// effect only if it is still the present one. So a response that arrives after a sign-out changes nothing.
struct SessionState {
    /// Credentials with the generation that identifies them.
    struct Held: Hashable {
        var credentials: Credentials
        var generation: UInt64

        var sessionID: String? { credentials.sessionID }
    }

    /// The number of successful renewals within ``renewalWindow`` after which no further one is begun.
    static let mostRenewals = 5
    static let renewalWindow: Duration = .seconds(30)

    /// Whether the store was read, or a sign-in or sign-out has made that unnecessary.
    private(set) var isLoaded = false
    private(set) var credentials: Credentials?
    /// Grows with every change, so that a write or a response that is based on an earlier state is recognized.
    private(set) var generation: UInt64 = 0
    /// The generation that the store holds, as far as this process knows.
    private(set) var stored: UInt64 = 0
    /// The latest generation for which a write began.
    private(set) var attempted: UInt64 = 0
    /// The times of the last successful renewals, oldest first.
    private var renewals: [Duration] = []
    /// The session that ended, and the one with which its calls continue, after the user signed in at the client's prompt.
    private var continuation: (from: String, to: String)?
    /// The credentials to be revoked, and whether one is being revoked.
    private var revocations: (waiting: [Credentials], isRunning: Bool) = ([], false)
    /// The number of failed refreshes in a row.
    private(set) var failures = 0
    /// The instant before which no refresh begins, and the failure that is the reason.
    private var pause: (until: Duration, failure: APIError)?

    var held: Held? { credentials.map { Held(credentials: $0, generation: generation) } }

    /// Whether the store has the present credentials, as far as this process knows.
    var isStored: Bool { stored == generation }

    /// Takes the credentials that the store had, unless the session has begun otherwise.
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
    /// - Parameter now: The time of the renewal, which counts toward ``mostRenewals``.
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

    /// Takes the credentials of a sign-in at the client's prompt. The calls of the session that ended continue with them, unless another
    /// user is known to have signed in.
    /// - Returns: The new generation.
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

    /// Returns whether calls that began in one session may continue with the present credentials.
    func mayContinue(_ session: String?) -> Bool { mayContinue(session, as: credentials?.sessionID) }

    /// Whether calls that began in one session may carry the tokens of another.
    func mayContinue(_ session: String?, as other: String?) -> Bool {
        guard let session, let other, session != other else { return true }
        return continuation.map { $0 == (session, other) } ?? false
    }

    /// Returns the credentials to write, and their generation.
    mutating func beginWrite() -> (Credentials?, UInt64) {
        attempted = generation
        return (credentials, generation)
    }

    /// Notes that the store has the credentials of a generation.
    mutating func endWrite(of written: UInt64) { stored = max(stored, written) }

    /// Notes a failed attempt, unless the session changed meanwhile.
    /// - Parameters:
    ///   - isAttempt: Whether the attempt reached the server and counts as a failure.
    ///   - instant: The time before which no further attempt begins.
    mutating func noteFailure(_ error: APIError, basedOn known: UInt64, isAttempt: Bool, until instant: Duration) {
        guard generation == known else { return }
        if isAttempt { failures += 1 }
        pause = (instant, error)
    }

    /// Returns the next step of a caller whose credentials were refused: use the present ones, wait for a renewal, or fail.
    func entrance(after stale: Held?, at now: Duration) -> SingleFlight<Held>.Entrance {
        if let stale, stale.generation != generation {
            // The credentials that were refused have been replaced already.
            guard let held else { return .hopeless(SessionFailure.ended(nil)) }
            return mayContinue(stale.sessionID) ? .ready(held) : .hopeless(SessionFailure.replaced)
        }
        if stale == nil, let held { return .ready(held) }
        // Several fresh tokens in a row were refused, so the next one would be refused as well.
        let isExcessive = renewals.count >= Self.mostRenewals && now - renewals[0] < Self.renewalWindow
        if isExcessive { return .hopeless(SessionFailure.excessive) }
        if let pause, pause.until > now { return .hopeless(SessionFailure.paused(pause.failure, until: pause.until)) }
        return .join
    }
}

/// The reason for which a caller got no credentials.
enum SessionFailure: Error {
    /// The session has ended; with the server's refusal, if there was one.
    case ended(APIError?)
    /// Another session has begun.
    case replaced
    /// The session changed while the renewal was in flight.
    case superseded
    /// Too many renewals succeeded in a short time.
    case excessive
    /// The user must sign in, and the caller may not prompt for it; with the server's refusal, if there was one.
    case promptNeeded(APIError?)
    /// A refresh failed for a temporary reason, and the next one begins at an instant.
    case paused(APIError, until: Duration)
}
