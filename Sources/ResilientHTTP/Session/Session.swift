import ErrorContract
import Foundation
import Logging
import Synchronization

/// One person's session, shared by all calls of an app.
///
/// However many calls meet an expired token, it is refreshed once: callers wait for the refresh that is under way, and a straggler
/// whose token has been replaced meanwhile takes the new one. A refresh has a time limit of its own and goes on when the call that
/// began it is cancelled. If the server refuses it, the credentials are cleared and the person is asked to sign in, once; a lost
/// connection signs nobody out.
public final class Session: Sendable {
    /// Continues a session.
    /// - Throws: ``ErrorContract/APIError``; one that refuses (400, 401, 403) ends the session.
    public typealias Refresh = @Sendable (_ refreshToken: String) async throws -> Credentials
    /// Asks the person to sign in; `nil` if they would not.
    public typealias SignInPrompt = @Sendable () async -> Credentials?

    /// Credentials and which ones they are.
    struct Held: Hashable {
        var credentials: Credentials
        var generation: UInt64
    }

    private struct State {
        var isLoaded = false
        var credentials: Credentials?
        /// Grows with every change, so that a late 401 can be told from a new one.
        var generation: UInt64 = 0

        /// When the last renewals were made, oldest first.
        var renewals: [Duration] = []

        var held: Held? { credentials.map { Held(credentials: $0, generation: generation) } }

        mutating func hold(_ new: Credentials?) {
            isLoaded = true
            credentials = new
            generation += 1
        }

        mutating func take(_ new: Credentials) -> Held {
            hold(new)
            return Held(credentials: new, generation: generation)
        }

        /// What a caller with refused credentials is told.
        func entrance(after stale: Held?, at now: Duration) -> SingleFlight<Held>.Entrance {
            if let stale, stale.generation != generation {
                // A straggler: what it was refused with is no longer what is held.
                return held.map { .ready($0) } ?? .hopeless(Ended())
            }
            if stale == nil, let held { return .ready(held) }
            // Fresh tokens that are refused again and again: another one would be refused too.
            let isExcessive = renewals.count >= Session.mostRenewals && now - renewals[0] < Session.renewalWindow
            return isExcessive ? .hopeless(Excessive()) : .join
        }

        mutating func noteRenewal(at now: Duration) {
            renewals.append(now)
            if renewals.count > Session.mostRenewals { renewals.removeFirst() }
        }
    }

    /// More renewals than this within ``renewalWindow`` are not begun.
    static let mostRenewals = 5
    static let renewalWindow: Duration = .seconds(30)

    /// The session is over, and nobody signed in again.
    private struct Ended: Error {
        /// The server's refusal, if it was asked.
        var refusal: APIError?
    }
    /// Too many renewals in a short time.
    private struct Excessive: Error {}

    private let store: any CredentialStore
    private let refresh: Refresh
    private let prompt: SignInPrompt?
    private let skew: Duration
    private let refreshTimeout: Duration
    private let surroundings: ClientSurroundings
    private let state = Mutex(State())
    private let loading = SingleFlight<Void>()
    private let renewal = SingleFlight<Held>()

    /// Creates a session.
    /// - Parameters:
    ///   - store: Where the credentials are kept.
    ///   - skew: How long before its end a token is replaced.
    ///   - refreshTimeout: The time that a refresh may take.
    ///   - surroundings: Time and log.
    ///   - refresh: Continues a session.
    ///   - prompt: Asks the person to sign in when a session has ended; `nil` lets the calls fail.
    public init(
        store: any CredentialStore,
        skew: Duration = .seconds(30),
        refreshTimeout: Duration = .seconds(15),
        surroundings: ClientSurroundings = ClientSurroundings(),
        refresh: @escaping Refresh,
        prompt: SignInPrompt? = nil
    ) {
        self.store = store
        self.skew = skew
        self.refreshTimeout = refreshTimeout
        self.surroundings = surroundings
        self.refresh = refresh
        self.prompt = prompt
    }

    /// The credentials, or `nil` if nobody is signed in.
    /// - Throws: The store's error.
    public var credentials: Credentials? {
        get async throws { try await held()?.credentials }
    }

    /// Replaces the credentials now.
    /// - Throws: ``ErrorContract/APIError``; the refusal of the server if it ended the session.
    public func refreshNow() async throws {
        guard let held = try await held() else { throw APIError.signedOut }
        _ = try await renewed(after: held, by: .refresh)
    }

    /// Begins a session, or ends it with `nil`. What was held before is forgotten here even if the store fails.
    /// - Throws: The store's error.
    public func hold(_ credentials: Credentials?) async throws {
        state.withLock { $0.hold(credentials) }
        try await store.save(credentials)
    }
}

