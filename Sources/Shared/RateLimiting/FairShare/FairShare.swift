/// Counts the admissions of networks that share a limit, so that one network can't use up the shared quota.
///
/// The fair share of a network is the quota divided by the number of networks with an admission in the window, but at least 1. A request of
/// a network that has used less than its fair share is admitted even if the shared limit refuses the request. For a quota `q` and `n`
/// networks, at most `q + max(q, n)` requests are therefore admitted in a window. If the server can only process `q` requests per window,
/// the caller must queue the excess.
///
/// ```swift
/// var shares = FairShare()
/// if let admission = shares.reserve(network, at: now, quota: 600, window: .seconds(60)) {
///     // Admitted although the shared limit is used up. If another limit refuses:
///     shares.cancel(admission)
/// }
/// ```
///
/// The window slides exactly: an admission counts for `window`, and not a nanosecond longer. The type records at most `capacity`
/// admissions. If there are more, the type removes the oldest admissions early. The networks of these admissions can then get too many
/// further admissions, but at most one for each admission that was removed early. A network without an admission in the window is always
/// admitted.
///
/// All operations are O(1) amortized.
package struct FairShare: Sendable {
    /// A recorded admission. Pass it to ``cancel(_:)`` to remove it.
    package struct Admission: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A recorded admission with its time.
    private struct Record {
        var time: Duration
        /// The digest of the network; `nil` if the admission was canceled.
        var network: KeyDigest?
    }

    /// The largest number of recorded admissions.
    package let capacity: Int

    /// A ring buffer: the admission with the number `n` is at `n % records.count`.
    private var records: [Record] = []
    /// The numbers of the recorded admissions.
    private var numbers = 0..<0
    /// The number of admissions of each network in the window. Networks without an admission have no entry.
    private var usage: [KeyDigest: Int] = [:]
    /// The latest time that a caller passed. If a later call passes an earlier time, the type uses this time instead.
    private var latest: Duration = .zero

    /// Creates a value without admissions.
    /// - Parameter capacity: The largest number of recorded admissions. If a quota exceeds half of the capacity, the type computes fair
    ///   shares with half of the capacity instead.
    /// - Precondition: `capacity` is at least 2.
    package init(capacity: Int = 65_536) {
        precondition(capacity >= 2, "capacity must be at least 2 (is \(capacity))")
        self.capacity = capacity
    }

    /// The number of recorded admissions, including canceled admissions.
    package var count: Int { numbers.count }

    /// The number of networks with an admission in the window.
    package var networks: Int { usage.count }

    /// Records an admission that the shared limit granted.
    /// - Parameters:
    ///   - network: The digest of the client's network.
    ///   - now: The time on a monotonic clock. If an earlier call passed a later time, the method uses the later time.
    ///   - window: The window of the shared limit.
    /// - Returns: The admission, which ``cancel(_:)`` removes.
    @discardableResult
    package mutating func record(_ network: KeyDigest, at now: Duration, window: Duration) -> Admission {
        expire(at: now, window: window)
        if numbers.count == capacity { removeFirst() }
        if numbers.count == records.count { grow() }
        let number = numbers.upperBound
        records[number % records.count] = Record(time: latest, network: network)
        numbers = numbers.lowerBound..<number + 1
        usage[network, default: 0] += 1
        return Admission(number: number)
    }

    /// Records an admission if the network has used less than its fair share.
    /// - Parameters:
    ///   - network: The digest of the client's network.
    ///   - now: The time on a monotonic clock. If an earlier call passed a later time, the method uses the later time.
    ///   - quota: The quota of the shared limit.
    ///   - window: The window of the shared limit.
    /// - Returns: The admission, which ``cancel(_:)`` removes; `nil` if the network has used its fair share.
    package mutating func reserve(_ network: KeyDigest, at now: Duration, quota: Int, window: Duration) -> Admission? {
        expire(at: now, window: window)
        let used = usage[network] ?? 0
        let sharers = usage.count + (used == 0 ? 1 : 0)
        guard used < max(1, min(quota, capacity / 2) / sharers) else { return nil }
        return record(network, at: now, window: window)
    }

    /// Removes a recorded admission, because another limit refused the request. Does nothing if the admission has left the window.
    package mutating func cancel(_ admission: Admission) {
        guard numbers.contains(admission.number) else { return }
        let index = admission.number % records.count
        if let network = records[index].network { discount(network) }
        records[index].network = nil
    }

    /// Removes the admissions that have left the window.
    private mutating func expire(at now: Duration, window: Duration) {
        latest = max(latest, now)
        while let first = numbers.first, latest - records[first % records.count].time >= window { removeFirst() }
    }

    /// Removes the oldest recorded admission.
    private mutating func removeFirst() {
        if let network = records[numbers.lowerBound % records.count].network { discount(network) }
        numbers.removeFirst()
    }

    /// Subtracts one admission from the number of admissions of a network.
    private mutating func discount(_ network: KeyDigest) {
        guard let count = usage[network] else { return }
        usage[network] = count > 1 ? count - 1 : nil
    }

    /// Doubles the ring buffer, and moves each admission to its new index.
    private mutating func grow() {
        let length = min(capacity, max(16, records.count * 2))
        var larger = [Record](repeating: Record(time: .zero, network: nil), count: length)
        for number in numbers { larger[number % length] = records[number % records.count] }
        records = larger
    }
}
