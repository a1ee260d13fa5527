public import Foundation
import RateLimiting
import Synchronization

/// A store of idempotency keys in the memory of one process.
///
/// Use this store in tests, and for a server that runs as one process and can lose its keys. After a restart, the server executes a
/// repeated request again. A database transaction can't finish a key of this store. For other servers, use `SQLiteIdempotencyStore` or
/// `PostgresIdempotencyStore`.
///
/// ```swift
/// let keys = IdempotencyKeys(store: MemoryIdempotencyStore(bounds: IdempotencyBounds(bytes: 16 << 20)))
/// ```
/// A claim usually takes constant time. If the client has used its share and a stored key has expired, the claim also removes all expired
/// keys, which takes O(number of keys). A lock protects the keys, and no method suspends or throws an error.
public final class MemoryIdempotencyStore: IdempotencyStore {
    private let bounds: IdempotencyBounds
    private let table = Mutex(IdempotencyTable())

    /// Creates an empty store.
    /// - Parameter bounds: The capacity; 64 MiB by default. With the default, an account may use 512 KiB while few clients use keys.
    public init(bounds: IdempotencyBounds = IdempotencyBounds(bytes: 64 << 20)) {
        self.bounds = bounds
    }

    /// Claims a key; see ``IdempotencyStore/claim(_:lease:at:)``.
    public func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) -> ClaimOutcome {
        table.withLock { table in
            if let entry = table[claim.key], entry.endsAt > now {
                guard entry.claim.fingerprint == claim.fingerprint else { return .otherRequest }
                guard case .finished(let response) = entry.state else {
                    return .running(.seconds(entry.endsAt.timeIntervalSince(now)))
                }
                return .finished(response)
            }
            table.remove(claim.key)
            if !bounds.admits(table.usage(of: claim)) {
                table.removeExpired(at: now)
                guard bounds.admits(table.usage(of: claim)) else { return .full(table.wait(of: claim, at: now)) }
            }
            table.add(claim, until: now.addingTimeInterval(lease / .seconds(1)))
            return .claimed
        }
    }

    /// Finishes a key; see ``IdempotencyStore/finish(_:with:until:)``.
    @discardableResult
    public func finish(_ claim: IdempotencyClaim, with response: IdempotentResponse?, until expiry: Date) -> Bool {
        table.withLock { table in
            guard table.isRunning(claim) else { return false }
            table.finish(claim.key, with: response, until: expiry)
            return true
        }
    }

    /// Frees a running key of the claim.
    public func release(_ claim: IdempotencyClaim) {
        table.withLock { if $0.isRunning(claim) { $0.remove(claim.key) } }
    }

    /// Removes all expired keys and keys whose lease has ended.
    /// - Returns: `false`, because one call removes all such keys.
    /// - Complexity: O(n) for n keys if a key has expired, otherwise O(1).
    public func sweep(at now: Date) -> Bool {
        table.withLock { $0.removeExpired(at: now) }
        return false
    }

    /// Returns the number of stored keys, including expired keys that are not yet removed.
    public func count() -> Int { table.withLock(\.count) }
}

/// The keys of a memory store, and the sums of their sizes. The store's lock protects the table.
///
/// Invariants: `pools`, `clients` and `networks` are the sums of the sizes in `entries`. `clients` and `networks` contain no zeros.
/// `firstEnd` is not later than the earliest `endsAt` of an entry. The `firstExpiry` of a client is not later than the earliest expiry of
/// its finished keys. After a key was removed, `firstEnd` and `firstExpiry` can be too early, until `removeExpired(at:)` computes them
/// again.
private struct IdempotencyTable {
    /// A stored key with its state and its size.
    struct Entry {
        /// The state of the key. A free key has no entry.
        enum State {
            /// A request has the key until the end of its lease.
            case running
            /// The request was executed. Its response is `nil` if it can't be stored.
            case finished(IdempotentResponse?)
        }

        /// The claim that has the key.
        let claim: IdempotencyClaim
        /// The state of the key.
        var state: State
        /// The end of the lease of a running key, or the expiry of a finished key.
        var endsAt: Date
        /// The number of bytes that the key uses of the capacity.
        var size: Int
    }

    /// The usage of one client.
    private struct Client {
        /// The bytes of the client's keys.
        var size = 0
        /// A time before which no finished key of the client expires.
        var firstExpiry = Date.distantFuture
    }

