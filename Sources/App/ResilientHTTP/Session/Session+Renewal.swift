import ErrorContract
import Logging
import RateLimiting
import StrictJSON
import Synchronization
import Timekeeping

/// The two ways in which the client can renew the session after a 401.
enum Renewal: Hashable {
    /// Refresh the session. If a refresh is impossible, prompt the user to sign in.
    case refresh
    /// Prompt the user to sign in.
    case signIn
}

extension Session {
    /// Returns credentials that are newer than the refused credentials.
    ///
    /// All callers share one renewal. The method starts again if the session changed during the renewal. It also starts again after the
    /// pause that follows a temporary failure.
    /// - Parameters:
    ///   - stale: The credentials that were refused; `nil` if the request had no token.
    ///   - way: The renewal that the refusal requires: a refresh or a sign-in.
    ///   - deadline: The instant until which the method repeats a refresh that failed for a temporary reason; `nil` for one attempt.
    ///   - mayPrompt: Whether the method is allowed to prompt the user to sign in.
    /// - Returns: The credentials, and whether another caller started the renewal. `nil` if too many renewals succeeded recently, because
    ///   another renewal would not help.
    /// - Throws: `APIError`. If the server's refusal ended the session, the error is this refusal. If there are no credentials, or if
    ///   another session has begun, the error has the kind `unauthorized`. If the refresh failed for a temporary reason, the error is this
    ///   failure.
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
                // If another user signed in during the renewal, this caller must not use the new credentials. The loop then decides again.
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
                    // The caller that started this renewal must not prompt the user. A caller that is allowed to prompt starts another
                    // renewal.
                    guard mayPrompt else { throw refusal ?? .signedOut }
                case .paused(let error, let instant):
                    // The caller doesn't begin a wait that would end after the deadline.
                    guard let deadline, instant < deadline, error.isRetryable, error.kind != .noInternet else { throw error }
                    try await environment.clock.sleep(until: instant)
                }
            }
        }
    }

    /// Continues a session with credentials that the server issued for it, such as after a change of the password. Calls of the session
    /// then use the new tokens.
    ///
    /// If the user has signed out since the request, or if another session has begun, the method revokes the new credentials instead. So a
    /// late response never signs a user in.
    /// - Parameters:
    ///   - known: The credentials of the session before the request.
    ///   - fresh: The new credentials. If they have no refresh token or no user, the session preserves its present value.
    /// - Throws: The store's error. The session still uses the new credentials until the process ends.
    package func continueSession(of known: Credentials, with fresh: Credentials) async throws {
        let generation = state.withLock { state -> UInt64? in
            guard let present = state.credentials, state.mayContinue(known.sessionID) else { return nil }
            return state.replace(with: fresh.continuing(present))
        }
        guard let generation else { return discard(fresh) }
        await noteChange()
        try await persist(generation)
    }

    /// Renews the session for all waiting callers. With `refresh`, the method refreshes the session. With `signIn`, or if a refresh is
    /// impossible, the method prompts the user to sign in.
    /// - Throws: ``SessionFailure`` or the error of the refresh.
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
            // The user may have signed in at another place in the app while the prompt was shown.
            throw state.withLock(\.held) == nil ? SessionFailure.ended(refusal) : SessionFailure.superseded
        }
        await persistQuietly(state.withLock { $0.continue(ended, with: signedIn.identified()) })
        await noteChange()
        let held = state.withLock { $0.mayContinue(ended?.sessionID) ? $0.held : nil }
        guard let held else { throw SessionFailure.superseded }
        return held
    }

    /// The result of a refresh.
    private enum Refreshed {
        case renewed(SessionState.Held)
        /// Another process signed the user out.
        case ended
        /// The session changed while the refresh was in flight.
        case superseded
        /// The session with this generation can't be refreshed. The error is the server's refusal; `nil` if the server did not refuse.
        case impossible(UInt64, APIError?)
    }

    /// Refreshes the session once. A store with a lock ensures that no other process refreshes the session at the same time.
    ///
    /// First, the method writes the present credentials to the store if the store doesn't contain them yet. The next steps run under the
    /// lock of the store. The method compares the stored credentials with the credentials of this process. If they differ, another process
    /// has refreshed the session, signed a user in or signed the user out. In this case, the method uses the stored credentials. Otherwise,
    /// the method calls the server and stores the new credentials.
    private func refreshed() async throws -> Refreshed {
        // The comparison below requires that the store contains the credentials of this process.
        let isPersisted = await persistQuietly(state.withLock(\.generation))
        let known = state.withLock(\.generation)
        do {
            return try await store.exclusively { [self] in
                let (before, generation, isStored) = state.withLock { ($0.credentials, $0.generation, $0.isStored) }
                // The session changed after the write. Therefore, different credentials in the store don't prove that another process has
                // changed them.
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
                    // Another process refreshed with the same token before this process.
                    return await adopt(found, basedOn: generation)
                }
            }
        } catch {
            throw paused(by: APIError(error, isSafeToRepeat: true, context: "session_refresh"), basedOn: known)
        }
    }

    /// Uses the credentials that another process has stored. If they belong to another session, the method reports the end of the present
    /// session to the observers.
    /// - Parameters:
    ///   - found: The stored credentials; `nil` if another process has signed the user out.
    ///   - generation: The generation of the credentials that were compared with the store. If the session has changed since, the method
    ///     does nothing.
    /// - Returns: The result for the callers that wait for the refresh.
    private func adopt(_ found: Credentials?, basedOn generation: UInt64) async -> Refreshed {
        let (adopted, before, after) = state.withLock { state -> (Refreshed, String?, String?) in
            guard state.generation == generation else { return (.superseded, nil, nil) }
            let session = state.held?.sessionID
            let adopted = state.replace(with: found?.identified())
            state.endWrite(of: adopted)
            guard let held = state.held else { return (.ended, session, nil) }
            // Another user signed in. The waiting calls belong to the earlier session.
            return (held.sessionID == session ? .renewed(held) : .superseded, session, held.sessionID)
        }
        await noteEnd(of: before, unless: after)
        if before != after { await noteChange() }
        return adopted
    }

    /// Stores the credentials of a refresh. If this process or another process ended or replaced the session meanwhile, the method revokes
    /// the new credentials instead. If another process refreshed the same session, the method uses the stored credentials, and revokes
    /// nothing.
    ///
    /// If the store fails, the session still uses the new credentials until the process ends, so that the user stays signed in.
    /// - Parameters:
    ///   - fresh: The credentials that the refresh returned.
    ///   - before: The credentials that were refreshed.
    ///   - generation: The generation of `before`.
    ///   - isStored: Whether the store contained `before` when the refresh began.
    /// - Returns: The result for the callers that wait for the refresh.
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
            environment.logger?.warning("Session not stored", metadata: ["error.type": "\(type(of: error))"])
            return .renewed(held)
        }
        let found: Credentials?
        do {
            found = try await store.load()
        } catch {
            // The other process may have signed the user out. A later write of this process must not restore a valid session.
            discard(fresh)
            throw error
        }
        // If another process refreshed the same session first, the server accepts both refreshes. The revocation of one would end the
        // session, and so the tokens of the other process.
        if found?.identified().sessionID != held.sessionID { discard(fresh) }
        return await adopt(found, basedOn: held.generation)
    }

    /// Ends the session, unless its credentials have changed since the given generation. If another process has stored other credentials in
    /// the meantime, the store keeps them.
    /// - Returns: Whether the session was ended.
    private func end(basedOn generation: UInt64) async throws -> Bool {
        let (before, isStored, ended) = state.withLock { ($0.credentials, $0.isStored, $0.end(basedOn: generation)) }
        guard let ended else { return false }
        await noteEnd(of: before?.sessionID, unless: nil)
        guard isStored else {
            await persistQuietly(ended)
            return true
        }
        try? await writes.run { [self] () async throws in
            _ = try await store.save(nil, replacing: before)
            state.withLock { $0.endWrite(of: ended) }
        }
        return true
    }

    /// Writes the present credentials to the store. If the write fails, logs the failure instead of throwing.
    /// - Returns: Whether the write succeeded.
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

    /// Records a temporary failure, and computes when the next attempt may begin. If the server requested a delay, the method extends the
    /// delay by a random part of up to a tenth. Otherwise, the next attempt begins after 50 % to 100 % of the delay that
    /// ``Session/Timing/backoff`` determines.
    /// - Parameters:
    ///   - error: The temporary failure.
    ///   - known: The generation of the credentials when the refresh began. If the session has changed since, the method doesn't record the
    ///     failure.
    /// - Returns: The failure for all callers that share this renewal.
    private func paused(by error: APIError, basedOn known: UInt64) -> SessionFailure {
        var error = error
        if error.kind == .unknownOutcome {
            // The server accepts a used refresh token again for a short time, so a refresh with a lost response can be repeated.
            let transport = error.underlying as? TransportError
            error =
                transport.map { APIError($0, isSafeToRepeat: true, context: error.context) }
                ?? APIError(.network, context: error.context)
        }
        error.isRefreshFailure = true
        let (now, chance) = (environment.clock.now, environment.chance())
        let pause: Duration
        if let named = error.retryAfter, named > .zero {
            // If the delay exceeds `longestWait`, the calls fail at once. If the body of the response doesn't confirm the delay, the next
            // refresh may begin after `longestWait`.
            if named > timing.longestWait { error.retry = .never }
            let believed = error.isRetryAfterConfirmed ? named : min(named, timing.longestWait)
            pause = believed + believed * (0.1 * chance)
        } else {
            pause = timing.backoff.ceiling(beforeRetry: state.withLock(\.failures)) * (0.5 + 0.5 * chance)
        }
        let instant = now + pause
        let failure = error
        // Only attempts that reached the server count as failures. An attempt that the client itself refused doesn't count.
        state.withLock { $0.noteFailure(failure, basedOn: known, isAttempt: failure.reachedServer, until: instant) }
        return .paused(failure, until: instant)
    }

    /// Runs one attempt to refresh with a timeout. The timeout is ``Timing/attemptTimeout``. After three failures in a row, the timeout is
    /// three times as long.
    /// - Parameter body: Exchanges the refresh token for new credentials.
    /// - Throws: `APIError` of the kind `timeout` at the timeout. Otherwise, the error of the closure as an `APIError`.
    private func limited(_ body: @escaping @Sendable () async throws -> Credentials) async throws -> Credentials {
        let clock = environment.clock
        let isSlow = state.withLock(\.failures) >= 3
        let deadline = clock.now + timing.attemptTimeout * (isSlow ? 3 : 1)
        let credentials = try await clock.run(until: deadline) {
            do {
                return try await body()
            } catch {
                var error = APIError(error, isSafeToRepeat: true, context: "session_refresh")
                // The body contains the refresh token, which is a credential.
                error.sentCredentials = true
                throw error
            }
        }
        guard let credentials else { throw APIError(.timeout, context: "session_refresh") }
        return credentials
    }
}

