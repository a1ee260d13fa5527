import Foundation

/// A measurement of the number of requests that a service serves per second while it is busy. Recent seconds have more weight. The type is
/// a value, and the caller passes the time.
///
/// The measurement ignores the times in which the service isn't busy. In such times, the number of served requests depends on the number of
/// incoming requests, not on the capacity of the service.
package struct ServiceRate: Sendable {
    /// The time constant in seconds. A measurement of this age has 1/e (37 %) of its original weight.
    private static let memory = 3.0
    /// The smallest reported rate: one request per minute.
    private static let least = 1.0 / 60

    private var count: Double
    private var busySeconds: Double
    private var isBusy = false
    private var instant = Duration.zero

    /// Creates a rate without measurements.
    /// - Parameters:
    ///   - estimate: The initial rate, in requests per second.
    ///   - weight: The weight of the estimate, as a number of measured seconds.
    package init(estimate: Double, weight: Double = 0.5) {
        precondition(estimate > 0 && weight > 0, "estimate and weight must be positive (are \(estimate), \(weight))")
        (count, busySeconds) = (estimate * weight, weight)
    }

    /// Records the number of requests that were served since the last call, and whether the service is fully busy from now on. O(1).
    package mutating func note(served: Int, isBusy: Bool, at now: Duration) {
        advance(to: now)
        count += self.isBusy ? Double(served) : 0
        self.isBusy = isBusy
    }

    /// Returns the rate in requests per second. While a busy service completes no requests, the rate falls.
    package func perSecond(at now: Duration) -> Double {
        var rate = self
        rate.advance(to: now)
        return max(Self.least, rate.count / rate.busySeconds)
    }

    private mutating func advance(to now: Duration) {
        let seconds = max(0, (now - instant) / .seconds(1))
        instant = max(instant, now)
        guard isBusy, seconds > 0 else { return }
        // Limit the exponent, so that no number underflows after a long time.
        let rest = exp(-min(60, seconds / Self.memory))
        count *= rest
        busySeconds = busySeconds * rest + Self.memory * (1 - rest)
    }
}
