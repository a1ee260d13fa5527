import Synchronization

/// The connections of a client at one moment.
public struct PostgresStatus: Hashable, Sendable {
    /// The connections that exist, also those that are being opened.
    public var open = 0
    /// Those of them that no task uses.
    public var idle = 0
    /// Those of them that are being opened.
    public var opening = 0
    /// The tasks that wait for a connection.
    public var waiting = 0
    /// The largest number of connections.
    public var maximum = 0
    /// Why the last attempt to connect failed, if none has succeeded since.
    public var failure: String?
}

/// The state that the driver's thread publishes.
final class DriverStatus: Sendable {
    private let status = Mutex(PostgresStatus())
    private let lastResponse = Mutex<Duration?>(nil)

    var current: PostgresStatus {
        get { status.withLock { $0 } }
        set { status.withLock { $0 = newValue } }
    }

    /// When a server has last executed something, on the driver's clock.
    var responded: Duration? {
        get { lastResponse.withLock { $0 } }
        set { lastResponse.withLock { $0 = newValue } }
    }
}
