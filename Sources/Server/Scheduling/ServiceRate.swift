import Foundation

/// A rate of service, in requests per second, measured while the service was busy. Recent seconds have more weight. The type is a value,
/// and time is an argument.
///
/// Idle time is not measured: in idle time, the rate shows the demand and not the capacity.
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
    ///   - estimate: The initial rate, per second.
    ///   - weight: The weight of the estimate, as a number of measured seconds.
    package init(estimate: Double, weight: Double = 0.5) {
        precondition(estimate > 0 && weight > 0, "estimate and weight must be positive (are \(estimate), \(weight))")
        (count, busySeconds) = (estimate * weight, weight)
    }

    /// Records that requests were served, and whether the service is fully busy from now on. O(1).
    package mutating func note(served: Int, isBusy: Bool, at now: Duration) {
        advance(to: now)
        count += self.isBusy ? Double(served) : 0
        self.isBusy = isBusy
    }

    /// Returns the rate per second. If a busy service serves no requests, the rate falls.
    package func perSecond(at now: Duration) -> Double {
        var rate = self
        rate.advance(to: now)
        return max(Self.least, rate.count / rate.busySeconds)
    }

    private mutating func advance(to now: Duration) {
        let seconds = max(0, (now - instant) / .seconds(1))
        instant = max(instant, now)
        guard isBusy, seconds > 0 else { return }
        // A long time is counted in one step, so that no number underflows.
        let rest = exp(-min(60, seconds / Self.memory))
        count *= rest
        busySeconds = busySeconds * rest + Self.memory * (1 - rest)
    }
}
