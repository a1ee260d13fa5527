import ErrorContract
import Logging
import RateLimiting
import StrictJSON
import Synchronization
import Timekeeping

/// The renewal that a 401 asks for.
enum Renewal: Hashable {
    /// Refresh; if that is impossible, ask the user to sign in.
    case refresh
    /// Ask the user to sign in.
    case signIn
}

extension Session {
    /// Returns credentials newer than those that were refused.
    /// - Parameters:
    ///   - stale: The credentials that were refused; `nil` if the request carried none.
    ///   - way: The renewal that the refusal requires.
    ///   - deadline: The time until which a refresh that fails for a temporary reason is repeated; `nil` for one attempt.
    ///   - mayPrompt: Whether the user may be asked to sign in.
    /// - Returns: `nil` if so many renewals succeeded lately that one more would not help.
    /// - Throws: ``APIError``: `unauthorized` if the session has no newer credentials; the error of the refresh if it failed for a
    ///   temporary reason.
    func renewed(
        after stale: SessionState.Held?,
        by way: Renewal,
        until deadline: Duration?,
        mayPrompt: Bool = true
    ) async throws -> (held: SessionState.Held, isShared: Bool)? {
        while true {
            do {
                let (held, isShared) = try await renewal.run(
                    unless: { [self] in state.withLock { $0.entrance(after: stale, at: environment.clock.now) } },
                    { [self] in try await renew(by: way, mayPrompt: mayPrompt) }
                )
                // A flight that began for an earlier session may end after another sign-in.
                guard let stale, !mayContinue(stale.sessionID, as: held.sessionID) else { return (held, isShared) }
                continue
            } catch let failure as SessionFailure {
                switch failure {
                case .ended(let refusal): throw refusal ?? .signedOut
                case .replaced:
                    var error = APIError.signedOut
                    error.recovery = .dismiss
                    throw error
                case .superseded: continue
                case .excessive: return nil
                case .promptNeeded(let refusal):
                    // The flight was another caller's that may not prompt.
                    guard mayPrompt else { throw refusal ?? .signedOut }
                case .paused(let error, let instant):
                    // A wait that would end after the deadline is not begun.
                    guard let deadline, instant < deadline, error.isRetryable, error.kind != .noInternet else { throw error }
                    try await environment.clock.sleep(until: instant)
                }
            }
        }
    }

    private func renew(by way: Renewal, mayPrompt: Bool) async throws -> SessionState.Held {
        var generation = state.withLock(\.generation)
        var refusal: APIError?
        if way == .refresh {
            switch try await refreshed() {
            case .renewed(let held): return held
            case .ended: throw SessionFailure.ended(nil)
            case .superseded: throw SessionFailure.superseded
            case .impossible(let basis, let error): (generation, refusal) = (basis, error)
            }
        }
        guard mayPrompt else { throw SessionFailure.promptNeeded(refusal) }
        let ended = state.withLock(\.held)
        guard try await end(basedOn: generation) else { throw SessionFailure.superseded }
        guard let signedIn = await prompt?() else {
            // The user may have signed in elsewhere in the app while the prompt was shown.
            throw state.withLock(\.held) == nil ? SessionFailure.ended(refusal) : SessionFailure.superseded
        }
        await persistQuietly(state.withLock { $0.continue(ended, with: signedIn.identified()) })
        await noteChange()
        let held = state.withLock { $0.mayContinue(ended?.sessionID) ? $0.held : nil }
        guard let held else { throw SessionFailure.superseded }
        return held
    }

    private enum Refreshed {
        case renewed(SessionState.Held)
        /// Another process signed the user out.
        case ended
        /// The session changed while the refresh was in flight.
        case superseded
        /// The session of a generation can't be refreshed; the server's refusal, if it was asked.
        case impossible(UInt64, APIError?)
    }

    /// Refreshes once, while no other process does.
    private func refreshed() async throws -> Refreshed {
        // Compared with below: what the store holds must be what this process holds.
        let isPersisted = await persistQuietly(state.withLock(\.generation))
        let known = state.withLock(\.generation)
        do {
            return try await store.exclusively { [self] in
                let (before, generation, isStored) = state.withLock { ($0.credentials, $0.generation, $0.isStored) }
                // Changed since it was written: what the store holds says nothing about another process.
                if !isStored, isPersisted { return .superseded }
                if isStored {
                    let found = try await store.load()
                    if !found.hasTokens(of: before) { return await adopt(found, basedOn: generation) }
                }
                guard let token = before?.refreshToken else { return .impossible(generation, nil) }
                do {
                    let fresh = try await limited { [self] in try await refresh(token) }.continuing(before)
                    return try await keep(fresh, replacing: before, basedOn: generation, isStored: isStored)
                } catch let error as APIError where error.isRefusalOfCredentials {
                    environment.logger?.debug("Session refresh refused", metadata: ["code": "\(error.code)"])
                    let found = isStored ? try await store.load() : before
                    guard !found.hasTokens(of: before) else { return .impossible(generation, error) }
                    // Another process refreshed with the same token, and was first.
                    return await adopt(found, basedOn: generation)
                }
            }
        } catch {
            throw paused(by: APIError(error, isSafeToRepeat: true, context: "session_refresh"), basedOn: known)
        }
    }

    /// Takes what another process has stored.
    private func adopt(_ found: Credentials?, basedOn generation: UInt64) async -> Refreshed {
        let (adopted, before, after) = state.withLock { state -> (Refreshed, String?, String?) in
            guard state.generation == generation else { return (.superseded, nil, nil) }
            let session = state.held?.sessionID
            let adopted = state.replace(with: found?.identified())
            state.endWrite(of: adopted)
            guard let held = state.held else { return (.ended, session, nil) }
            // Another sign-in: the calls that wait belong to the earlier one.
            return (held.sessionID == session ? .renewed(held) : .superseded, session, held.sessionID)
        }
        await noteEnd(of: before, unless: after)
        if before != after { await noteChange() }
        return adopted
    }

