import ErrorContract
import Foundation
import Logging
import RateLimiting
import Synchronization
import Timekeeping

/// The session of one user, shared by all calls of an app.
///
/// **One refresh.** If several calls need a new token at the same time, the session refreshes the token once, and all of these calls wait
/// for this refresh. If the server refuses a token that the session has already replaced, the call uses the new token without another
/// refresh. If the app and its extensions share a store with a lock, such as ``FileCredentialStore``, only one of them refreshes at a time.
/// The keychain has no lock.
///
/// **Failures.** If a refresh fails for a temporary reason (no response, a timeout, 429, 5xx), the session repeats the refresh, one attempt
/// at a time. The session stops when the deadlines of all waiting calls have passed. A failed refresh ends the session only if the server
/// refuses the refresh token. After 5 successful refreshes within 30 s, the session begins no further refresh during these 30 s. The usual
/// reason is a server that refuses every new token, so another refresh would not help.
///
/// **Sign-out.** A late response never signs a user in again. If a refresh completes after a sign-out, or after another user signed in,
/// `Session` revokes the tokens of this refresh and doesn't store them. A call never carries the tokens of a later sign-in, with one
/// exception: if `Session` itself prompted the user to sign in, the waiting calls continue with the new tokens. These calls fail instead if
/// ``Credentials/userID`` shows that another user signed in.
///
/// **Crashes.** The session writes new credentials to the store when the refresh completes. If the process is killed between the response
/// and the write, the app sends the old refresh token again after its next start. The server must accept the old token for a short time, as
/// a Holdfast server does.
///
/// All methods are safe to call from concurrent tasks.
///
/// ```swift
/// let session = Session(store: MemoryCredentialStore(stored)) { refreshToken in
///     try await accounts.refreshed(with: refreshToken)
/// } prompt: {
///     await signInScreen()
/// }
/// let api = APIClient(baseURL: url, transport: transport, session: session)
/// ```
public final class Session: Sendable {
    /// Exchanges a refresh token for new credentials. If the result has no refresh token or no user, the session continues to use its
    /// present refresh token or user.
    /// - Throws: `APIError`. An error that refuses the token (400, 401, 403) ends the session. Every other error counts as temporary.
    public typealias Refresh = @Sendable (_ refreshToken: String) async throws -> Credentials
    /// Prompts the user to sign in. Returns `nil` if the user declines. The session calls the closure once for all waiting calls. The
    /// deadlines of these calls don't pause while the prompt is shown.
    public typealias SignInPrompt = @Sendable () async -> Credentials?
    /// Revokes credentials at the server. The closure must handle failures itself.
    public typealias Revoke = @Sendable (Credentials) async -> Void

    /// The durations of refreshes, and the delays between repeated refreshes.
    public struct Timing: Hashable, Sendable {
        /// The session replaces a token this long before the token expires; 30 s by default. Choose a time that exceeds the difference
        /// between the clocks of the device and the server.
        public var skew: Duration = .seconds(30)
        /// The time limit of one refresh attempt; 5 s by default. After three failures in a row, the limit is three times as long, because
        /// the network may be slow.
        public var attemptTimeout: Duration = .seconds(5)
        /// The delay between two attempts if the server requests no delay. The exponential value grows up to 8 s by default. The actual
        /// delay is random, from 50 % to 100 % of this value.
        public var backoff = Backoff(base: .milliseconds(500), cap: .seconds(8))
        /// The longest delay that the session accepts from the server; 60 s by default. If the server requests a longer delay, the waiting
        /// calls fail with an error that contains the delay.
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
    /// The renewal in flight: a refresh, or a sign-in at the prompt. All calls share it.
    let renewal = SingleFlight<SessionState.Held>()
    /// The first read of the store. All callers share it.
    private let loading = SingleFlight<Void>()
    /// The write that is in flight. If the write includes a caller's change, the caller waits for this write.
    private let writing = SingleFlight<Void>()
    /// The closures that run when a session has ended or begun.
    let endings = Mutex(ObserverList<@Sendable (_ ended: String?, _ begun: String?) async -> Void>())
    /// The closures that run when the signed-in account may have changed.
    let observers = Mutex(ObserverList<@Sendable (SessionChange) async -> Void>())
    /// Allows only one write at a time, because some stores compare and write in two separate steps.
    let writes = ConcurrencyLimiter(1, maximumWaiters: .max)

