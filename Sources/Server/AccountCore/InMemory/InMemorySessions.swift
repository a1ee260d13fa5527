import Foundation

/// A session and its refresh tokens.
struct InMemorySession: Sendable {
    /// The state of a refresh token: the token that this token replaced, and the time of the first use of this token.
    struct Token: Sendable {
        var parent: TokenDigest?
        var usedAt: Date?
    }

    let session: StoredSession
    var refreshedAt: Date
    var tokens: [TokenDigest: Token]
}

/// A store of sessions in memory.
struct InMemorySessions: SessionStore {
    let stores: InMemoryAccountStores

    func open(_ session: StoredSession, refresh: TokenDigest, epoch: Int) async throws -> Bool {
        try await stores.perform("sessions.open") { state in
            guard let account = state.accounts[session.accountID], account.epoch == epoch, account.isUsable else {
                return false
            }
            guard state.sessions[session.id] == nil, state.refreshTokens[refresh] == nil else {
                throw StoreFailure(isBusy: false, message: "the id or the token of a session is taken")
            }
            state.sessions[session.id] = InMemorySession(
                session: session,
                refreshedAt: session.createdAt,
                tokens: [refresh: .init()]
            )
            state.refreshTokens[refresh] = session.id
            return true
        }
    }

    func rotate(
        _ presented: TokenDigest,
        to next: TokenDigest,
        at now: Date,
        rules: SessionRules
    ) async throws -> RotationOutcome {
        try await stores.perform("sessions.rotate") { state in
            guard let id = state.refreshTokens[presented], var found = state.sessions[id],
                let token = found.tokens[presented]
            else { return .refused }
            guard now.timeIntervalSince(found.refreshedAt) <= rules.idleLimit / .seconds(1),
                now.timeIntervalSince(found.session.createdAt) <= rules.absoluteLimit / .seconds(1)
            else {
                state.endSession(id)
                return .expired
            }
            if let usedAt = token.usedAt {
                let isRepeat = now.timeIntervalSince(usedAt) <= rules.repeatWindow / .seconds(1)
                let hasUsedSuccessor = found.tokens.values.contains { $0.parent == presented && $0.usedAt != nil }
                guard isRepeat, !hasUsedSuccessor else {
                    state.endSession(id)
                    return .reused(found.session)
                }
            } else {
                found.use(presented, parent: token.parent, at: now, rules)
            }
            found.tokens[next] = .init(parent: presented)
            found.refreshedAt = now
            state.sessions[id] = found
            state.refreshTokens[next] = id
            return .rotated(found.session)
        }
    }

    func end(refresh: TokenDigest) async throws {
        try await stores.perform("sessions.end") { state in
            if let id = state.refreshTokens[refresh] { state.endSession(id) }
        }
    }

    func sessions(of account: Account.ID, limit: Int) async throws -> [SessionUse] {
        try await stores.perform("sessions.sessions") { state in
            let uses = state.sessions.values.filter { $0.session.accountID == account }
                .map { SessionUse(session: $0.session, lastUsedAt: $0.refreshedAt) }
                .sorted { ($0.lastUsedAt, $0.session.id.description) > ($1.lastUsedAt, $1.session.id.description) }
            return Array(uses.prefix(limit))
        }
    }

    func end(_ id: StoredSession.ID, of account: Account.ID) async throws -> Bool {
        try await stores.perform("sessions.endSession") { state in
            guard state.sessions[id]?.session.accountID == account else { return false }
            state.endSession(id)
            return true
        }
    }

    func endAll(of account: Account.ID, except id: StoredSession.ID) async throws {
        try await stores.perform("sessions.endAll") { $0.endSessions(of: account, except: id) }
    }

    func isAlive(_ id: StoredSession.ID) async throws -> Bool {
        try await stores.perform("sessions.isAlive") { $0.sessions[id] != nil }
    }

    func sweep(at now: Date, rules: SessionRules) async throws -> Bool {
        try await stores.perform("sessions.sweep") { state in
            let idle = now.addingTimeInterval(-(rules.idleLimit / .seconds(1)))
            for (id, found) in state.sessions {
                // Idle sessions are stored for a week after they have expired. If their clients refresh during this week, they receive
                // `AUTH_SESSION_EXPIRED`.
                if found.refreshedAt < idle.addingTimeInterval(-7 * 86_400) {
                    state.endSession(id)
                    continue
                }
                for (digest, token) in found.tokens where token.usedAt.map({ $0 < idle }) ?? false {
                    state.sessions[id]?.tokens[digest] = nil
                    state.refreshTokens[digest] = nil
                }
            }
            return false
        }
    }
}

extension InMemorySession {
    /// Marks a token and its siblings as used. Siblings are tokens that replaced the same parent. The client uses only one sibling, so the
    /// others must become unusable.
    fileprivate mutating func use(_ digest: TokenDigest, parent: TokenDigest?, at now: Date, _ rules: SessionRules) {
        tokens[digest]?.usedAt = now
        guard let parent else { return }
        // The store accepts a used token again within the repeat window after its first use. The time of use that each sibling gets here is
        // before this window, so the store doesn't accept the sibling.
        let killed = now.addingTimeInterval(-(rules.repeatWindow / .seconds(1)) - 1)
        for (sibling, token) in tokens where token.parent == parent && sibling != digest { tokens[sibling]?.usedAt = killed }
    }
}
