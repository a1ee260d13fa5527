public import Foundation
import RateLimiting
import Synchronization

/// Keys in the memory of one process: forgotten with it.
public final class MemoryIdempotencyStore: IdempotencyStore {
    private let bounds: IdempotencyBounds
    private let table = Mutex(IdempotencyTable())

    /// Creates an empty store.
    public init(bounds: IdempotencyBounds = IdempotencyBounds()) {
        self.bounds = bounds
    }

    public func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) -> ClaimOutcome {
        table.withLock { table in
            if let entry = table[claim.key], entry.endsAt > now {
                guard entry.fingerprint == claim.fingerprint else { return .otherRequest }
                guard case .finished(let answer) = entry.state else {
                    return .running(.seconds(entry.endsAt.timeIntervalSince(now)))
                }
                return .finished(answer)
            }
            table.remove(claim.key)
            if table.count(of: claim.client) >= bounds.keysPerClient {
                guard table.removeOldest(of: claim.client, at: now) else { return .full }
            } else if table.count >= bounds.keys {
                guard let fullest = table.fullestClient, table.removeOldest(of: fullest, at: now) else { return .full }
            }
            table.add(claim, until: now.addingTimeInterval(lease / .seconds(1)))
            return .claimed
        }
    }

    @discardableResult
    public func finish(_ claim: IdempotencyClaim, with answer: KeptAnswer?, until expiry: Date) -> Bool {
        table.withLock { table in
            guard table.isRunning(claim) else { return false }
            table.finish(claim.key, with: answer, until: expiry)
            return true
        }
    }

    public func release(_ claim: IdempotencyClaim) {
        table.withLock { if $0.isRunning(claim) { $0.remove(claim.key) } }
    }

    public func sweep(at now: Date) -> Bool {
        table.withLock { $0.removeExpired(at: now) }
        return false
    }

    public func count() -> Int { table.withLock(\.count) }
}