extension APIError {
    /// The error of a call that requires a signed-in user, if no user is signed in.
    static var signedOut: APIError {
        APIError(kind: .unauthorized, code: .authTokenMissing, retry: .afterSignIn, recovery: .signIn, attempts: 0)
    }

    /// Whether the server refused the credentials. If the server could not check the credentials, it did not refuse them.
    ///
    /// A 400 or 403 counts as a refusal only if its body has the format of the API, because proxies and rate limits also use these
    /// statuses. A refusal of another credential, such as an API key, doesn't affect the session.
    fileprivate var isRefusalOfCredentials: Bool {
        guard let status, [400, 401, 403].contains(status), kind != .notAPI, retryAfter == nil else { return false }
        let isOtherCredential = code.rawValue.hasPrefix("API_KEY_") || code.rawValue.hasPrefix("SOCIAL_")
        let isExplained = ![.badRequest, .forbidden].contains(code) || message != nil || !details.isEmpty
        return !isOtherCredential && (status == 401 || isExplained)
    }
}

extension Credentials? {
    /// Returns whether both values contain the same tokens, or whether both are `nil`. The method doesn't compare the expiry and the
    /// identifiers.
    func hasTokens(of other: Credentials?) -> Bool {
        self?.accessToken == other?.accessToken && self?.refreshToken == other?.refreshToken
    }
}

extension Credentials {
    /// Returns the credentials of a refresh with the session identifier of the earlier credentials. If the refresh returned no refresh
    /// token or no user, the method adds the earlier value.
    fileprivate func continuing(_ before: Credentials?) -> Credentials {
        var credentials = identified(as: before?.sessionID)
        credentials.refreshToken = refreshToken ?? before?.refreshToken
        credentials.userID = userID ?? before?.userID
        return credentials
    }
}
