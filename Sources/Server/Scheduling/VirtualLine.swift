/// A line of clients that were refused and told when to return. A value: time and randomness are arguments.
///
/// A refused client gets a place, and the time at which the service reaches that place at its measured rate. So clients that return when told
/// arrive at the rate that can be served, and each finds its place: the caller admits a client whose place is ``claim(by:at:)``ed with preference,
/// and leaves room for the others that are ``due(at:)``.
///
/// The line serves its keys in turn, like ``FairQueue``: the nth place of a key comes after n places, at most, of each other key. A key that is
/// refused a thousand times has long delays, and another key has short ones. A place that is not claimed expires.
///
/// Delays are whole seconds, as in Retry-After, from 1 s to ``longest``.
package struct VirtualLine<Key: Hashable & Sendable>: Sendable {
    /// The longest delay.
    package let longest: Duration
    /// The largest number of places. Without one, a client gets the longest delay and no place.
    package let maximumPlaces: Int

    /// The seconds in which the places of each key are due, in their order.
    private var places: [Key: [Int]] = [:]
    private var count = 0
    /// At index n, the number of keys that have more than n places that are not due yet.
    private var keys: [Int] = []
    private var second = 0
    private var dueCount = 0

    /// For how long a place may be claimed after it is due, in seconds. Clients add a stretch of their own to a delay; ours at most twice three times it.
    private static var grace: Int { 15 }

    /// Creates an empty line.
    package init(longest: Duration = .seconds(60), maximumPlaces: Int = 16_384) {
        precondition(longest >= .seconds(1), "longest must be at least a second (is \(longest))")
        precondition(maximumPlaces >= 0, "maximumPlaces must not be negative (is \(maximumPlaces))")
        (self.longest, self.maximumPlaces) = (longest, maximumPlaces)
    }

    /// Gives a refused client a place. O(places of the key), and O(places) once a second.
    /// - Parameters:
    ///   - rate: How many clients are served per second.
    ///   - chance: From 0 up to 1: moves the time back by up to a tenth, so that clients that were refused together don't return together.
    /// - Returns: The delay after which the client is to return.
    package mutating func place(for key: Key, rate: Double, at now: Duration, chance: Double) -> Duration {
        advance(to: now)
        let own = (places[key] ?? []).count { $0 > second }
        // The line is served in turns: before this key's next place come as many places of each other key as this key has, and one more.
        let ahead = keys.prefix(own + 1).reduce(0, +)
        let delay = Double(ahead + 1) / rate * (1 + 0.1 * chance)
        let bound = longest.components.seconds
        guard delay <= Double(bound), count < maximumPlaces else {
            // Too far to promise: spread over the last fifth of the longest delay.
            return .seconds(bound - Int64(chance * Double(bound) / 5))
        }
        let seconds = max(1, Int(delay.rounded(.up)))
        insert(second + seconds, of: key)
        if own == keys.count { keys.append(0) }
        keys[own] += 1
        return .seconds(seconds)
    }

    /// Takes a place of a key that is due, if there is one. O(places of the key).
    /// - Returns: Whether there was: the client has returned when told.
    package mutating func claim(by key: Key, at now: Duration) -> Bool {
        guard isDue(for: key, at: now), var own = places[key] else { return false }
        own.removeFirst()
        places[key] = own.isEmpty ? nil : own
        count -= 1
        dueCount -= 1
        return true
    }

    /// Whether a key has a place that is due.
    package mutating func isDue(for key: Key, at now: Duration) -> Bool {
        advance(to: now)
        return places[key]?.first.map { $0 <= second } ?? false
    }

    /// Whether there is no place.
    package var isEmpty: Bool { places.isEmpty }

    /// How many places are due and not claimed yet.
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

    /// Removes places that have expired, and counts those that are due, once a second.
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
