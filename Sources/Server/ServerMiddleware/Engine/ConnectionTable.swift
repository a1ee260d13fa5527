import NIOCore
import Synchronization

/// The current phase of a connection and the time since which it is in this phase. The event loop of the connection writes both values. The
/// connection table reads them when a new connection needs a place.
///
/// One atomic number contains both values. A reader therefore never gets a phase together with the start time of another phase.
final class ConnectionActivity: Sendable {
    /// The phases of a connection. A phase takes two bits of the atomic number.
    enum Phase: UInt64 {
        /// The connection is open, but no complete request has arrived so far.
        case fresh
        /// The connection has had a request, and waits for the next one.
        case idle
        /// The server waits for the client, which must send the rest of a body or read its responses.
        case waiting
        /// The server is processing a request.
        case working
    }

    /// The time in nanoseconds, shifted left by the two bits of the phase.
    private let packed: Atomic<UInt64>

    init(_ phase: Phase, since time: NIODeadline) {
        packed = Atomic(time.uptimeNanoseconds << 2 | phase.rawValue)
    }

    /// Records a phase. The call is one atomic store, so it is cheap enough for each request.
    func set(_ phase: Phase, since time: NIODeadline) {
        packed.store(time.uptimeNanoseconds << 2 | phase.rawValue, ordering: .relaxed)
    }

    /// The phase, and the time at which it began.
    var current: (phase: Phase, since: NIODeadline) {
        let packed = packed.load(ordering: .relaxed)
        return (Phase(rawValue: packed & 3) ?? .working, .uptimeNanoseconds(packed >> 2))
    }
}

/// The reasons why the server closes a connection.
enum ConnectionEnd: String, CaseIterable, Sendable {
    /// The head of a request did not arrive in time.
    case head
    /// The connection was idle for too long.
    case idle
    /// The body of a request stopped arriving.
    case body
    /// The client did not read its responses.
    case write
    /// The capacity was reached, and another connection needed the place.
    case capacity
    /// Another connection of the same client needed the place.
    case client
    /// The client sent too many bytes without waiting for the responses to its earlier requests.
    case pipeline
}

/// The reasons why the server closes a connection right after it accepted it.
enum ConnectionRefusal: String, CaseIterable, Sendable {
    /// The client has reached its limit of connections, and none of its connections can be closed.
    case client
    /// The capacity is reached, and no connection can be closed.
    case capacity
}

/// The open connections with their clients. When a new connection needs a place, the table chooses the connection to close. The table is a
/// value without side effects.
///
/// The table always admits a new connection if it can close an existing connection instead:
/// - If the client has reached its limit, the table closes one of this client's connections. It chooses only from groups 1 and 2 of the
///   list below. If these groups are empty, the table refuses the new connection.
/// - If the capacity is reached, the table closes a connection of the network (/48 or /24) with the most connections. Attackers who open
///   many connections from one network therefore can't keep clients of other networks out.
///
/// Within this network, the table closes connections of the client with the most connections first. It closes the connections of this
/// client in this order:
/// 1. connections that have been open for at least a second without a complete request;
/// 2. idle connections, which have had a request and wait for the next one;
/// 3. connections that have been open for less than a second without a complete request;
/// 4. connections on which the server waits for the client, which must send the rest of a body or read a response. The table closes such a
///    connection only if the connection's network has more connections than the new connection's network, counting the new connection.
///
/// Within each of these four groups, the table first closes the connection that has been in this state longest. The table never closes a
/// connection while the server is processing its request.
struct ConnectionTable<Handle> {
    struct ID: Hashable {
        fileprivate let number: UInt64
    }

    /// The client of a connection, and the client's network.
    struct Origin: Hashable, Sendable {
        let client: ClientAddress
        let network: ClientAddress
        /// Whether the limit of connections per client doesn't apply.
        let isExempt: Bool
    }

