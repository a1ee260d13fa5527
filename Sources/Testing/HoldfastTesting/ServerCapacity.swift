/// How a server with bounded workers and a bounded queue takes requests: it works them off at a rate, refuses what would wait too long, and
/// doesn't even answer once refusals alone keep it busy. A value: time is an argument. O(1).
public struct ServerCapacity: Hashable, Sendable {
    /// What becomes of one request.
    public enum Answer: Hashable, Sendable {
        /// It is answered after so long.
        case served(after: Duration)
        /// It is refused at once.
        case refused
        /// It is never answered.
        case ignored
    }

    /// The requests that it works off per second.
    public private(set) var rate: Double
    /// The longest wait in the queue; what would wait longer is refused.
    public let longestWait: Duration
    /// The wait from which on not even refusals are sent.
    public let collapse: Duration
    /// What a refusal costs, as a part of a request.
    public let refusalCost: Double
    private var backlog = 0.0
    private var instant = Duration.zero

    /// Creates an idle server.
    public init(
        rate: Double,
        longestWait: Duration = .milliseconds(250),
        collapse: Duration = .seconds(1),
        refusalCost: Double = 0.15
    ) {
        (self.rate, self.longestWait, self.collapse, self.refusalCost) = (rate, longestWait, collapse, refusalCost)
    }

    /// Changes how fast it works from an instant on; what is in the queue stays there.
    public mutating func change(rate: Double, at now: Duration) {
        work(until: now)
        self.rate = rate
    }

    /// Takes a request.
    public mutating func take(at now: Duration) -> Answer {
        work(until: now)
        let wait = Duration.seconds(backlog / rate)
        if wait > collapse { return .ignored }
        guard wait <= longestWait else {
            backlog += refusalCost
            return .refused
        }
        backlog += 1
        return .served(after: .seconds(backlog / rate))
    }

    private mutating func work(until now: Duration) {
        guard now > instant else { return }
        backlog = max(0, backlog - rate * ((now - instant) / .seconds(1)))
        instant = now
    }
}