/// What a 401 asks for.
enum Renewal: Hashable {
    /// Refresh; if that can't be, ask the person.
    case refresh
    /// Ask the person.
    case signIn
}

extension Session {
    func held() async throws -> Held? {
        let known = state.withLock { $0.isLoaded ? Optional($0.held) : nil }
        if let known { return known }
        _ = try await loading.run(unless: { .join }) { [self] in
            let loaded = try await store.load()
            state.withLock { if !$0.isLoaded { $0.hold(loaded) } }
        }
        return state.withLock(\.held)
    }

    /// How many calls wait for a renewal.
    var waiting: Int { renewal.waiting }
    /// Whether nobody waits for the session, and nothing is under way.
    var isIdle: Bool { loading.isIdle && renewal.isIdle }

    /// Whether a token ends so soon that it should be replaced before it is used.
    func isEnding(_ held: Held) -> Bool {
        guard held.credentials.refreshToken != nil, let end = held.credentials.expiresAt else { return false }
        return end.timeIntervalSince(surroundings.wallClock()) <= skew / .seconds(1)
    }

    /// Credentials newer than those that were refused.
    /// - Parameter stale: What was refused; `nil` if the request carried nothing.
    /// - Returns: `nil` if there were so many renewals lately that one more would be of no use.
    /// - Throws: ``ErrorContract/APIError``: `unauthorized` if there are none, the refresh's own error if nobody refused.
    func renewed(after stale: Held?, by way: Renewal) async throws -> (held: Held, isShared: Bool)? {
        do {
            let (held, isShared) = try await renewal.run(
                unless: { [self] in state.withLock { $0.entrance(after: stale, at: surroundings.clock.now) } },
                { [self] in try await renew(by: way) }
            )
            return (held, isShared)
        } catch let ended as Ended {
            throw ended.refusal ?? .signedOut
        } catch is Excessive {
            return nil
        }
    }

    private func renew(by way: Renewal) async throws -> Held {
        state.withLock { $0.noteRenewal(at: surroundings.clock.now) }
        var refusal: APIError?
        if way == .refresh {
            switch try await refreshed() {
            case .renewed(let held): return held
            case .impossible(let error): refusal = error
            }
        }
        try? await clear()
        guard let signedIn = await prompt?() else { throw Ended(refusal: refusal) }
        return try await keep(signedIn)
    }

    private enum Refreshed {
        case renewed(Held)
        /// The session can't be continued; the server's refusal, if it was asked.
        case impossible(APIError?)
    }

    private func refreshed() async throws -> Refreshed {
        try await store.exclusively { [self] in
            let before = state.withLock(\.credentials)
            let stored = try await store.load() ?? before
            // Another process that shares the store was here first.
            if let stored, let before, stored != before { return .renewed(state.withLock { $0.take(stored) }) }
            guard let token = stored?.refreshToken else { return .impossible(nil) }
            do {
                return .renewed(try await keep(try await limited { [self] in try await refresh(token) }))
            } catch let error as APIError where error.isRefusalOfCredentials {
                surroundings.logger?.debug("The session was refused", metadata: ["code": "\(error.code)"])
                return .impossible(error)
            }
        }
    }

    private func keep(_ credentials: Credentials) async throws -> Held {
        let held = state.withLock { $0.take(credentials) }
        do {
            try await store.save(credentials)
        } catch {
            // The session works until the app ends; losing it now would help nobody.
            surroundings.logger?.warning("The session could not be stored", metadata: ["error.type": "\(type(of: error))"])
        }
        return held
    }

    private func clear() async throws {
        state.withLock { $0.hold(nil) }
        try await store.save(nil)
    }

    /// Runs the refresh for as long as it may take.
    private func limited(_ body: @escaping @Sendable () async throws -> Credentials) async throws -> Credentials {
        let clock = surroundings.clock
        let deadline = clock.now + refreshTimeout
        return try await withThrowingTaskGroup(of: Credentials?.self) { group in
            group.addTask {
                do {
                    return try await body()
                } catch {
                    throw APIError(error, isSafeToRepeat: true, context: "session_refresh")
                }
            }
            group.addTask {
                try await clock.sleep(until: deadline)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let credentials = first else {
                throw APIError(kind: .timeout, code: .timeout, retry: .withBackoff, recovery: .retry, context: "session_refresh")
            }
            return credentials
        }
    }
}

extension APIError {
    /// Nobody is signed in.
    static var signedOut: APIError {
        APIError(kind: .unauthorized, code: .authTokenMissing, retry: .afterSignIn, recovery: .signIn, attempts: 0)
    }

    /// Whether a server refused the credentials, rather than being unable to look at them.
    fileprivate var isRefusalOfCredentials: Bool {
        guard let status else { return false }
        return [400, 401, 403].contains(status) && kind != .notAPI
    }
}
