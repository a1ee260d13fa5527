public import CoreMetrics
import ErrorContract
public import Foundation
import Hummingbird
public import Idempotency
public import Logging
import Observability
import Scheduling
public import ServiceLifecycle
import StrictJSON
import Synchronization

/// Decides what the server does with a request that has an idempotency key: it executes the request, refuses it, or sends a stored
/// response.
///
/// Create one value per server, pass it to all routes, and add it to the application as a service:
///
/// ```swift
/// let keys = IdempotencyKeys(store: SQLiteIdempotencyStore(database), secret: secret)
/// router.group("/orders").idempotent(by: keys) { _, context in .account(context.account.id) }.post(use: order)
/// application.addServices(keys)
/// ```
/// The service removes expired keys every `sweepInterval`. Each second, the service also retries writes to the store that have failed, at
/// most 10,000 of them. These writes finish a key (store its response) or release it.
///
/// Before a process executes a request, it claims the key for a limited time, the lease. Without the service, no failed write is retried,
/// so its key stays claimed until the lease ends. Without the service, the store also removes expired keys only when a client has used its
/// share of the store's capacity.
///
/// If the store fails to claim a key, the server doesn't execute the request, and the client gets 503. If the store fails to finish a key,
/// the server still sends the response. A repetition then gets 409 until a retry of the write succeeds. If no retry succeeds before the
/// lease ends, the server executes a repetition.
///
/// After a crash of the process, a repetition gets 409 until the lease ends. Afterwards, the server executes a repetition. To prevent this
/// second execution, use ``Idempotency/IdempotentRequest/commit(_:)`` in the handler.
///
/// All members are thread-safe.
public final class IdempotencyKeys: Sendable {
    private let store: any IdempotencyStore
    let secret: IdempotencySecret
    private let lifetime: Duration
    private let lease: Duration
    private let sweeping: PeriodicService
    private let now: @Sendable () -> Date
    private let metrics: IdempotencyMetrics
    /// The fingerprints of the requests that this process is executing, by their keys.
    ///
    /// The process refuses repetitions of these requests, even after their leases have ended. The end of a lease only means that another
    /// process can claim the key. One process therefore never runs a slow route twice at the same time for one key.
    private let running = Mutex<[RequestDigest: RequestDigest]>([:])
    /// The claims that the store failed to finish or to release. `settleRest()` retries the failed writes until the leases of the claims
    /// end.
    private let unsettled = Mutex<[Unsettled]>([])
    /// The largest number of claims in `unsettled`, which limits the memory. The writes of further claims are not retried, so the keys of
    /// these claims stay claimed until the leases end.
    private static let mostUnsettled = 10_000
    private let pause: @Sendable () async -> Void

    /// Creates an object that stores its keys in a store.
    /// - Parameters:
    ///   - store: The store. The default is a `MemoryIdempotencyStore`, whose keys are lost when the process ends.
    ///   - secret: The secret with which keys and requests are hashed. All servers that share the store need the same secret, even after a
    ///     restart. The default is random.
    ///   - lifetime: The time for which the store keeps a finished key, so that the server can repeat its response; 24 hours by default.
    ///   - lease: The time from the claim of a key until another process may claim the key; 60 s by default. The lease must be longer than
    ///     the longest time of a route. Otherwise, another process can execute a repetition while the route is still running.
    ///   - sweepInterval: The time between two removals of expired keys; 5 minutes by default.
    ///   - clock: The clock for `sweepInterval` and for the retries of failed writes.
    ///   - logger: The logger for failures to remove expired keys. The logger of a request's context logs failures within the request.
    ///   - metrics: The factory of the counter `idempotency_requests`; the factory of `MetricsSystem` if `nil`.
    ///   - now: The clock for leases and expiries, such as `SteadyTime.now` of `SQLiteStores`; the wall clock by default. If the wall clock
    ///     is set back after a crash, repetitions of the interrupted requests get 409 for longer. The clocks of servers that share a store
    ///     must differ by much less than `lease`.
    /// - Precondition: `lifetime`, `lease` and `sweepInterval` are positive.
    public init<C: Clock>(
        store: any IdempotencyStore = MemoryIdempotencyStore(),
        secret: IdempotencySecret = IdempotencySecret(),
        lifetime: Duration = .seconds(86_400),
        lease: Duration = .seconds(60),
        sweepInterval: Duration = .seconds(300),
        clock: C = ContinuousClock(),
        logger: Logger = Logger(label: "holdfast.idempotency"),
        metrics: (any MetricsFactory)? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) where C.Duration == Duration {
        precondition(lifetime > .zero, "lifetime must be positive (is \(lifetime))")
        precondition(lease > .zero, "lease must be positive (is \(lease))")
        precondition(sweepInterval > .zero, "sweepInterval must be positive (is \(sweepInterval))")
        (self.store, self.secret, self.lifetime, self.lease, self.now) = (store, secret, lifetime, lease, now)
        sweeping = PeriodicService(every: sweepInterval, clock: clock) {
            while try await store.sweep(at: now()), !Task.isCancelled {}
        } failure: { error in
            logger.error("Sweep of idempotency keys failed", metadata: .failure(error))
        }
        pause = { await clock.pauseUntilShutdown(for: .seconds(1)) }
        self.metrics = IdempotencyMetrics(factory: metrics ?? MetricsSystem.factory)
    }

