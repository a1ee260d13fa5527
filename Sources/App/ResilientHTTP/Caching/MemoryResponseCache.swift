import Synchronization

/// Stores responses in memory, up to a number of bytes; those that were used least recently are dropped first.
public final class MemoryResponseCache: ResponseCache {
    private struct Entry {
        var stored: StoredResponse
        var size: Int
        var use: UInt64
    }

    private struct State {
        var entries: [ResponseCacheKey: Entry] = [:]
        var size = 0
        var uses: UInt64 = 0

        mutating func remove(_ key: ResponseCacheKey) {
            if let entry = entries.removeValue(forKey: key) { size -= entry.size }
        }
    }

    /// The largest size of all stored responses together, in bytes.
    public let maximumSize: Int
    private let state = Mutex(State())

    /// Creates an empty cache.
    /// - Parameter maximumSize: The largest size of all stored responses together, in bytes. A response larger than an eighth of it is not stored.
    /// - Precondition: `maximumSize` is not negative.
    public init(maximumSize: Int = 8 * 1024 * 1024) {
        precondition(maximumSize >= 0, "maximumSize must not be negative (is \(maximumSize))")
        self.maximumSize = maximumSize
    }

    /// The size of all stored responses together, in bytes.
    public var size: Int { state.withLock(\.size) }
    /// How many responses are stored.
    public var count: Int { state.withLock(\.entries.count) }

    public func response(for key: ResponseCacheKey) async -> StoredResponse? {
        state.withLock { state in
            state.uses += 1
            state.entries[key]?.use = state.uses
            return state.entries[key]?.stored
        }
    }

    public func store(_ response: StoredResponse, for key: ResponseCacheKey) async {
        let size = response.size + key.url.utf8.count + (key.owner?.utf8.count ?? 0)
        state.withLock { state in
            state.remove(key)
            guard size <= maximumSize / 8 else { return }
            state.uses += 1
            state.entries[key] = Entry(stored: response, size: size, use: state.uses)
            state.size += size
            guard state.size > maximumSize else { return }
            // A quarter is dropped at once, so that not every response sorts the entries.
            for (key, _) in state.entries.sorted(by: { $0.value.use < $1.value.use }) where state.size > maximumSize / 4 * 3 {
                state.remove(key)
            }
        }
    }

    public func remove(_ key: ResponseCacheKey) async {
        state.withLock { $0.remove(key) }
    }

    public func removeAll(of owner: String) async {
        state.withLock { state in
            for key in state.entries.keys where key.owner == owner { state.remove(key) }
        }
    }

    /// Removes all responses.
    public func removeAll() {
        state.withLock { $0 = State() }
    }
}
