/// A connection of the pool, in the state of the driver's thread.
///
/// The stages are `resolving` → `opening` → `open`. If resolving or opening fails, the connection tries the next address of the host. After
/// the last address, it tries the next host. After the last host, the connection ends. Only the driver's thread uses the connection.
final class DriverConnection {
    /// The progress of a connection.
    enum Stage {
        /// The name of the host is being resolved.
        case resolving
        /// The connection is being opened, and waits until its socket is readable or writable.
        case opening(PGConnection, waitsForReading: Bool)
        /// The connection executes segments, or is idle.
        case open(PGConnection)
    }

    /// The number of the connection in the pool.
    let id: ConnectionPool.ConnectionID
    var stage = Stage.resolving
    /// The index of the host that the connection tries or has reached.
    var host = 0
    /// The indexes of the hosts that were not tried yet.
    var hosts: [Int]
    /// The addresses of the host that were not tried yet; `nil` is a Unix socket.
    var addresses: [String?] = []
    /// The time by which the current attempt to connect, segment or rollback must end.
    var deadline: Duration?
    /// The job that is executed.
    var job: DriverJob?
    /// Whether a failed or abandoned transaction is being rolled back.
    var isRollingBack = false
    /// The version of the statement plans that the connection has prepared. See `DriverLoop.plans`.
    var plans: Int

    /// Creates a connection that has not tried a host yet.
    /// - Parameters:
    ///   - hosts: The indexes of the hosts in the order in which they are tried.
    ///   - plans: The current version of the prepared plans.
    init(id: ConnectionPool.ConnectionID, hosts: [Int], plans: Int) {
        (self.id, self.hosts, self.plans) = (id, hosts, plans)
    }

    /// The connection of libpq, if it has a socket.
    var pg: PGConnection? {
        switch stage {
        case .resolving: nil
        case .opening(let pg, _), .open(let pg): pg
        }
    }

    /// Whether the connection can execute segments.
    var isOpen: Bool { if case .open = stage { true } else { false } }
}
