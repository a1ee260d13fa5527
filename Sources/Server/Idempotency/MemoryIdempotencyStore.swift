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
    public func finish(_ claim: IdempotencyClaim, with answer: IdempotentResponse?, until expiry: Date) -> Bool {
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

/// Keys by digest and by client. A value under its owner's lock.
struct IdempotencyTable {
    struct Entry {
        enum State {
            case running(id: UInt64)
            case finished(IdempotentResponse?)
        }

        let client: KeyDigest
        let fingerprint: RequestDigest
        var state: State
        var endsAt: Date
    }

    private var entries: [RequestDigest: Entry] = [:]
    /// The keys of each client, the oldest first.
    private var keys: [KeyDigest: [RequestDigest]] = [:]
    /// The clients by how many keys they have, so that the fullest is found without a search.
    private var clients: [Int: Set<KeyDigest>] = [:]
    private var largest = 0

    subscript(key: RequestDigest) -> Entry? { entries[key] }

    var count: Int { entries.count }

    func count(of client: KeyDigest) -> Int { keys[client]?.count ?? 0 }

    /// A client that has the most keys.
    var fullestClient: KeyDigest? { clients[largest]?.first }

    func isRunning(_ claim: IdempotencyClaim) -> Bool {
        if case .running(claim.id) = entries[claim.key]?.state { true } else { false }
    }

    mutating func add(_ claim: IdempotencyClaim, until end: Date) {
        entries[claim.key] = Entry(
            client: claim.client,
            fingerprint: claim.fingerprint,
            state: .running(id: claim.id),
            endsAt: end
        )
        let count = count(of: claim.client)
        keys[claim.client, default: []].append(claim.key)
        move(claim.client, from: count, to: count + 1)
    }

    mutating func finish(_ key: RequestDigest, with answer: IdempotentResponse?, until expiry: Date) {
        entries[key]?.state = .finished(answer)
        entries[key]?.endsAt = expiry
    }

    /// O(keys of the client).
    mutating func remove(_ key: RequestDigest) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        let count = count(of: entry.client)
        keys[entry.client]?.removeAll { $0 == key }
        if count == 1 { keys[entry.client] = nil }
        move(entry.client, from: count, to: count - 1)
    }

    /// Removes the oldest key of a client that is finished or past its end.
    /// - Returns: `false` if there is none.
    mutating func removeOldest(of client: KeyDigest, at now: Date) -> Bool {
        let oldest = keys[client]?.first { key in
            guard let entry = entries[key] else { return false }
            if case .finished = entry.state { return true }
            return entry.endsAt <= now
        }
        guard let oldest else { return false }
        remove(oldest)
        return true
    }

    /// O(all keys).
    mutating func removeExpired(at now: Date) {
        for key in entries.filter({ $0.value.endsAt <= now }).map(\.key) { remove(key) }
    }

    private mutating func move(_ client: KeyDigest, from old: Int, to new: Int) {
        clients[old]?.remove(client)
        if clients[old]?.isEmpty == true { clients[old] = nil }
        if new > 0 { clients[new, default: []].insert(client) }
        // A count changes by one, so the largest one does too.
        largest = max(largest, new)
        if clients[largest] == nil { largest -= 1 }
    }
}
