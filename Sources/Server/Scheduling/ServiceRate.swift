import Foundation

/// A rate of service, per second, measured while the service was busy, with more weight on the last seconds. A value: time is an argument.
///
/// Idle time doesn't count, because it shows how little was requested and not how much can be served.
package struct ServiceRate: Sendable {
    /// The time after which a measurement has a third of its weight.
    private static let memory = 3.0
    /// The least rate that is reported.
    private static let least = 1.0 / 60

    private var count: Double
    private var busySeconds: Double
    private var isBusy = false
    private var instant = Duration.zero

    /// Creates a rate that nothing was measured for yet.
    /// - Parameters:
    ///   - estimate: The rate that is assumed at first, per second.
    ///   - weight: The number of seconds of measurement that the estimate counts as.
    package init(estimate: Double, weight: Double = 0.5) {
        precondition(estimate > 0 && weight > 0, "estimate and weight must be positive (are \(estimate), \(weight))")
        (count, busySeconds) = (estimate * weight, weight)
    }

    /// Notes that requests were served, and whether the service is fully busy from now on. O(1).
    package mutating func note(served: Int, isBusy: Bool, at now: Duration) {
        advance(to: now)
        count += self.isBusy ? Double(served) : 0
        self.isBusy = isBusy
    }

    /// The rate per second. If a busy service serves nothing, the rate falls.
    package func perSecond(at now: Duration) -> Double {
        var rate = self
        rate.advance(to: now)
        return max(Self.least, rate.count / rate.busySeconds)
    }

    private mutating func advance(to now: Duration) {
        let seconds = max(0, (now - instant) / .seconds(1))
        instant = max(instant, now)
        guard isBusy, seconds > 0 else { return }
        // A long time is counted in one step, so that no number becomes too small.
        let rest = exp(-min(60, seconds / Self.memory))
        count *= rest
        busySeconds = busySeconds * rest + Self.memory * (1 - rest)
    }
}