    /// Creates a session.
    /// - Parameters:
    ///   - store: The store of the credentials. The session reads the store when the first call needs credentials.
    ///   - timing: The durations of refreshes, and the delays between repeated refreshes.
    ///   - environment: The clocks, randomness and logger.
    ///   - refresh: Exchanges a refresh token for new credentials.
    ///   - revoke: Revokes credentials that arrive after the session ended. With `nil`, these credentials stay valid at the server until
    ///     they expire.
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

    /// The account that is signed in: the ``Credentials/userID`` of the credentials. `nil` if no user is signed in, or if the credentials
    /// have no user.
    ///
    /// An offline queue stores authorized requests only for a known account, and sends them only with tokens of that account.
    /// - Throws: The store's error.
    public var identity: String? {
        get async throws { try await held()?.credentials.userID }
    }

    /// Refreshes the session now, for example after the user's permissions changed. If a refresh is in flight, the method waits for it.
    ///
    /// If the user signed out, and another process has stored credentials since then, the method uses these credentials.
    /// - Parameter timeout: The time during which the session repeats a refresh that fails for a temporary reason. With the default, zero,
    ///   there is one attempt.
    /// - Throws: `APIError`. If the server's refusal ended the session, the error is this refusal. If no user is signed in, the error has
    ///   the kind `unauthorized`. If the refresh failed for a temporary reason, the error is this failure. If the session begins no refresh
    ///   because 5 refreshes succeeded within 30 s, the error has the kind `throttled`, and its `retryAfter` is the time until the next
    ///   refresh may begin. If the store can't be read, the method throws the store's error.
    public func refreshNow(timeout: Duration = .zero) async throws {
        guard let held = try await held() else {
            guard try await joinOtherProcess() else { throw APIError.signedOut }
            return
        }
        let result = try await renewed(after: held, by: .refresh, until: environment.clock.now + timeout)
        guard result == nil else { return }
        let wait = state.withLock { $0.renewalDelay(at: environment.clock.now) }
        throw APIError(heldBackFor: wait, by: .throttle, isLimit: true, environment: environment)
    }

    /// Loads the credentials that another process has stored since the user signed out in this process. If there are any, this process uses
    /// them, and the method reports the sign-in to the observers.
    /// - Returns: Whether the store has credentials.
    private func joinOtherProcess() async throws -> Bool {
        let (generation, isStored) = state.withLock { ($0.generation, $0.isStored) }
        guard isStored, let found = try await store.load() else { return false }
        let isJoined = state.withLock { state in
            guard state.generation == generation else { return false }
            let joined = state.replace(with: found.identified())
            state.endWrite(of: joined)
            return true
        }
        if isJoined {
            await noteEnd(of: nil, unless: found.identified().sessionID)
            await noteChange()
        }
        return true
    }

    /// Begins a session with the credentials of a sign-in. With `nil`, ends the session.
    ///
    /// The earlier session ends in memory even if the store fails. From then on, no call carries the tokens of the earlier session. The
    /// session writes the change to the store even if the caller is canceled. A write never replaces newer credentials with older ones.
    ///
    /// The method does not call the server. To revoke the returned credentials, call the server.
    /// - Parameter credentials: The new credentials; `nil` signs the user out.
    /// - Returns: The credentials that were replaced; `nil` if there were none.
    /// - Throws: The store's error. After a failed sign-out, the store may still contain the tokens, and the user would be signed in again
    ///   after a restart of the app. Therefore, call the method again.
    @discardableResult
    public func setCredentials(_ credentials: Credentials?) async throws -> Credentials? {
        try await replaceCredentials(with: credentials) { _ in true }
    }

    /// Ends a session that the server has ended, such as after the deletion of the account.
    ///
    /// If the user has signed out since the request, or if another session has begun, the method does nothing. So a late response never
    /// signs another user out.
    /// - Parameter known: The credentials of the session before the request.
    /// - Throws: The store's error.
    package func endSession(of known: Credentials) async throws {
        try await replaceCredentials(with: nil) { $0.credentials != nil && $0.mayContinue(known.sessionID) }
    }

    /// Writes the present credentials to the store if their last write failed. After a failed sign-out, the method removes the credentials
    /// from the store.
    /// - Returns: Whether a write was necessary. If not, the store is unchanged.
    /// - Throws: The store's error.
    package func storeAgain() async throws -> Bool {
        let generation = state.withLock { $0.isStored ? nil : $0.generation }
        guard let generation else { return false }
        try await persist(generation)
        return true
    }

