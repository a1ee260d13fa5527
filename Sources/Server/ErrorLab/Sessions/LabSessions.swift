import Synchronization

/// How often each address was called in each session. At most 4,096 pairs are remembered; a pair that was forgotten begins anew.
final class LabSessions: Sendable {
    private struct Place: Hashable {
        let session: String
        /// The hash of the query: a query may be long, and is not kept.
        let query: Int
    }

    private let calls = Mutex(BoundedTable<Place, Int>(capacity: 4_096))

    /// Counts a call.
    /// - Returns: Its number, from 1.
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
