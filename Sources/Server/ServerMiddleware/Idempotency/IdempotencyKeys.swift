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

/// The idempotency keys of a server: who may work on a request, and what a repeated one is answered with.
///
/// Added to an application as a service it removes what has expired, and settles claims that the store failed to settle.
public final class IdempotencyKeys: Sendable {
    private let store: any IdempotencyStore
    let secret: IdempotencySecret
    private let lifetime: Duration
    private let lease: Duration
    private let sweeping: PeriodicService
    private let now: @Sendable () -> Date
    private let metrics: IdempotencyMetrics
    /// What this process works on. A lease is for those who died; who is alive keeps the key however slow he is.
    private let running = Mutex<[RequestDigest: RequestDigest]>([:])
    /// Claims that could not be settled, to be settled when the store works again. When their leases end, their keys are free anyway.
    private let unsettled = Mutex<[Unsettled]>([])
    /// The largest number of them.
    private static let mostUnsettled = 10_000
    private let pause: @Sendable () async -> Void

    /// Creates the keys of a store.
    /// - Parameters:
    ///   - store: Where they are kept.
    ///   - secret: What they are hashed under; the same for all who share the store.
    ///   - lifetime: How long an answer is repeated.
    ///   - lease: How long a key stays taken after the process that worked on it has died. As long as a request takes at most:
    ///     whoever comes after it may do the work a second time.
    ///   - sweepInterval: The time between two removals of what has expired.
    ///   - clock: Measures that time.
    ///   - logger: Reports failures.
    ///   - metrics: Where the counter of `IdempotencyMetrics` goes; the process's own system if `nil`.
    ///   - now: The wall clock.
    /// - Precondition: The times are positive.
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

    /// Claims a key for a request.
    /// - Returns: The answer to repeat, or `nil` if the request is to be worked on; then ``settle(_:with:_:)`` must follow.
    /// - Throws: ``ContractError`` with `REQUEST_CONFLICT`, `REQUEST_KEY_REUSED`, `RATE_LIMIT_EXCEEDED` or `SERVER_SERVICE_UNAVAILABLE`.
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
            // A body that can't be decrypted, such as one that was stored before bodies were encrypted, counts as not stored.
            if case .finished(let stored?) = outcome, let answer = try? stored.opened(for: claim) {
                leave(claim)
                metrics.count(.replayed)
                return answer
            }
            try refuse(outcome)
            metrics.count(.executed)
            return nil
        } catch let error as ContractError {
            leave(claim)
            throw error
        } catch {
            leave(claim)
            // The store may have taken the claim before it failed.
            settleLater(claim, .released)
            metrics.count(.failed)
            logger.error("Idempotency keys can't be claimed", metadata: .failure(error))
            // To work without the key would break what was promised for it.
            throw ContractError(.serverServiceUnavailable, retryAfter: .seconds(1))
        }
    }

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
            // A repetition won't help: the request was done, and its response is not stored.
            throw ContractError(.requestConflict, details: RepeatedRequestState.finished.details)
        case .otherRequest:
            metrics.count(.reused)
            throw ContractError(.requestKeyReused)
        case .full(let wait):
            metrics.count(.full)
            // An hour at most: other clients' keys may expire before.
            throw ContractError.limited(wait: min(max(.seconds(1), wait), .seconds(3_600)))
        }
    }

    /// Ends the work on a claim: with an answer that is the last word the key is finished, else it is free again.
    /// - Parameter outcome: What to repeat; `nil` if nothing was answered that may be repeated.
    func settle(_ claim: IdempotencyClaim, with outcome: Outcome, _ logger: Logger) async {
        // A task of its own: the request's may be cancelled by now, its work is done nevertheless.
        let write = Task { try await self.write(outcome, of: claim) }
        let result = await write.result
        leave(claim)
        guard case .failure(let error) = result else { return }
        // The response is sent all the same; the key stays taken until the store works again, or its lease ends.
        settleLater(claim, outcome)
        metrics.count(.failed)
        logger.error("An idempotency key can't be settled", metadata: .failure(error))
    }

    /// The request of a claim, with which its handler can finish the key.
    func request(of claim: IdempotencyClaim) -> IdempotentRequest {
        IdempotentRequest(claim, lifetime: lifetime, database: store.database, now: now)
    }

    private func write(_ outcome: Outcome, of claim: IdempotencyClaim) async throws {
        switch outcome {
        case .released: try await store.release(claim)
        case .answered(let answer):
            let expiry = now().addingTimeInterval(lifetime / .seconds(1))
            try await store.finish(claim, with: try answer?.sealed(for: claim), until: expiry)
        }
    }

    private func settleLater(_ claim: IdempotencyClaim, _ outcome: Outcome) {
        let leaseEnd = now().addingTimeInterval(lease / .seconds(1))
        let rest = Unsettled(claim: claim, outcome: outcome, leaseEnd: leaseEnd)
        unsettled.withLock { if $0.count < Self.mostUnsettled { $0.append(rest) } }
    }

    /// Settles what could not be settled before, up to the first failure.
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
        if !failed.isEmpty { unsettled.withLock { $0 = failed + $0 } }
    }

    /// Ends the work on a claim in this process.
    func leave(_ claim: IdempotencyClaim) {
        running.withLock { $0[claim.key] = nil }
    }

    private struct Unsettled: Sendable {
        let claim: IdempotencyClaim
        let outcome: Outcome
        let leaseEnd: Date
    }

    /// How the work on a claim ended.
    enum Outcome: Sendable {
        /// With nothing that is final.
        case released
        /// With an answer; `nil` if it can't be kept.
        case answered(IdempotentResponse?)
    }
}

extension IdempotencyKeys: Service {
    /// Removes what has expired, and settles what the store failed to settle, until the group shuts down.
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
    /// The service group logs its services by their descriptions.
    public var description: String { "IdempotencyKeys" }
}

/// The counter of requests with an idempotency key: `idempotency_requests`, by `outcome`.
struct IdempotencyMetrics: Sendable {
    enum Outcome: String, CaseIterable {
        /// Worked on.
        case executed
        /// Answered from what was kept.
        case replayed
        /// Refused, since the first is still being worked on.
        case running
        /// Refused, since the key was used for another request.
        case reused
        /// Refused, since the answer was not kept.
        case notKept = "not_kept"
        /// Refused, since the client's keys have no room for another.
        case full
        /// The store failed.
        case failed
    }

    private let counters: [Outcome: Counter]

    init(factory: any MetricsFactory) {
        let pairs = Outcome.allCases.map { outcome in
            (outcome, Counter(label: "idempotency_requests", dimensions: [("outcome", outcome.rawValue)], factory: factory))
        }
        counters = Dictionary(uniqueKeysWithValues: pairs)
    }

    func count(_ outcome: Outcome) {
        counters[outcome]?.increment()
    }
}