    /// Replaces the credentials in memory and in the store, unless a condition on the present state is `false`.
    /// - Returns: The credentials that were replaced; `nil` if there were none.
    @discardableResult
    private func replaceCredentials(
        with credentials: Credentials?,
        if isExpected: (SessionState) -> Bool
    ) async throws -> Credentials? {
        // Caches may contain responses of a session that this process has not loaded yet. This line loads the session, so that the change
        // below can notify the caches of its end, even if the caller is canceled.
        if endings.withLock({ !$0.isEmpty }) { _ = try? await held(isCancellable: false) }
        let change = state.withLock { state -> (replaced: Credentials?, generation: UInt64, session: String?)? in
            guard isExpected(state) else { return nil }
            return (state.credentials, state.replace(with: credentials?.identified()), state.held?.sessionID)
        }
        guard let (replaced, generation, session) = change else { return nil }
        await noteEnd(of: replaced?.sessionID, unless: session)
        // Credentials without a user may belong to the same account. If they counted as a sign-out, its queued requests could be lost.
        let isSignOut = credentials.map { $0.userID != nil && $0.userID != replaced?.userID } ?? true
        let signedOut = isSignOut ? replaced?.userID : nil
        do {
            try await persist(generation)
        } catch {
            // The account has changed in memory. A repeated call would no longer know the earlier account.
            await noteChange(signedOut: signedOut)
            throw error
        }
        await noteChange(signedOut: signedOut)
        return replaced
    }

    /// Registers a closure that runs each time a session ends or begins: the user signed out, another user signed in, or the server ended
    /// the session.
    /// - Parameters:
    ///   - object: The object that registers the closure. The closure runs as long as the object exists. A new closure of the same object
    ///     replaces the earlier closure.
    ///   - body: The closure. Its second argument identifies the session that ended, and its third argument the session that began.
    func onEnd<Object: AnyObject & Sendable>(
        of object: Object,
        _ body: @escaping @Sendable (Object, _ ended: String?, _ begun: String?) async -> Void
    ) {
        endings.withLock { endings in
            endings.add({ [weak object] ended, begun in if let object { await body(object, ended, begun) } }, of: object)
        }
    }

    /// Registers a closure that runs when the signed-in account may have changed, or when no account is signed in any more.
    /// - Parameters:
    ///   - object: The object that registers the closure. The closure runs as long as the object exists. A new closure of the same object
    ///     replaces the earlier closure.
    ///   - body: The closure.
    package func onChange<Object: AnyObject & Sendable>(
        of object: Object,
        _ body: @escaping @Sendable (Object, SessionChange) async -> Void
    ) {
        observers.withLock { observers in
            observers.add({ [weak object] change in if let object { await body(object, change) } }, of: object)
        }
    }

    /// Runs the closures that were registered with ``onChange(of:_:)``.
    /// - Parameter account: The account that the app signed out; `nil` if there was no sign-out.
    func noteChange(signedOut account: String? = nil) async {
        let change = SessionChange(signedOut: account)
        for observer in observers.withLock(\.bodies) { await observer(change) }
    }

    /// Runs the closures of ``onEnd(of:_:)`` for a session that was replaced or removed. Does nothing if the session is still the present
    /// one.
    /// - Parameters:
    ///   - session: The session that was replaced or removed; `nil` if there was none.
    ///   - present: The session that is present now; `nil` if no user is signed in.
    func noteEnd(of session: String?, unless present: String?) async {
        guard session != present else { return }
        for end in endings.withLock(\.bodies) { await end(session, present) }
    }

    /// Revokes credentials that no call will use. A separate task revokes them one after another, so that no refresh waits for a
    /// revocation.
    /// - Parameter credentials: The credentials. If the session has no closure for revocations, nothing happens.
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
    /// Whether no call waits for the session, and no load, renewal or write is in flight.
    var isIdle: Bool { loading.isIdle && renewal.isIdle && writing.isIdle }

    /// Returns the present credentials with their generation, which is the number that ``SessionState`` gives to each change of the
    /// credentials. The first call reads the store.
    /// - Parameter isCancellable: Whether the method stops waiting for the store when the caller is canceled.
    /// - Throws: The store's error. The next call then reads the store again.
    func held(isCancellable: Bool = true) async throws -> SessionState.Held? {
        let known = state.withLock { $0.isLoaded ? Optional($0.held) : nil }
        if let known { return known }
        _ = try await loading.run(isCancellable: isCancellable, unless: { .join }) { [self] in
            let loaded = try await store.load()
            state.withLock { $0.load(loaded?.identified()) }
        }
        return state.withLock(\.held)
    }

