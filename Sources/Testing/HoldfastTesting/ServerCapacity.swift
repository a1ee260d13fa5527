/// A model of a server with a limited rate and a bounded queue, for simulations of overload.
///
/// The server processes ``rate`` requests per second, and refuses a request that would wait longer than ``longestWait``. A refusal also
/// costs work. If there are so many refusals that the expected wait exceeds ``collapse``, the server doesn't respond at all.
///
/// The model stores one number, the backlog: the work in the queue, measured in requests. Each admitted request adds 1 to the backlog, each
/// refusal adds ``refusalCost``, and the server removes ``rate`` per second. The expected wait is the backlog divided by the rate.
///
/// ```swift
/// var server = ServerCapacity(rate: 100)
/// switch server.take(at: .milliseconds(10)) {
/// case .served(let delay): print("responds after \(delay)")
/// case .refused: print("503")
/// case .ignored: print("no response")
/// }
/// ```
///
/// The model is a value, and the caller passes the time as an argument. If a caller passes an earlier time than before, the model uses the
/// latest time. Each call takes O(1) time, and the model needs O(1) memory.
///
/// Use the model with a ``ManualClock`` to simulate many clients in one process, for example to compare retry policies. The model has no
/// threads and no sockets. For real failures of a connection, use ``LoopbackServer``.
public struct ServerCapacity: Hashable, Sendable {
    /// The result of one request.
    public enum Outcome: Hashable, Sendable {
        /// The server responds after this time, which includes the wait in the queue and the processing of the request itself.
        case served(after: Duration)
        /// The server refuses the request immediately. The refusal costs ``ServerCapacity/refusalCost``.
        case refused
        /// The server never responds, because the expected wait exceeds ``ServerCapacity/collapse``. The request costs nothing.
        case ignored
    }

    /// The number of requests that the server processes per second; positive.
    public private(set) var rate: Double
    /// The longest wait in the queue, 250 ms by default. The server refuses requests that would wait longer.
    public let longestWait: Duration
    /// The server doesn't even send refusals if the expected wait is longer than this limit, 1 s by default.
    public let collapse: Duration
    /// The cost of a refusal, as a fraction of a request; 0.15 by default.
    public let refusalCost: Double
    /// The work in the queue, in requests, at `instant`. Never negative.
    private var backlog = 0.0
    /// The latest time of a call, since the start.
    private var instant = Duration.zero

    /// Creates an idle server.
    /// - Parameters:
    ///   - rate: The number of requests that the server processes per second; positive.
    ///   - longestWait: The longest wait in the queue.
    ///   - collapse: The longest expected wait at which the server still sends refusals; at least `longestWait`.
    ///   - refusalCost: The cost of a refusal, as a fraction of a request. With 0, refusals don't lengthen the expected wait.
    public init(
        rate: Double,
        longestWait: Duration = .milliseconds(250),
        collapse: Duration = .seconds(1),
        refusalCost: Double = 0.15
    ) {
        (self.rate, self.longestWait, self.collapse, self.refusalCost) = (rate, longestWait, collapse, refusalCost)
    }

    /// Changes the rate from a time on. The server processes the queued requests at the new rate.
    /// - Parameters:
    ///   - rate: The new number of requests per second; positive.
    ///   - now: The time since the start.
    public mutating func change(rate: Double, at now: Duration) {
        work(until: now)
        self.rate = rate
    }

    /// Processes, refuses or ignores a request, depending on the expected wait of the request.
    ///
    /// - Returns: The result. If a client gives up before the delay of `served` ends, the request still uses the server's capacity.
    /// - Parameter now: The time since the start.
    public mutating func take(at now: Duration) -> Outcome {
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

    /// Removes the work that was done since the latest call.
    /// - Parameter now: The time since the start. If it is earlier than the time of the latest call, the method does nothing.
    private mutating func work(until now: Duration) {
        guard now > instant else { return }
        backlog = max(0, backlog - rate * ((now - instant) / .seconds(1)))
        instant = now
    }
}