    /// The decision about a new connection.
    enum Admission {
        /// The table has admitted the new connection. The caller must close the connections in `closing`.
        case admitted(ID, closing: [(handle: Handle, end: ConnectionEnd)])
        /// The caller must close the new connection. No other connection is affected.
        case refused(ConnectionRefusal)
    }

    private struct Entry {
        let origin: Origin
        let activity: ConnectionActivity
        let handle: Handle
    }

    private struct Candidate {
        let id: ID
        let origin: Origin
        let rank: Int
        let since: NIODeadline
    }

    /// The number of open connections at which the table closes a connection for each new connection.
    let capacity: Int
    /// The largest number of connections of a client; `nil` for no limit.
    let perClient: Int?
    private var entries: [ID: Entry] = [:]
    private var clients: [ClientAddress: Set<ID>] = [:]
    private var networks: [ClientAddress: Int] = [:]
    private var lastNumber: UInt64 = 0

    /// Creates an empty table.
    init(capacity: Int, perClient: Int?) {
        self.capacity = capacity
        self.perClient = perClient
    }

    /// The number of open connections.
    var count: Int { entries.count }

    /// The number of connections that the table admits beyond the capacity if it can't close any connection.
    private var reserve: Int { min(128, max(8, capacity / 16)) }

    /// Whether at least three quarters of the capacity are used. If so, the server closes idle connections after
    /// ``ConnectionLimits/crowdedIdleTime``.
    var isCrowded: Bool { entries.count * 4 >= capacity * 3 }

    /// Admits a new connection if there is a place, or if the table can close other connections for it. When the method returns, the table
    /// has already removed the connections that the caller must close.
    ///
    /// - Parameters:
    ///   - origin: The client and its network.
    ///   - activity: The state of the connection, which its event loop changes later.
    ///   - handle: Closes the connection.
    ///   - now: The current time.
    /// - Complexity: O(1) below the limits. At the capacity, a call sorts all n connections of the g networks, which costs O(n log n + n ·
    ///   g / 64). Such a call usually frees 1/64 of the places, so that the next calls are O(1) again.
    mutating func open(_ origin: Origin, _ activity: ConnectionActivity, _ handle: Handle, at now: NIODeadline) -> Admission {
        var closing: [(handle: Handle, end: ConnectionEnd)] = []
        if let perClient, !origin.isExempt, let own = clients[origin.client], own.count >= perClient {
            let candidates = own.compactMap { candidate($0, at: now) }.filter { $0.rank <= Self.lastIdleRank }
            guard let victim = candidates.min(by: Self.isBefore), let entry = close(victim.id) else { return .refused(.client) }
            closing.append((entry.handle, .client))
        }
        if entries.count >= capacity {
            let count = entries.count - capacity + max(1, capacity / 64)
            for victim in victims(count, for: origin, at: now) {
                if let entry = close(victim) { closing.append((entry.handle, .capacity)) }
            }
            guard entries.count < capacity + reserve else { return .refused(.capacity) }
        }
        lastNumber += 1
        let id = ID(number: lastNumber)
        entries[id] = Entry(origin: origin, activity: activity, handle: handle)
        clients[origin.client, default: []].insert(id)
        networks[origin.network, default: 0] += 1
        return .admitted(id, closing: closing)
    }

    /// Removes a closed connection. Does nothing if the connection was removed before.
    mutating func remove(_ id: ID) { close(id) }