    /// Claims the key of a request.
    ///
    /// The method first checks the requests that this process is executing, and then the store. If the store fails, the method throws,
    /// because without a claim, the server could execute the request twice.
    /// - Parameters:
    ///   - claim: The claim of the request.
    ///   - logger: The logger for failures of the store.
    /// - Returns: The stored response to repeat; `nil` if the caller must execute the request. After the execution, the caller must call
    ///   ``settle(_:with:_:)`` or ``leave(_:)``.
    /// - Throws: ``ContractError`` with
    ///   - `REQUEST_CONFLICT`, with a retry delay if the first request is still running, or without a delay if its response was not stored;
    ///   - `REQUEST_KEY_REUSED` if the key was used for a request with another fingerprint;
    ///   - `RATE_LIMIT_EXCEEDED`, with a retry delay of 1 s to 1 h, if the client has used its share of the store;
    ///   - `SERVER_SERVICE_UNAVAILABLE` if the store fails, with a retry delay of 1 s.
    func begin(_ claim: IdempotencyClaim, _ logger: Logger) async throws -> IdempotentResponse? {
        let other = running.withLock { running -> RequestDigest? in
            if let other = running[claim.key] { return other }
            running[claim.key] = claim.fingerprint
            return nil
        }
        if let other {
            try refuse(other == claim.fingerprint ? .running(.seconds(1)) : .otherRequest)
        }
        do {
            let outcome = try await store.claim(claim, lease: lease, at: now())
            // If the server can't decrypt a body, the response counts as not stored. For example, an earlier version of the server has
            // stored the response without encryption.
            if case .finished(let stored?) = outcome, let response = try? stored.opened(for: claim) {
                leave(claim)
                metrics.count(.replayed)
                return response
            }
            try refuse(outcome)
            metrics.count(.executed)
            return nil
        } catch let error as ContractError {
            leave(claim)
            throw error
        } catch {
            leave(claim)
            // It is possible that the store claimed the key before it failed. `settleRest()` therefore releases the key later.
            settleLater(claim, .released)
            // The task is canceled at the request's deadline, which the client can choose, or if the client is gone. The metrics of
            // the responses count such requests.
            if !(error is CancellationError) {
                metrics.count(.failed)
                logger.error("Idempotency key claim failed", metadata: .failure(error))
            }
            // Without a claim, the server could execute the request twice.
            throw ContractError(.serverServiceUnavailable, retryAfter: .seconds(1))
        }
    }

    /// Throws the error for a request that can't claim its key, and counts the request in the metrics.
    private func refuse(_ outcome: ClaimOutcome) throws(ContractError) {
        switch outcome {
        case .claimed: return
        case .running(let rest):
            metrics.count(.running)
            throw ContractError(
                .requestConflict,
                details: RepeatedRequestState.running.details,
                retryAfter: max(.seconds(1), rest)
            )
        case .finished:
            metrics.count(.notKept)
            // The server has executed the request, but has not stored its response. There is no retry delay, because every repetition gets
            // the same error.
            throw ContractError(.requestConflict, details: RepeatedRequestState.finished.details)
        case .otherRequest:
            metrics.count(.reused)
            throw ContractError(.requestKeyReused)
        case .full(let wait):
            metrics.count(.full)
            // The delay is at most one hour, because the client's share can grow earlier, when keys of other clients expire.
            throw ContractError.limited(wait: min(max(.seconds(1), wait), .seconds(3_600)))
        }
    }

    /// Finishes or releases a key after its request was executed.
    ///
    /// The write runs in a new task, so it continues if the task of the request is canceled. If the write fails, the method logs the
    /// failure and returns. The service retries the write later.
    /// - Parameters:
    ///   - claim: The claim that has the key.
    ///   - outcome: Whether to release the key, or to finish it with a response.
    ///   - logger: The logger for failures of the store.
    func settle(_ claim: IdempotencyClaim, with outcome: Outcome, _ logger: Logger) async {
        // The route has done its work, so the write must continue if the task of the request is canceled.
        let write = Task { try await self.write(outcome, of: claim) }
        let result = await write.result
        leave(claim)
        guard case .failure(let error) = result else { return }
        // The server sends the response although the write failed. The key stays claimed until a retry succeeds or the lease ends.
        settleLater(claim, outcome)
        metrics.count(.failed)
        logger.error("Idempotency key settlement failed", metadata: .failure(error))
    }

    /// Returns an object with which a handler can finish the claim's key in its own transaction.
    func request(of claim: IdempotencyClaim) -> IdempotentRequest {
        IdempotentRequest(claim, lifetime: lifetime, database: store.database, now: now)
    }

