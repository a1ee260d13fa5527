import NIOCore
import Synchronization

/// What a connection is doing: written by its event loop, read by whoever needs its place.
final class ConnectionActivity: Sendable {
    enum Phase: UInt64 {
        /// No request has arrived completely so far.
        case fresh
        /// Between two requests.
        case idle
        /// The client has to go on: it sends a body, or it does not read its responses.
        case waiting
        /// The server has to go on.
        case working
    }

    /// The time in nanoseconds, shifted by the two bits of the phase.
    private let packed: Atomic<UInt64>

    init(_ phase: Phase, since time: NIODeadline) {
        packed = Atomic(time.uptimeNanoseconds << 2 | phase.rawValue)
    }

    func set(_ phase: Phase, since time: NIODeadline) {
        packed.store(time.uptimeNanoseconds << 2 | phase.rawValue, ordering: .relaxed)
    }

    var current: (phase: Phase, since: NIODeadline) {
        let packed = packed.load(ordering: .relaxed)
        return (Phase(rawValue: packed & 3) ?? .working, .uptimeNanoseconds(packed >> 2))
    }
}

/// Why the server closed a connection.
enum ConnectionEnd: String, CaseIterable, Sendable {
    /// The head of a request did not arrive in time.
    case head
    /// Idle for too long.
    case idle
    /// The body of a request did not go on.
    case body
    /// The client did not read its responses.
    case write
    /// Its place was needed for another connection.
    case capacity
    /// Its place was needed for another connection of the same client.
    case client
    /// Too many bytes were sent ahead of their responses.
    case pipeline
}

/// Why a connection was closed as soon as it was accepted.
enum ConnectionRefusal: String, CaseIterable, Sendable {
    /// Its client has as many connections as it may have, and none of them can be closed for it.
    case client
    /// There are as many connections as there may be, and none of them can be closed for it.
    case capacity
}

/// The open connections: who has them, and which one is closed if a new one needs its place. A pure value.
///
/// A new connection is always let in if there is one that can be closed for it:
/// - at a client's own limit, the one of its connections that waited longest;
/// - at the capacity, connections of the network (/48 or /24) that has most of them. So however many connections attackers have,
///   a client from another network gets its place from them.
///
/// Among connections of one network those of the client with most connections are closed first; then those on which no request
/// has arrived within a second, then idle ones, each from the longest waiting on. A connection on which a request or a response
/// is under way is closed only for a client of a network with fewer connections, and never while the server itself works on the
/// request.
struct ConnectionTable<Handle> {
    struct ID: Hashable {
        fileprivate let number: UInt64
    }

    /// Who a connection comes from.
    struct Origin: Hashable, Sendable {
        let client: ClientAddress
        let network: ClientAddress
        /// Whether no limit per client applies.
        let isExempt: Bool
    }

    enum Admission {
        /// Let in, after these have been closed.
        case admitted(ID, closing: [(handle: Handle, end: ConnectionEnd)])
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

    let capacity: Int
    let perClient: Int?
    private var entries: [ID: Entry] = [:]
    private var clients: [ClientAddress: Set<ID>] = [:]
    private var networks: [ClientAddress: Int] = [:]
    private var lastNumber: UInt64 = 0

    init(capacity: Int, perClient: Int?) {
        self.capacity = capacity
        self.perClient = perClient
    }

    var count: Int { entries.count }

    /// How many more may be open for as long as no connection can be closed, since all are being worked on.
    private var reserve: Int { min(128, max(8, capacity / 16)) }

    /// Whether idle connections have less time.
    var isCrowded: Bool { entries.count * 4 >= capacity * 3 }

    /// Lets a connection in, if there is room or room can be made.
    ///
    /// O(1) below the limits. At the capacity O(connections), once for many new connections: places for one in 64 are made at
    /// once.
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

    /// Removes a connection that is closed; does nothing if it has been removed before.
    mutating func remove(_ id: ID) { close(id) }

    @discardableResult private mutating func close(_ id: ID) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        clients[entry.origin.client]?.remove(id)
        if clients[entry.origin.client]?.isEmpty == true { clients[entry.origin.client] = nil }
        let others = (networks[entry.origin.network] ?? 1) - 1
        networks[entry.origin.network] = others > 0 ? others : nil
        return entry
    }

    /// The connections to close, one after another from the network that has most.
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
        // A proxy has many clients behind each connection: closed only if there is no other.
        guard !groups.isEmpty else { return exempt.map { [$0.id] } ?? [] }
        // The next one to close is the last.
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

    private func isLess(_ one: (size: Int, candidates: [Candidate]), _ other: (size: Int, candidates: [Candidate])) -> Bool {
        guard let first = one.candidates.last else { return !other.candidates.isEmpty }
        guard let second = other.candidates.last else { return false }
        return one.size != other.size ? one.size < other.size : Self.isBefore(second, first)
    }

    private func isFirst(_ one: Candidate, before other: Candidate) -> Bool {
        let (first, second) = (clients[one.origin.client]?.count ?? 0, clients[other.origin.client]?.count ?? 0)
        return first != second ? first > second : Self.isBefore(one, other)
    }

    private static func isBefore(_ one: Candidate, _ other: Candidate) -> Bool {
        one.rank != other.rank ? one.rank < other.rank : one.since < other.since
    }

    /// The last rank of connections that are closed for others of the same client.
    private static var lastIdleRank: Int { 1 }
    /// The rank of connections on which a request or a response is under way.
    private static var inFlightRank: Int { 3 }

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
    /// The origin of a connection from an address; without one, as on a local socket, no limit per client applies.
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