    /// Removes a connection from all indexes.
    @discardableResult private mutating func close(_ id: ID) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        clients[entry.origin.client]?.remove(id)
        if clients[entry.origin.client]?.isEmpty == true { clients[entry.origin.client] = nil }
        let others = (networks[entry.origin.network] ?? 1) - 1
        networks[entry.origin.network] = others > 0 ? others : nil
        return entry
    }

    /// Chooses the connections that the table closes for a new connection. After each choice, the method determines again which network has
    /// the most connections.
    private func victims(_ count: Int, for newcomer: Origin, at now: NIODeadline) -> [ID] {
        let share = (networks[newcomer.network] ?? 0) + 1
        var groups: [ClientAddress: [Candidate]] = [:]
        var exempt: Candidate?
        for id in entries.keys {
            guard let candidate = candidate(id, at: now) else { continue }
            if !candidate.origin.isExempt {
                let size = networks[candidate.origin.network] ?? 0
                guard candidate.rank < Self.inFlightRank || size > share else { continue }
                groups[candidate.origin.network, default: []].append(candidate)
            } else if candidate.rank <= Self.lastIdleRank, exempt.map({ Self.isBefore(candidate, $0) }) ?? true {
                exempt = candidate
            }
        }
        // A trusted proxy carries many clients on each connection. Such a connection is closed only if no other connection can be closed.
        guard !groups.isEmpty else { return exempt.map { [$0.id] } ?? [] }
        // The arrays are sorted so that the last element is the connection to close next.
        var queues = groups.map { network, candidates in
            (size: networks[network] ?? 0, candidates: candidates.sorted { isFirst($1, before: $0) })
        }
        var victims: [ID] = []
        while victims.count < count, let index = queues.indices.max(by: { isLess(queues[$0], queues[$1]) }),
            let victim = queues[index].candidates.popLast()
        {
            victims.append(victim.id)
            queues[index].size -= 1
        }
        return victims
    }

    /// Returns whether network `other` loses a connection before network `one`. The network with more connections loses a connection first.
    /// If both networks have the same number, the table compares the connections that it would close next in each network; see
    /// ``isBefore(_:_:)``.
    private func isLess(_ one: (size: Int, candidates: [Candidate]), _ other: (size: Int, candidates: [Candidate])) -> Bool {
        guard let first = one.candidates.last else { return !other.candidates.isEmpty }
        guard let second = other.candidates.last else { return false }
        return one.size != other.size ? one.size < other.size : Self.isBefore(second, first)
    }

    /// Returns whether the table closes one connection of a network before another connection of the same network. The connection whose
    /// client has more connections comes first.
    private func isFirst(_ one: Candidate, before other: Candidate) -> Bool {
        let (first, second) = (clients[one.origin.client]?.count ?? 0, clients[other.origin.client]?.count ?? 0)
        return first != second ? first > second : Self.isBefore(one, other)
    }

    /// Returns whether the table closes one connection before another. The connection with the lower rank comes first. If the ranks are
    /// equal, the connection that has waited longer comes first.
    private static func isBefore(_ one: Candidate, _ other: Candidate) -> Bool {
        one.rank != other.rank ? one.rank < other.rank : one.since < other.since
    }

    /// The highest rank at which the table closes a connection for another connection of the same client.
    private static var lastIdleRank: Int { 1 }
    /// The rank of connections on which the server waits for the client to send the rest of a body or to read a response.
    private static var inFlightRank: Int { 3 }

    /// Returns a connection with its rank, which determines the order of closing; `nil` if the server is processing a request of the
    /// connection, so that the table must not close it.
    private func candidate(_ id: ID, at now: NIODeadline) -> Candidate? {
        guard let entry = entries[id] else { return nil }
        let (phase, since) = entry.activity.current
        let rank: Int
        switch phase {
        case .fresh: rank = now - since >= .seconds(1) ? 0 : 2
        case .idle: rank = 1
        case .waiting: rank = Self.inFlightRank
        case .working: return nil
        }
        return Candidate(id: id, origin: entry.origin, rank: rank, since: since)
    }
}

extension ConnectionTable.Origin {
    /// Creates the origin of a connection from an address. A local socket has no address, and the limit per client doesn't apply to it.
    init(_ peer: IPAddress?, identity: ClientIdentity) {
        guard let peer else {
            self.init(client: .unknown, network: .unknown, isExempt: true)
            return
        }
        self.init(
            client: ClientAddress(peer, ipv6Prefix: identity.ipv6Prefix),
            network: ClientAddress(peer.version == .v4 ? peer.prefix(24) : peer, ipv6Prefix: 48),
            isExempt: identity.trustedProxies.contains { $0.contains(peer) }
        )
    }
}