    /// Returns whether calls that began in one session may use the tokens of another session.
    func mayContinue(_ session: String?, as other: String?) -> Bool { state.withLock { $0.mayContinue(session, as: other) } }

    /// Returns whether a token expires so soon that the session should replace it before its use. `false` if there is no refresh token or
    /// no expiry.
    func isEnding(_ held: SessionState.Held) -> Bool {
        guard held.credentials.refreshToken != nil, let end = held.credentials.expiresAt else { return false }
        return end.timeIntervalSince(environment.wallClock()) <= timing.skew / .seconds(1)
    }

    /// Writes the present credentials to the store, unless an earlier write has already stored the given generation or a later one. Writes
    /// run one after another. Each write stores the credentials that are present when the write begins. Therefore, a write never replaces
    /// newer credentials with older ones.
    /// - Parameter generation: The generation that the caller created. When the method returns, the store contains the credentials of this
    ///   generation or of a later one.
    /// - Throws: The store's error.
    func persist(_ generation: UInt64) async throws {
        while state.withLock({ $0.stored < generation }) {
            do {
                // The write is not canceled with the caller, because a sign-out must reach the store.
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
                // The failed write may have begun before the caller's change. In that case, the change needs another write.
                guard state.withLock({ $0.attempted < generation }) else { throw error }
            }
        }
    }
}

/// A change of the account that is signed in.
package struct SessionChange: Sendable {
    /// The account that the app signed out; `nil` for any other change, such as a session that the server ended.
    package var signedOut: String?
}

/// The state of a session: a value that the session's mutex guards.
///
/// `generation` increases with every change of the credentials. An operation that waits stores the generation at its beginning. The
/// operation has an effect only if the generation has not changed since then. A response that arrives after a sign-out therefore changes
/// nothing.
struct SessionState {
    /// Credentials with the generation that identifies them.
    struct Held: Hashable {
        var credentials: Credentials
        var generation: UInt64

        var sessionID: String? { credentials.sessionID }
    }

    /// The maximum number of successful renewals within ``renewalWindow``. After this number, no further renewal begins.
    static let mostRenewals = 5
    static let renewalWindow: Duration = .seconds(30)

    /// Whether `credentials` is known. `false` until the session has read the store, or until a sign-in or a sign-out.
    private(set) var isLoaded = false
    private(set) var credentials: Credentials?
    /// The number of the present state. It increases with every change. With this number, the session recognizes a write or a response that
    /// belongs to an earlier state.
    private(set) var generation: UInt64 = 0
    /// The latest generation in the store, as far as this process knows.
    private(set) var stored: UInt64 = 0
    /// The latest generation for which a write began.
    private(set) var attempted: UInt64 = 0
    /// The times of the last successful renewals, oldest first.
    private var renewals: [Duration] = []
    /// The identifier of an ended session, and the identifier of the session with which the calls of the ended session continue. Only a
    /// sign-in at the session's prompt sets this property.
    private var continuation: (from: String, to: String)?
    /// The credentials to be revoked, and whether a revocation is running.
    private var revocations: (waiting: [Credentials], isRunning: Bool) = ([], false)
    /// The number of consecutive failed refreshes.
    private(set) var failures = 0
    /// The instant before which no refresh begins, and the failure that caused this pause.
    private var pause: (until: Duration, failure: APIError)?

    var held: Held? { credentials.map { Held(credentials: $0, generation: generation) } }

    /// Whether the store contains the present credentials, as far as this process knows.
    var isStored: Bool { stored == generation }

    /// Uses the credentials from the store, unless a sign-in or a sign-out came first.
    mutating func load(_ loaded: Credentials?) {
        guard !isLoaded else { return }
        stored = replace(with: loaded)
        attempted = stored
    }

    /// Begins another session, or ends the present one.
    /// - Returns: The new generation.
    mutating func replace(with new: Credentials?) -> UInt64 {
        isLoaded = true
        credentials = new
        generation += 1
        (failures, pause) = (0, nil)
        return generation
    }

