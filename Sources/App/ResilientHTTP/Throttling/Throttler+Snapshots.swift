import Logging
import RateLimiting
import Synchronization
import Timekeeping

extension Throttler {
    /// Shows whether a user's counts have unsaved changes: the throttler must save the counts if `saved` is less than `changes`.
    struct SavedUser: Sendable {
        /// The number of changes so far.
        var changes: UInt64 = 0
        /// The number of changes that the last successful save includes.
        var saved: UInt64 = 0
        /// Whether the last save failed. If so, the throttler doesn't log the next failure.
        var isFailing = false
    }

    /// Returns a snapshot of a user's counts and limits. Use this method instead of a ``ThrottleStore`` if the app saves the snapshot with
    /// its other data. O(endpoints).
    /// - Parameter user: The user; `nil` for calls without a user.
    public func snapshot(user: String? = nil) -> ThrottleSnapshot {
        state.withLock { $0.table.snapshot(of: user, at: nanoseconds, time: snapshotTime()) }
    }

    /// Adds the calls of a snapshot to the calls that the throttler has counted for a user since the start of the process. O(endpoints).
    /// - Parameters:
    ///   - snapshot: The snapshot. The method ignores a snapshot of another version. Calls that are older than the window of a quota don't
    ///     count for this quota.
    ///   - user: The user; `nil` for calls without a user.
    public func restore(_ snapshot: ThrottleSnapshot, user: String? = nil) {
        guard snapshot.version == 1 else { return }
        let time = snapshotTime()
        state.withLock { state in
            let now = nanoseconds
            for entry in snapshot.entries {
                guard let endpoint = entry.endpoint else { continue }
                let key = state.table.admitKey(ThrottleKey(user: user, endpoint: endpoint), at: now)
                state.table.update(key) { $0.limit.restore(entry.limit, at: now, time: time) }
            }
        }
    }

    /// Removes the counts and the learned limits of an endpoint. Use this method in tests. Don't use it to retry a refused call, because
    /// the server still counts the earlier calls.
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - user: The user; `nil` for calls without a user.
    /// - Throws: `CancellationError` if the task is canceled while the change is saved.
    public func reset(_ endpoint: Endpoint, user: String? = nil) async throws {
        try await reset(user) { $0.endpoint == endpoint }
    }

    /// Removes the counts and the learned limits of a user. Use this method in tests, and after the user's account was deleted.
    /// - Parameter user: The user; `nil` for calls without a user.
    /// - Throws: `CancellationError` if the task is canceled while the change is saved.
    public func reset(user: String? = nil) async throws {
        state.withLock { $0.table.spent[user] = nil }
        try await reset(user) { _ in true }
    }

    /// Removes a user's counts for the endpoints that a closure selects. Resumes the calls that wait for these endpoints, and saves the
    /// remaining counts.
    private func reset(_ user: String?, where isMeant: (ThrottleKey) -> Bool) async throws {
        try await load(user: user)
        let woken = state.withLock { state in
            let now = nanoseconds
            return state.table.keys.filter { $0.user == user && isMeant($0) }.flatMap { key in
                state.table.update(key) { slot -> [WaiterLine<Int64>.Wake] in
                    slot.limit.reset()
                    return slot.wakeChanged(at: now)
                } ?? []
            }
        }
        for wake in woken { wake.resume() }
        changed(user)
        try await save(user)
    }
}

extension Throttler {
    /// Loads a user's saved counts once. The first call of the user loads the counts automatically. Call this method earlier if the app
    /// shows the counts before the first call. Concurrent calls share one load. If the counts can't be read, the throttler logs a warning,
    /// and treats the quota with the shortest window of each endpoint as used up.
    ///
    /// - Parameter user: The user; `nil` for calls without a user.
    /// - Throws: `CancellationError` if the task is canceled before the end.
    public func load(user: String? = nil) async throws {
        guard let store, state.withLock({ $0.saved[user] == nil }) else { return }
        try await loading.run {
            guard state.withLock({ $0.saved[user] == nil }) else { return }
            do {
                if let snapshot = try await store.load(user: user) {
                    guard snapshot.version == 1 else { throw UnknownVersion() }
                    restore(snapshot, user: user)
                }
            } catch let error as CancellationError {
                throw error
            } catch {
                logger.warning(
                    "Loading call counts failed; the shortest quotas count as used up",
                    metadata: ["error": "\(type(of: error))"]
                )
                state.withLock { $0.table.spent[user] = nanoseconds }
            }
            state.withLock { $0.saved[user] = SavedUser() }
        }
    }

    /// Records that a user's counts have changed and must be saved.
    func changed(_ user: String?) {
        guard store != nil else { return }
        state.withLock { $0.saved[user]?.changes += 1 }
    }

    /// Saves a user's counts. Does nothing if a successful save already includes the last change. If several saves fail in a row, the
    /// throttler logs only the first error.
    ///
    /// - Throws: `CancellationError` if the task is canceled before the end.
    func save(_ user: String?) async throws {
        guard let store, let mine = state.withLock({ $0.saved[user]?.changes }) else { return }
        try await saving.run {
            let due = state.withLock { state in state.saved[user].flatMap { $0.saved < mine ? $0.changes : nil } }
            guard let changes = due else { return }
            do {
                try await store.save(snapshot(user: user), user: user)
                state.withLock {
                    $0.saved[user]?.saved = changes
                    $0.saved[user]?.isFailing = false
                }
            } catch {
                let wasFailing = state.withLock { state in
                    defer { state.saved[user]?.isFailing = true }
                    return state.saved[user]?.isFailing ?? false
                }
                if !wasFailing { logger.warning("Saving call counts failed", metadata: ["error": "\(type(of: error))"]) }
            }
        }
    }

    /// Saves the count of an admitted call before the call is sent, so that the count survives a restart. If the task is canceled, the
    /// method withdraws the call, and the throttler no longer counts it.
    func saved(_ call: Call) async throws -> Call {
        do {
            try await save(call.key.user)
            return call
        } catch {
            finish(call, with: .withdrawn)
            throw error
        }
    }

    /// The error for a snapshot whose version is unknown.
    private struct UnknownVersion: Error {}
}
