public import CoreMetrics
import NIOCore
import Observability
import Synchronization

/// The open connections of a server, and their limits.
///
/// Pass the value to `HTTPServerBuilder.contractHTTP1(renderer:configuration:connections:securityHeaders:)`:
///
/// ```swift
/// let connections = Connections(limits: ConnectionLimits(perClient: 128), identity: ClientIdentity(trustedProxies: proxies))
/// Application(router: router, server: .contractHTTP1(connections: connections))
/// ```
///
/// The limits protect against clients that open many connections, and against clients that send or read slowly (slow-loris attacks). To
/// limit the requests in progress, use ``LoadShedding``. To limit the requests of one client, use ``RateLimitMiddleware``. Share one value
/// between all listeners of a process, because the listeners share the file descriptors of the process.
///
/// The counter `connections_closed` counts connections that the server closed. Its label `reason` is `head`, `idle`, `body`, `write`,
/// `capacity`, `client` or `pipeline`. The counter `connections_refused` counts connections that the server closed directly after it
/// accepted them. The label `reason` of this counter is `client` or `capacity`.
///
/// Several threads can use all members. Opening and closing a connection takes a lock. A request takes no lock.
public final class Connections: Sendable {
    typealias Table = ConnectionTable<Handle>

    /// Closes a connection from another event loop.
    struct Handle: Sendable {
        let eventLoop: any EventLoop
        let connection: NIOLoopBound<ConnectionGuard>

        /// Closes the connection on its event loop. If the server is processing a request, it first writes the response.
        func evict(_ end: ConnectionEnd) {
            eventLoop.execute { connection.value.evict(end) }
        }
    }

    /// The largest numbers of connections, and the times after which the server closes a connection.
    public let limits: ConnectionLimits
    private let identity: ClientIdentity
    private let table: Mutex<Table>
    private let isNearCapacity = Atomic(false)
    private let closed: [ConnectionEnd: Counter]
    private let refused: [ConnectionRefusal: Counter]

    /// Creates an object without open connections.
    /// - Parameters:
    ///   - limits: The largest numbers of connections, and the times after which a connection is closed.
    ///   - identity: The trusted proxies, and the IPv6 prefix length that identifies a client.
    ///   - metrics: The factory of the counters; `nil` uses the process's default.
    public init(
        limits: ConnectionLimits = ConnectionLimits(),
        identity: ClientIdentity = ClientIdentity(),
        metrics: (any MetricsFactory)? = nil
    ) {
        self.limits = limits
        self.identity = identity
        table = Mutex(Table(capacity: limits.capacity, perClient: limits.perClient))
        let factory = metrics ?? MetricsSystem.factory
        closed = Counter.each("connections_closed", by: "reason", factory: factory)
        refused = Counter.each("connections_refused", by: "reason", factory: factory)
    }

    /// The number of open connections. Takes a lock.
    public var count: Int { table.withLock { $0.count } }

    /// Whether idle connections are closed after ``ConnectionLimits/crowdedIdleTime`` instead of ``ConnectionLimits/idleTime``.
    var isCrowded: Bool { isNearCapacity.load(ordering: .relaxed) }

    /// Admits a new connection, and closes other connections if the new connection needs their places.
    /// - Parameters:
    ///   - peer: The address of the client; `nil` for a local socket.
    ///   - activity: The state of the connection.
    ///   - handle: Closes the connection from another event loop.
    ///   - now: The current time.
    /// - Returns: The id that removes the connection; `nil` if the new connection must be closed.
    func open(from peer: IPAddress?, _ activity: ConnectionActivity, _ handle: Handle, at now: NIODeadline) -> Table.ID? {
        let origin = Table.Origin(peer, identity: identity)
        let admission = table.withLock { table in
            let admission = table.open(origin, activity, handle, at: now)
            isNearCapacity.store(table.isCrowded, ordering: .relaxed)
            return admission
        }
        switch admission {
        case .admitted(let id, let closing):
            for (handle, end) in closing { handle.evict(end) }
            return id
        case .refused(let reason):
            refused[reason]?.increment()
            return nil
        }
    }

    /// Frees the place of a closed connection. A second call does nothing.
    func remove(_ id: Table.ID) {
        table.withLock { table in
            table.remove(id)
            isNearCapacity.store(table.isCrowded, ordering: .relaxed)
        }
    }

    /// Counts a connection that the server closes.
    func count(_ end: ConnectionEnd) { closed[end]?.increment() }
}

/// The largest number of open connections of a server, and the times after which it closes a connection whose client is too slow.
///
/// All durations must be positive. The defaults suit a public server. Tests use shorter durations.
public struct ConnectionLimits: Hashable, Sendable {
    /// The largest number of open connections; 4,096 by default. If a new connection arrives when this number is reached, the server closes
    /// another connection, one that waits for its client. The process must be allowed to open more file descriptors than this number.
    public var capacity: Int
    /// The largest number of open connections of one client; `nil` sets no limit. Peers in ``ClientIdentity/trustedProxies`` are exempt.
    /// When a client at the limit opens a new connection, the server closes another connection of this client that is idle, or that has
    /// been open for a second without a request. If there is none, the server refuses the new connection.
    public var perClient: Int?
    /// The time within which the head of a request must arrive; 10 seconds by default. For the first request, the time begins when the
    /// connection opens, before the TLS handshake. For a later request, the time begins with the first byte of the request.
    public var headTime: Duration
    /// The time that a connection can be idle between two requests, and between two parts of a request's body; 60 seconds by default. The
    /// time in which a route doesn't read the body, so that the client can't send more, doesn't count. Use a shorter idle time in a load
    /// balancer in front of the server. Otherwise, the load balancer could send a request on a connection that the server is closing.
    public var idleTime: Duration
    /// The idle time that applies while three quarters of ``capacity`` or more are in use; 15 seconds by default.
    public var crowdedIdleTime: Duration
    /// The time after which a connection is closed if its client reads no bytes of the responses; 30 seconds by default.
    public var writeTime: Duration
    /// The lowest rate, in bytes per second, at which a client must read; 2,048 by default. A client can read more slowly for a short time.
    /// The server closes the connection only if the client is late by ``writeTime``.
    public var minimumWriteRate: Int

    /// Creates limits. If a parameter is omitted, the default of its property applies.
    /// - Parameters:
    ///   - capacity: The largest number of open connections.
    ///   - perClient: The largest number of open connections of one client; `nil` sets no limit.
    ///   - headTime: The time within which the head of a request must arrive.
    ///   - idleTime: The time that a connection can be idle.
    ///   - crowdedIdleTime: The idle time while three quarters of the capacity or more are in use.
    ///   - writeTime: The time after which a connection is closed if its client reads no bytes.
    ///   - minimumWriteRate: The lowest rate, in bytes per second, at which a client must read.
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

    /// The longest interval between two checks of a connection's deadlines.
    var cadence: TimeAmount { TimeAmount(min(.seconds(5), min(headTime, idleTime, crowdedIdleTime, writeTime) / 2)) }
}
