import Synchronization

/// Counts the calls with the same query in each session, so that the lab can fail the first calls and then respond with a success.
///
/// The table stores at most 4,096 pairs of a session and a query. If the table is full, it removes the least recently used pair, whose
/// count then starts again from 0.
///
/// Two queries with the same hash share a count. This is acceptable for a development server.
final class LabSessions: Sendable {
    /// A key of the table: a session and a query. The table stores one number of calls for each key.
    private struct Place: Hashable {
        /// The name of the session; empty for calls without one.
        let session: String
        /// The hash of the query. The table doesn't store the query itself, because a query can be long.
        let query: Int
    }

    /// The number of calls for each session and query.
    private let calls = Mutex(BoundedTable<Place, Int>(capacity: 4_096))

    /// Counts a call with a query in a session.
    /// - Parameters:
    ///   - session: The name of the session, which the client chooses.
    ///   - query: The query of the call.
    /// - Returns: The number of the call, from 1.
    func count(session: String?, query: String) -> Int {
        let place = Place(session: session ?? "", query: query.hashValue)
        return calls.withLock { table in
            table.with(place, default: 0) { count in
                count += 1
                return count
            }
        }
    }
}

/// A table with a bounded number of entries. If the table is full, a new entry replaces the least recently used entry.
///
/// A lookup takes O(1). An insert into a full table takes O(number of entries).
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A value with the time of its last use.
    private struct Entry {
        var value: Value
        /// The number of the last use. The least recently used entry has the smallest number.
        var used: UInt64
    }

    /// The largest number of entries.
    private let capacity: Int
    /// The entries by key, at most ``capacity``.
    private var entries: [Key: Entry] = [:]
    /// The number of uses of all entries since the table was created.
    private var uses: UInt64 = 0

    /// Creates an empty table.
    /// - Precondition: `capacity` is positive.
    init(capacity: Int) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        self.capacity = capacity
    }

    /// The number of entries.
    var count: Int { entries.count }

    /// Changes an entry. If the entry doesn't exist, the method creates it with the default value. The call counts as a use.
    /// - Returns: The result of the closure.
    mutating func with<Result>(_ key: Key, default make: @autoclosure () -> Value, _ body: (inout Value) -> Result) -> Result {
        if entries[key] == nil { makeRoom() }
        uses += 1
        var entry = entries[key] ?? Entry(value: make(), used: uses)
        entry.used = uses
        let result = body(&entry.value)
        entries[key] = entry
        return result
    }

    /// Changes an entry, if it exists.
    mutating func withExisting<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        guard let value = entries[key]?.value else { return nil }
        return with(key, default: value, body)
    }

    /// Removes the least recently used entry if the table is full.
    private mutating func makeRoom() {
        guard entries.count >= capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used }) else { return }
        entries[oldest.key] = nil
    }
}
