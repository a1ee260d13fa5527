import NIOCore

/// How many connections a server has open, and how long each may wait for its client.
///
/// All durations must be positive. The defaults suit a public server; tests use shorter ones.
public struct ConnectionLimits: Hashable, Sendable {
    /// The largest number of open connections. Beyond it, connections that wait for their clients are closed for new ones.
    public var capacity: Int
    /// The largest number of open connections of one client; `nil` for any number. Peers in ``ClientIdentity/trustedProxies`` are
    /// exempt.
    public var perClient: Int?
    /// The time in which the head of a request must have arrived: from the start of a connection, TLS handshake included, and
    /// from the first byte of each later request.
    public var headTime: Duration
    /// The time that a connection may be idle between two requests, and within the body of a request.
    public var idleTime: Duration
    /// The same while three quarters of ``capacity`` or more are in use.
    public var crowdedIdleTime: Duration
    /// The time without progress after which a connection is closed whose client does not read its responses.
    public var writeTime: Duration
    /// The rate in bytes per second at which a client must read at least, with ``writeTime`` as the longest delay.
    public var minimumWriteRate: Int

    /// Creates limits.
    /// - Precondition: All numbers and durations are positive.
    public init(
        capacity: Int = 4_096,
        perClient: Int? = nil,
        headTime: Duration = .seconds(10),
        idleTime: Duration = .seconds(60),
        crowdedIdleTime: Duration = .seconds(15),
        writeTime: Duration = .seconds(30),
        minimumWriteRate: Int = 2_048
    ) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        precondition(perClient.map { $0 > 0 } ?? true, "perClient must be positive (is \(perClient ?? 0))")
        precondition(minimumWriteRate > 0, "minimumWriteRate must be positive (is \(minimumWriteRate))")
        for time in [headTime, idleTime, crowdedIdleTime, writeTime] {
            precondition(time > .zero, "times must be positive (one is \(time))")
        }
        self.capacity = capacity
        self.perClient = perClient
        self.headTime = headTime
        self.idleTime = idleTime
        self.crowdedIdleTime = crowdedIdleTime
        self.writeTime = writeTime
        self.minimumWriteRate = minimumWriteRate
    }

    /// How often a connection compares its times at least.
    var cadence: TimeAmount { TimeAmount(min(.seconds(5), min(headTime, idleTime, crowdedIdleTime, writeTime) / 2)) }
}