    /// Keeps the credentials of a refresh unless the session changed meanwhile, in this process or in another one. They are revoked then.
    private func keep(
        _ fresh: Credentials,
        replacing before: Credentials?,
        basedOn generation: UInt64,
        isStored: Bool
    ) async throws -> Refreshed {
        guard let held = state.withLock({ $0.renew(fresh, basedOn: generation, at: environment.clock.now) }) else {
            discard(fresh)
            return .superseded
        }
        do {
            guard isStored else {
                try await persist(held.generation)
                return .renewed(held)
            }
            let isWritten = try await writes.run { [self] () async throws -> Bool in
                guard try await store.save(fresh, replacing: before) else { return false }
                state.withLock { $0.endWrite(of: held.generation) }
                return true
            }
            if isWritten { return .renewed(held) }
        } catch {
            // The session works until the app ends; losing it now would help no user.
            environment.logger?.warning("Session not stored", metadata: ["error.type": "\(type(of: error))"])
            return .renewed(held)
        }
        discard(fresh)
        return await adopt(try await store.load(), basedOn: held.generation)
    }

    private func end(basedOn generation: UInt64) async throws -> Bool {
        let (before, isStored, ended) = state.withLock { ($0.credentials, $0.isStored, $0.end(basedOn: generation)) }
        guard let ended else { return false }
        await noteEnd(of: before?.sessionID, unless: nil)
        guard isStored else {
            await persistQuietly(ended)
            return true
        }
        // Credentials that another process stored meanwhile stay.
        try? await writes.run { [self] () async throws in
            _ = try await store.save(nil, replacing: before)
            state.withLock { $0.endWrite(of: ended) }
        }
        return true
    }

    /// - Returns: Whether the store took it.
    @discardableResult
    private func persistQuietly(_ generation: UInt64) async -> Bool {
        do {
            try await persist(generation)
            return true
        } catch {
            environment.logger?.warning("Session not stored", metadata: ["error.type": "\(type(of: error))"])
            return false
        }
    }

    /// Notes a passing failure, and when the next attempt may begin.
    private func paused(by error: APIError, basedOn known: UInt64) -> SessionFailure {
        var error = error
        if error.kind == .unknownOutcome {
            // The server accepts the refresh token once more for a while, so that a lost response can be asked for again.
            let transport = error.underlying as? TransportError
            error =
                transport.map { APIError($0, isSafeToRepeat: true, context: error.context) }
                ?? APIError(.network, context: error.context)
        }
        error.isRefreshFailure = true
        let (now, chance) = (environment.clock.now, environment.chance())
        let pause: Duration
        if let named = error.retryAfter, named > .zero {
            // A longer delay fails the calls at once, but without a body that confirms it the next ones may try again.
            if named > timing.longestWait { error.retry = .never }
            let believed = error.isRetryAfterConfirmed ? named : min(named, timing.longestWait)
            pause = believed + believed * (0.1 * chance)
        } else {
            pause = timing.backoff.ceiling(beforeRetry: state.withLock(\.failures)) * (0.5 + 0.5 * chance)
        }
        let instant = now + pause
        let failure = error
        // Only what reached the server counts, not what the client itself held back.
        state.withLock { $0.noteFailure(failure, basedOn: known, isAttempt: failure.reachedServer, until: instant) }
        return .paused(failure, until: instant)
    }

    /// Runs one attempt for as long as it may take.
    private func limited(_ body: @escaping @Sendable () async throws -> Credentials) async throws -> Credentials {
        let clock = environment.clock
        let isSlow = state.withLock(\.failures) >= 3
        let deadline = clock.now + timing.attemptTimeout * (isSlow ? 3 : 1)
        let credentials = try await clock.run(until: deadline) {
            do {
                return try await body()
            } catch {
                var error = APIError(error, isSafeToRepeat: true, context: "session_refresh")
                // The refresh token in the body.
                error.sentCredentials = true
                throw error
            }
        }
        guard let credentials else { throw APIError(.timeout, context: "session_refresh") }
        return credentials
    }
}

extension APIError {
    /// No user is signed in.
    static var signedOut: APIError {
        APIError(kind: .unauthorized, code: .authTokenMissing, retry: .afterSignIn, recovery: .signIn, attempts: 0)
    }

    /// Whether a server refused the credentials, rather than being unable to check them.
    ///
    /// A 400 or 403 counts only if the API says so in its body: proxies and limits use these statuses as well. Another stale credential,
    /// such as an API key, says nothing about the session.
    fileprivate var isRefusalOfCredentials: Bool {
        guard let status, [400, 401, 403].contains(status), kind != .notAPI, retryAfter == nil else { return false }
        let isOtherCredential = code.rawValue.hasPrefix("API_KEY_") || code.rawValue.hasPrefix("SOCIAL_")
        let isExplained = ![.badRequest, .forbidden].contains(code) || message != nil || !details.isEmpty
        return !isOtherCredential && (status == 401 || isExplained)
    }
}

extension Credentials? {
    /// Whether both hold the same tokens, or both none. A store need not keep more than the tokens.
    func hasTokens(of other: Credentials?) -> Bool {
        self?.accessToken == other?.accessToken && self?.refreshToken == other?.refreshToken
    }
}

extension Credentials {
    /// The credentials of a refresh, with what its response left out.
    fileprivate func continuing(_ before: Credentials?) -> Credentials {
        var credentials = identified(as: before?.sessionID)
        credentials.refreshToken = refreshToken ?? before?.refreshToken
        credentials.userID = userID ?? before?.userID
        return credentials
    }
}