    /// The running and finished keys.
    private var entries: [RequestDigest: Entry] = [:]
    /// The usage of each client that has keys.
    private var clients: [KeyDigest: Client] = [:]
    /// The sum of the sizes of each network's keys, in bytes.
    private var networks: [KeyDigest: Int] = [:]
    /// The sum of the sizes of the keys in each half of the capacity, in bytes; see ``IdempotencyBounds``.
    private var pools: [IdempotencyPool: Int] = [:]
    /// A time before which no lease ends and no key expires.
    private var firstEnd = Date.distantFuture

    /// The entry of a key; `nil` if the key is free.
    subscript(key: RequestDigest) -> Entry? { entries[key] }

    /// The number of keys, including keys whose lease or expiry has ended and that are not removed yet.
    var count: Int { entries.count }

    /// Returns the sizes that decide whether the client may store a new key.
    func usage(of claim: IdempotencyClaim) -> IdempotencyUsage {
        IdempotencyUsage(
            owner: clients[claim.client]?.size ?? 0,
            network: claim.network.map { networks[$0] ?? 0 },
            pool: pools[claim.pool] ?? 0
        )
    }

    /// Returns the time until the first finished key of the client expires; 60 s if the client has no finished key.
    func wait(of claim: IdempotencyClaim, at now: Date) -> Duration {
        guard let expiry = clients[claim.client]?.firstExpiry, expiry > now, expiry < .distantFuture else { return .seconds(60) }
        return .seconds(expiry.timeIntervalSince(now))
    }

    /// Returns whether this claim has the key and has not finished it.
    func isRunning(_ claim: IdempotencyClaim) -> Bool {
        guard let entry = entries[claim.key], case .running = entry.state else { return false }
        return entry.claim.id == claim.id
    }

    /// Adds a running key. The key must be free.
    mutating func add(_ claim: IdempotencyClaim, until end: Date) {
        entries[claim.key] = Entry(claim: claim, state: .running, endsAt: end, size: 0)
        resize(claim.key, to: IdempotencyBounds.keySize)
        firstEnd = min(firstEnd, end)
    }

    /// Changes a running key to finished, and counts the bytes of its response.
    mutating func finish(_ key: RequestDigest, with response: IdempotentResponse?, until expiry: Date) {
        entries[key]?.state = .finished(response)
        entries[key]?.endsAt = expiry
        resize(key, to: IdempotencyBounds.size(with: response))
        if let client = entries[key]?.claim.client { noteExpiry(expiry, of: client) }
        firstEnd = min(firstEnd, expiry)
    }

    /// Removes a key, and subtracts its bytes.
    mutating func remove(_ key: RequestDigest) {
        resize(key, to: 0)
        entries[key] = nil
    }

    /// Removes the keys whose lease or expiry has ended. The method then computes `firstEnd` and each `firstExpiry` again. O(n) for n keys
    /// if a key has ended, otherwise O(1).
    mutating func removeExpired(at now: Date) {
        guard firstEnd <= now else { return }
        for key in entries.filter({ $0.value.endsAt <= now }).map(\.key) { remove(key) }
        firstEnd = entries.values.map(\.endsAt).min() ?? .distantFuture
        for client in clients.keys { clients[client]?.firstExpiry = .distantFuture }
        for entry in entries.values {
            if case .finished = entry.state { noteExpiry(entry.endsAt, of: entry.claim.client) }
        }
    }

    /// Records the expiry of a finished key of a client.
    private mutating func noteExpiry(_ expiry: Date, of client: KeyDigest) {
        let first = clients[client]?.firstExpiry ?? expiry
        clients[client]?.firstExpiry = min(first, expiry)
    }

    /// Changes the size of an entry, and adds the difference to the sums.
    private mutating func resize(_ key: RequestDigest, to size: Int) {
        guard let entry = entries[key] else { return }
        let difference = size - entry.size
        entries[key]?.size = size
        pools[entry.claim.pool, default: 0] += difference
        clients[entry.claim.client, default: Client()].size += difference
        if clients[entry.claim.client]?.size == 0 { clients[entry.claim.client] = nil }
        guard let network = entry.claim.network else { return }
        networks[network, default: 0] += difference
        if networks[network] == 0 { networks[network] = nil }
    }
}
