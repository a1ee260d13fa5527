/// A virtual queue of refused clients. Each client gets a time to return. The type is a value, and time and randomness are arguments.
///
/// A refused client gets a place. Its time to return is the time at which the service reaches this place at its measured rate. So clients
/// that return on time arrive at the rate that the service can handle. When a client returns, the caller claims its place with
/// ``claim(by:at:)`` and gives precedence to this client. The caller reserves capacity for places that are ``due(at:)`` and not claimed
/// yet.
///
/// The line serves its keys in turn, like ``FairQueue``: the nth place of a key comes after at most n places of each other key. So a key
/// that is refused a thousand times gets long delays, and other keys get short delays. A place that is not claimed expires.
///
/// Delays are whole seconds, as in Retry-After, from 1 s to ``longest``.
package struct VirtualLine<Key: Hashable & Sendable>: Sendable {
    /// The longest delay.
    package let longest: Duration
    /// The largest number of places. If all places are taken, a client gets the longest delay and no place.
    package let maximumPlaces: Int

    /// For each key, the seconds at which its places are due, in order.
    private var places: [Key: [Int]] = [:]
    private var count = 0
    /// At index n, the number of keys that have more than n places that are not due yet.
    private var keys: [Int] = []
    private var second = 0
    private var dueCount = 0

    /// The time for which a place can be claimed after it is due, in seconds. Clients extend delays by random times. Holdfast's own clients
    /// extend them by at most 10 s (`GateRules`).
    private static var grace: Int { 15 }

    /// Creates an empty line.
    package init(longest: Duration = .seconds(60), maximumPlaces: Int = 16_384) {
        precondition(longest >= .seconds(1), "longest must be at least a second (is \(longest))")
        precondition(maximumPlaces >= 0, "maximumPlaces must not be negative (is \(maximumPlaces))")
        (self.longest, self.maximumPlaces) = (longest, maximumPlaces)
    }

    /// Gives a place to a refused client. O(n) for n places of the key. Once a second, O(m) for m places of all keys.
    /// - Parameters:
    ///   - rate: The number of clients that are served per second.
    ///   - chance: A random number from 0 up to 1. It extends the delay by up to a tenth, so that clients that were refused together don't
    ///     return together.
    /// - Returns: The delay after which the client should return.
    package mutating func place(for key: Key, rate: Double, at now: Duration, chance: Double) -> Duration {
        advance(to: now)
        let own = (places[key] ?? []).count { $0 > second }
        // The line serves its keys in turn. Before this key's next place, each other key has at most one place more than this key has.
        let ahead = keys.prefix(own + 1).reduce(0, +)
        let delay = Double(ahead + 1) / rate * (1 + 0.1 * chance)
        let bound = longest.components.seconds
        guard delay <= Double(bound), count < maximumPlaces else {
            // There is no place so late. Instead, spread the delays over the last fifth of the longest delay.
            return .seconds(bound - Int64(chance * Double(bound) / 5))
        }
        let seconds = max(1, Int(delay.rounded(.up)))
        insert(second + seconds, of: key)
        if own == keys.count { keys.append(0) }
        keys[own] += 1
        return .seconds(seconds)
    }

    /// Claims a due place of a key, if there is one. O(n) for n places of the key.
    /// - Returns: Whether there was a due place. If so, the client returned on time.
    package mutating func claim(by key: Key, at now: Duration) -> Bool {
        guard isDue(for: key, at: now), var own = places[key] else { return false }
        own.removeFirst()
        places[key] = own.isEmpty ? nil : own
        count -= 1
        dueCount -= 1
        return true
    }

    /// Returns whether a key has a due place.
    package mutating func isDue(for key: Key, at now: Duration) -> Bool {
        advance(to: now)
        return places[key]?.first.map { $0 <= second } ?? false
    }

    /// Whether there are no places. Expired places are counted until the time advances.
    package var isEmpty: Bool { places.isEmpty }

    /// Returns the number of places that are due and not claimed.
    package mutating func due(at now: Duration) -> Int {
        advance(to: now)
        return dueCount
    }

    private mutating func insert(_ due: Int, of key: Key) {
        var own = places[key] ?? []
        var index = own.endIndex
        while index > 0, own[index - 1] > due { index -= 1 }
        own.insert(due, at: index)
        places[key] = own
        count += 1
    }

    /// Removes expired places and counts due places, once a second.
    private mutating func advance(to now: Duration) {
        let present = Int(now.components.seconds)
        guard present > second else { return }
        second = present
        (count, dueCount) = (0, 0)
        keys.removeAll(keepingCapacity: true)
        places = places.compactMapValues { own in
            let live = own.filter { $0 > present - Self.grace }
            return live.isEmpty ? nil : live
        }
        for own in places.values {
            count += own.count
            let later = own.count { $0 > present }
            dueCount += own.count - later
            while keys.count < later { keys.append(0) }
            for index in 0..<later { keys[index] += 1 }
        }
    }
}
