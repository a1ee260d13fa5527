/// A virtual queue of refused clients, which gives each client a time to return. The type is a value, and the caller passes the time and
/// random numbers.
///
/// A refused client gets a place in the queue. The client should return when the service reaches this place at its measured rate. So the
/// clients that return on time arrive at a rate that the service can handle. When a client returns, the caller claims the client's place
/// with ``claim(by:at:)`` and gives precedence to this client. The caller also reserves capacity for clients whose places are due, but who
/// have not returned yet; see ``due(at:)``.
///
/// A key groups clients, for example the clients of one network. The queue serves its keys in turn, like ``FairQueue``: before the nth
/// place of a key, there are at most n places of each other key. So a key whose clients are refused a thousand times gets long delays,
/// while other keys still get short delays. If no client claims a place, the place expires.
///
/// Delays are whole seconds, as in Retry-After, from 1 s to ``longest``.
package struct VirtualLine<Key: Hashable & Sendable>: Sendable {
    /// The longest delay.
    package let longest: Duration
    /// The largest number of places. If all places are taken, a client gets no place, but a delay of 80 % to 100 % of ``longest``.
    package let maximumPlaces: Int

    /// For each key, the seconds at which its places are due, in order.
    private var places: [Key: [Int]] = [:]
    private var count = 0
    /// The element at index n is the number of keys that have more than n places in the future.
    private var keys: [Int] = []
    private var second = 0
    private var dueCount = 0

    /// The time in seconds for which a client can claim a place after the place is due. The time is necessary, because clients extend a
    /// delay by a random time. Holdfast's own clients add at most 10 s (`GateRules`).
    private static var grace: Int { 15 }

    /// Creates an empty virtual queue.
    package init(longest: Duration = .seconds(60), maximumPlaces: Int = 16_384) {
        precondition(longest >= .seconds(1), "longest must be at least a second (is \(longest))")
        precondition(maximumPlaces >= 0, "maximumPlaces must not be negative (is \(maximumPlaces))")
        (self.longest, self.maximumPlaces) = (longest, maximumPlaces)
    }

    /// Gives a place to a refused client. O(n) for n places of the key; once a second, O(m) for m places of all keys.
    /// - Parameters:
    ///   - rate: The number of clients that the service serves per second.
    ///   - chance: A random number from 0 up to 1, by which the method extends the delay by up to a tenth. So clients that were refused
    ///     together don't return together.
    /// - Returns: The delay after which the client should return.
    package mutating func place(for key: Key, rate: Double, at now: Duration, chance: Double) -> Duration {
        advance(to: now)
        let own = (places[key] ?? []).count { $0 > second }
        // Before the next place of this key, the queue serves at most `own + 1` places of each other key.
        let ahead = keys.prefix(own + 1).reduce(0, +)
        let delay = Double(ahead + 1) / rate * (1 + 0.1 * chance)
        let bound = longest.components.seconds
        guard delay <= Double(bound), count < maximumPlaces else {
            // The queue has no place for the client. Spread the delays of such clients over the last fifth of the longest delay.
            return .seconds(bound - Int64(chance * Double(bound) / 5))
        }
        let seconds = max(1, Int(delay.rounded(.up)))
        insert(second + seconds, of: key)
        if own == keys.count { keys.append(0) }
        keys[own] += 1
        return .seconds(seconds)
    }

    /// Claims a due place of a key, if there is such a place. O(n) for n places of the key.
    /// - Returns: Whether the key had a due place, so that the client returned on time.
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

    /// Whether the queue has no places. Expired places count until a method with a later time removes them.
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
