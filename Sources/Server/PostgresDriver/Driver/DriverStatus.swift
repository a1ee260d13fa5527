import Synchronization

/// The state of a client's connections at one moment.
///
/// Use it for health checks and diagnostics. Metrics contain the same numbers. `open - idle - opening` connections are in use.
public struct PostgresStatus: Hashable, Sendable {
    /// The number of connections, including connections that are being opened.
    public var open = 0
    /// The number of unused connections.
    public var idle = 0
    /// The number of connections that are being opened.
    public var opening = 0
    /// The number of tasks that wait for a connection.
    public var waiting = 0
    /// The largest number of connections.
    public var maximum = 0
    /// The reason why the last attempt to connect failed; `nil` if an attempt has succeeded since.
    public var failure: String?
}

/// The state that the driver's thread publishes. Its locks are held only for an assignment, so reading the state never waits for I/O.
final class DriverStatus: Sendable {
    private let status = Mutex(PostgresStatus())
    private let lastResponse = Mutex<Duration?>(nil)

    /// The latest state of the connections.
    var current: PostgresStatus {
        get { status.withLock { $0 } }
        set { status.withLock { $0 = newValue } }
    }

    /// The time at which a server last responded to a segment, on the driver's clock.
    var responded: Duration? {
        get { lastResponse.withLock { $0 } }
        set { lastResponse.withLock { $0 = newValue } }
    }
}
