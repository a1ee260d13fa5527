public import CoreMetrics
import NIOCore
import Synchronization

/// The open connections of a server, within limits.
///
/// Given to `HTTPServerBuilder.contractHTTP1(renderer:configuration:connections:securityHeaders:)`:
///
/// ```swift
/// let connections = Connections(limits: ConnectionLimits(perClient: 128), identity: ClientIdentity(trustedProxies: proxies))
/// Application(router: router, server: .contractHTTP1(connections: connections))
/// ```
///
/// Counts in `connections_closed` which connections the server closed, by `reason` (`head`, `idle`, `body`, `write`, `capacity`,
/// `client`, `pipeline`), and in `connections_refused` those that were closed when they were accepted (`client`, `capacity`).
public final class Connections: Sendable {
    typealias Table = ConnectionTable<Handle>

    /// How a connection is closed from another event loop.
    struct Handle: Sendable {
        let eventLoop: any EventLoop
        let connection: NIOLoopBound<ConnectionGuard>

        func evict(_ end: ConnectionEnd) {
            eventLoop.execute { connection.value.evict(end) }
        }
    }

    /// The limits.
    public let limits: ConnectionLimits
    private let identity: ClientIdentity
    private let table: Mutex<Table>
    private let isNearCapacity = Atomic(false)
    private let closed: [ConnectionEnd: Counter]
    private let refused: [ConnectionRefusal: Counter]

    /// Creates an empty table of connections.
    /// - Parameters:
    ///   - limits: How many, and for how long.
    ///   - identity: Which peers are proxies, and which IPv6 addresses are one client.
    ///   - metrics: Where the counters go; the process's own system if `nil`.
    public init(
        limits: ConnectionLimits = ConnectionLimits(),
        identity: ClientIdentity = ClientIdentity(),
        metrics: (any MetricsFactory)? = nil
    ) {
        self.limits = limits
        self.identity = identity
        table = Mutex(Table(capacity: limits.capacity, perClient: limits.perClient))
        let factory = metrics ?? MetricsSystem.factory
        let counter = { label, reason in Counter(label: label, dimensions: [("reason", reason)], factory: factory) }
        closed = Dictionary(uniqueKeysWithValues: ConnectionEnd.allCases.map { ($0, counter("connections_closed", $0.rawValue)) })
        refused = Dictionary(
            uniqueKeysWithValues: ConnectionRefusal.allCases.map { ($0, counter("connections_refused", $0.rawValue)) }
        )
    }

    /// How many connections are open.
    public var count: Int { table.withLock { $0.count } }

    /// Whether idle connections have ``ConnectionLimits/crowdedIdleTime``.
    var isCrowded: Bool { isNearCapacity.load(ordering: .relaxed) }

    /// Lets a connection in, and closes those whose place it takes.
    /// - Returns: What it is removed by; `nil` if it must be closed.
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

    func remove(_ id: Table.ID) {
        table.withLock { table in
            table.remove(id)
            isNearCapacity.store(table.isCrowded, ordering: .relaxed)
        }
    }

    func count(_ end: ConnectionEnd) { closed[end]?.increment() }
}

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
