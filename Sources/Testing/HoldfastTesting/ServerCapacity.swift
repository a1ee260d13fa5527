/// A model of a server with a bounded number of workers and a bounded queue. It processes requests at a rate, refuses requests that would
/// wait too long, and stops responding when refusals alone keep it busy. A value: time is an argument. O(1).
public struct ServerCapacity: Hashable, Sendable {
    /// The result of one request.
    public enum Answer: Hashable, Sendable {
        /// The server responds after this time.
        case served(after: Duration)
        /// The server refuses the request immediately.
        case refused
        /// The server never responds.
        case ignored
    }

    /// The number of requests that the server processes per second.
    public private(set) var rate: Double
    /// The longest wait in the queue. Requests that would wait longer are refused.
    public let longestWait: Duration
    /// The wait from which the server sends no refusals either.
    public let collapse: Duration
    /// The cost of a refusal, as a fraction of a request.
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

    /// Changes the rate from an instant on. Queued requests stay in the queue.
    public mutating func change(rate: Double, at now: Duration) {
        work(until: now)
        self.rate = rate
    }

    /// Processes a request.
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