    /// Writes an outcome to the store: releases the key, or finishes it with an encrypted response.
    private func write(_ outcome: Outcome, of claim: IdempotencyClaim) async throws {
        switch outcome {
        case .released: try await store.release(claim)
        case .finished(let response):
            let expiry = now().addingTimeInterval(lifetime / .seconds(1))
            try await store.finish(claim, with: try response?.sealed(for: claim), until: expiry)
        }
    }

    /// Adds a failed write to `unsettled` for a later retry. If `unsettled` is full, a write that finishes a key replaces the oldest
    /// release, because a lost release only delays a repetition, but after a lost finish, the server can execute the request twice. Other
    /// writes are dropped.
    private func settleLater(_ claim: IdempotencyClaim, _ outcome: Outcome) {
        let leaseEnd = now().addingTimeInterval(lease / .seconds(1))
        let rest = Unsettled(claim: claim, outcome: outcome, leaseEnd: leaseEnd)
        unsettled.withLock { unsettled in
            if unsettled.count >= Self.mostUnsettled {
                guard !rest.isRelease, let oldest = unsettled.firstIndex(where: \.isRelease) else { return }
                unsettled.remove(at: oldest)
            }
            unsettled.append(rest)
        }
    }

    /// Retries the failed writes, oldest first, and stops at the first failure. The method drops a write if the lease of its claim has
    /// ended.
    func settleRest() async {
        let now = now()
        var rest = unsettled.withLock { unsettled in
            defer { unsettled = [] }
            return unsettled.filter { $0.leaseEnd > now }[...]
        }
        while let next = rest.first {
            do { try await write(next.outcome, of: next.claim) } catch { break }
            rest.removeFirst()
        }
        let failed = Array(rest)
        // Further writes can have failed meanwhile.
        if !failed.isEmpty { unsettled.withLock { $0 = Self.bounded(failed + $0) } }
    }

    /// Returns at most `mostUnsettled` of the given writes. The method drops the oldest releases first, and then the newest other writes.
    private static func bounded(_ writes: [Unsettled]) -> [Unsettled] {
        var surplus = writes.count - mostUnsettled
        guard surplus > 0 else { return writes }
        var kept: [Unsettled] = []
        for write in writes {
            if surplus > 0, write.isRelease {
                surplus -= 1
            } else {
                kept.append(write)
            }
        }
        return Array(kept.prefix(mostUnsettled))
    }

    /// Records that this process no longer executes the request of a claim. Doesn't change the store.
    func leave(_ claim: IdempotencyClaim) {
        running.withLock { $0[claim.key] = nil }
    }

    /// A write to the store that has failed.
    private struct Unsettled: Sendable {
        let claim: IdempotencyClaim
        let outcome: Outcome
        /// The latest time at which the lease can end.
        let leaseEnd: Date

        /// Whether the write releases the key.
        var isRelease: Bool {
            if case .released = outcome { true } else { false }
        }
    }

    /// The way in which a request ended, which determines the write to the store.
    enum Outcome: Sendable {
        /// The request failed, or its response is not final. The server executes a repetition.
        case released
        /// The response is final. The associated value is the response to store; `nil` if the response can't be stored. Without a stored
        /// response, the server refuses repetitions.
        case finished(IdempotentResponse?)
    }
}

extension IdempotencyKeys: Service {
    /// Removes expired keys and retries failed writes, until the service group shuts down gracefully or the task is canceled. The method
    /// logs the failures of the store and doesn't throw them.
    public func run() async throws {
        await withTaskGroup { tasks in
            tasks.addTask { await self.sweeping.run() }
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                await pause()
                await settleRest()
            }
        }
    }
}

extension IdempotencyKeys: CustomStringConvertible {
    /// A constant text, which service groups use in their log messages.
    public var description: String { "IdempotencyKeys" }
}

/// The counter `idempotency_requests` of requests with an idempotency key, with the dimension `outcome`.
struct IdempotencyMetrics: Sendable {
    /// The values of the dimension `outcome`.
    enum Outcome: String, CaseIterable {
        /// The server executed the request. If the store failed to finish the key, the request also counts as `failed`.
        case executed
        /// The server sent the stored response.
        case replayed
        /// The server refused the request with 409, because the first request is still running in this process or in another one.
        case running
        /// The server refused the request with 422, because the client has used the key for another request.
        case reused
        /// The server refused the request with 409. It has executed the first request, but has not stored the response.
        case notKept = "not_kept"
        /// The server refused the request with 429, because the client has used its share of the store.
        case full
        /// The store failed to claim, finish or release a key. Failed retries are not counted.
        case failed
    }

    /// A counter for each outcome, created in advance.
    private let counters: [Outcome: Counter]

    init(factory: any MetricsFactory) {
        counters = Counter.each("idempotency_requests", by: "outcome", factory: factory)
    }

    func count(_ outcome: Outcome) {
        counters[outcome]?.increment()
    }
}