    /// Stores the credentials of a renewal, unless the credentials have changed since the given generation.
    /// - Parameter now: The time of the renewal, which counts toward ``mostRenewals``; `nil` for a renewal that doesn't count.
    /// - Returns: The new credentials with their generation; `nil` if the credentials have changed in the meantime.
    mutating func renew(_ new: Credentials, basedOn known: UInt64, at now: Duration?) -> Held? {
        guard generation == known else { return nil }
        if let now {
            renewals.append(now)
            if renewals.count > Self.mostRenewals { renewals.removeFirst() }
        }
        _ = replace(with: new)
        return held
    }

    /// Ends the session, unless the credentials have changed since the given generation.
    /// - Returns: The new generation; `nil` if the credentials have changed in the meantime.
    mutating func end(basedOn known: UInt64) -> UInt64? { generation == known ? replace(with: nil) : nil }

    /// Adds credentials to the queue of revocations.
    /// - Returns: Whether the caller must start a task that revokes the queued credentials; `false` if this task is already running.
    mutating func beginRevocation(of credentials: Credentials) -> Bool {
        revocations.waiting.append(credentials)
        defer { revocations.isRunning = true }
        return !revocations.isRunning
    }

    /// Removes the first credentials from the queue of revocations.
    /// - Returns: The credentials to revoke; `nil` if the queue is empty. The task for revocations then ends.
    mutating func nextRevocation() -> Credentials? {
        if revocations.waiting.isEmpty { revocations.isRunning = false }
        return revocations.waiting.isEmpty ? nil : revocations.waiting.removeFirst()
    }

    /// Uses the credentials of a sign-in at the session's prompt. The calls of the ended session continue with these credentials, unless
    /// both user identifiers are known and differ.
    /// - Returns: The new generation.
    mutating func `continue`(_ ended: Held?, with new: Credentials) -> UInt64 {
        // A sign-in screen may have already begun the session.
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

    /// Returns whether calls that began in one session may use the tokens of another session.
    func mayContinue(_ session: String?, as other: String?) -> Bool {
        guard let session, let other, session != other else { return true }
        return continuation.map { $0 == (session, other) } ?? false
    }

    /// Returns the credentials to write, and their generation.
    mutating func beginWrite() -> (Credentials?, UInt64) {
        attempted = generation
        return (credentials, generation)
    }

    /// Records that the store contains the credentials of a generation.
    mutating func endWrite(of written: UInt64) { stored = max(stored, written) }

    /// Records a failed attempt, unless the session changed meanwhile.
    /// - Parameters:
    ///   - isAttempt: Whether the attempt reached the server and counts as a failure.
    ///   - instant: The time before which no further attempt begins.
    mutating func noteFailure(_ error: APIError, basedOn known: UInt64, isAttempt: Bool, until instant: Duration) {
        guard generation == known else { return }
        if isAttempt { failures += 1 }
        pause = (instant, error)
    }

    /// Returns the time until the next renewal may begin after ``mostRenewals`` successful renewals; zero if it may begin now.
    func renewalDelay(at now: Duration) -> Duration {
        guard renewals.count >= Self.mostRenewals else { return .zero }
        return max(.zero, renewals[0] + Self.renewalWindow - now)
    }

    /// Returns the next step of a caller whose credentials the server refused: use the present credentials, wait for a renewal, or fail.
    func entrance(after stale: Held?, at now: Duration) -> SingleFlight<Held>.Entrance {
        if let stale, stale.generation != generation {
            // The refused credentials have already been replaced.
            guard let held else { return .hopeless(SessionFailure.ended(nil)) }
            return mayContinue(stale.sessionID) ? .ready(held) : .hopeless(SessionFailure.replaced)
        }
        if stale == nil, let held { return .ready(held) }
        // Several renewals succeeded recently, but the server refused their tokens. It would also refuse the next token.
        if renewalDelay(at: now) > .zero { return .hopeless(SessionFailure.excessive) }
        if let pause, pause.until > now { return .hopeless(SessionFailure.paused(pause.failure, until: pause.until)) }
        return .join
    }
}

/// The reason why a caller got no credentials.
enum SessionFailure: Error {
    /// The session has ended. The error is the server's refusal; `nil` if the server did not refuse.
    case ended(APIError?)
    /// Another session has begun.
    case replaced
    /// The session changed while the renewal was in flight.
    case superseded
    /// Too many renewals succeeded in a short time.
    case excessive
    /// The user must sign in, but the caller must not prompt the user. The error is the server's refusal; `nil` if the server did not
    /// refuse.
    case promptNeeded(APIError?)
    /// A refresh failed for a temporary reason. No refresh begins before the instant.
    case paused(APIError, until: Duration)
}
