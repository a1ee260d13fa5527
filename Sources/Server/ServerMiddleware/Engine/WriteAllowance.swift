import NIOCore

/// The time that a client has left to read what was written to it.
///
/// A client starts with `time`. Each `rate` bytes that it reads add a second, up to `time` again. So a client that reads nothing
/// is out of time after `time`, and one that reads at `rate` or faster never is.
struct WriteAllowance {
    private let time: TimeAmount
    private let rate: Int
    private var end: NIODeadline?
    private var drained = 0

    init(time: Duration, rate: Int) {
        self.time = TimeAmount(time)
        self.rate = rate
    }

    /// All that was written has been read: nothing is measured until more is written.
    mutating func reset() { end = nil }

    /// Compares what has been read so far with the last call.
    /// - Parameter total: All bytes of the connection that have been read so far.
    /// - Returns: When the time runs out if nothing more is read. It has run out if that is not after `now`.
    mutating func advance(total: Int, at now: NIODeadline) -> NIODeadline {
        defer { drained = total }
        guard let end else {
            self.end = now + time
            return now + time
        }
        let seconds = Double(max(0, total - drained)) / Double(rate)
        let gained = TimeAmount.nanoseconds(Int64(min(seconds * 1e9, Double(time.nanoseconds))))
        let next = min(end + gained, now + time)
        self.end = next
        return next
    }
}
