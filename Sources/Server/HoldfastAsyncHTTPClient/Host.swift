import AsyncHTTPClient
import NIOCore
import Synchronization

/// A server, with the event loops of its exchanges and a queue of the exchanges that wait for a connection.
///
/// AsyncHTTPClient (the engine) gives a free connection to the exchange that has waited longest, even if the connection and the exchange
/// belong to different event loops. Each step of the exchange then switches between two threads. A host therefore has as many slots as the
/// engine opens connections, and each slot belongs to one event loop. An exchange runs on the loop of its slot. When it ends, the same loop
/// starts the next exchange, and the engine finds a free connection of this loop. All slots share one queue, first in, first out.
///
/// With HTTP/2, all exchanges share one connection, so they don't wait for slots. A host with TLS has no slots until its first response
/// shows the version of HTTP.
final class Host: Sendable {
    /// The address of a server.
    struct Key: Hashable {
        var scheme: String
        var name: String
        var port: Int
    }

    /// The event loop of an exchange.
    struct Place {
        /// The event loop.
        let member: EventLoops.Member
        /// Whether the loop ran no other exchange at the start.
        let wasIdle: Bool
        /// The index of the slot; `nil` if the exchange has no slot.
        fileprivate let slot: Int?
    }

    /// An exchange that waits for a slot.
    private struct Waiter {
        let id: ObjectIdentifier
        let deadline: NIODeadline
        let run: Start
    }

    /// Starts an exchange at its place, or ends it with an error.
    typealias Start = @Sendable (Result<Place, any Error>) -> Void

    /// The slots and the queue.
    private struct State {
        /// Whether each slot is in use. The array grows up to the number of connections.
        var isTaken: [Bool] = []
        /// The number of running exchanges.
        var running = 0
        var waiters = CircularBuffer<Waiter>(initialCapacity: 0)
        /// The next time at which the queue is searched for expired exchanges.
        var check: (time: NIODeadline, task: Scheduled<Void>)?

        /// Takes the first free slot. Returns `nil` if all slots are in use.
        mutating func takeSlot(of connections: Int) -> Int? {
            let slot = isTaken.firstIndex(of: false) ?? isTaken.count
            guard slot < connections else { return nil }
            if slot == isTaken.count { isTaken.append(true) } else { isTaken[slot] = true }
            return slot
        }

        /// Removes and returns all waiting exchanges.
        mutating func removeWaiters() -> CircularBuffer<Waiter> {
            defer { waiters.removeAll() }
            return waiters
        }
    }

    private let members: [EventLoops.Member]
    /// The index of the event loop that the host prefers.
    private let base: Int
    /// The maximum number of connections with HTTP/1.
    private let connections: Int
    /// Whether the server speaks HTTP/1.
    private let isHTTP1: Atomic<Bool>
    private let turns = Atomic<UInt>(0)
    private let state: Mutex<State>

    /// Creates a host.
    /// - Parameters:
    ///   - key: The address.
    ///   - members: The event loops.
    ///   - connections: The maximum number of connections with HTTP/1.
    init(_ key: Key, members: [EventLoops.Member], connections: Int) {
        (self.members, self.connections) = (members, max(1, connections))
        base = Int(UInt(bitPattern: key.hashValue) % UInt(members.count))
        // The engine speaks HTTP/2 only over TLS.
        isHTTP1 = Atomic(key.scheme == "http")
        state = Mutex(State())
    }

    /// Whether no exchange runs or waits.
    var isUnused: Bool { state.withLock { $0.running == 0 && $0.waiters.isEmpty } }

    /// Calls a closure with the place of an exchange: now if a slot is free, otherwise later on the event loop of the slot that becomes
    /// free. Call ``leave(_:)`` at the end of the exchange.
    /// - Parameters:
    ///   - id: The identity of the exchange.
    ///   - deadline: The time until which the exchange waits.
    ///   - run: Starts the exchange. The argument is an error if the deadline has passed, or if no connection can be opened.
    func enter(_ id: ObjectIdentifier, until deadline: NIODeadline, run: @escaping Start) {
        let place = state.withLock { state -> Place? in
            if let place = takePlace(&state) { return place }
            state.waiters.append(Waiter(id: id, deadline: deadline, run: run))
            if state.check.map({ deadline < $0.time }) ?? true { scheduleCheck(at: deadline, &state) }
            return nil
        }
        if let place { run(.success(place)) }
    }

    /// Returns a place for an exchange that can't wait: with a slot if one is free, otherwise without one. Call ``leave(_:)`` at the end
    /// of the exchange.
    func enterWithoutWaiting() -> Place {
        state.withLock { state in
            if let place = takePlace(&state) { return place }
            state.running += 1
            return placeWithoutSlot()
        }
    }

    /// Counts an exchange, and returns its place. With HTTP/1, returns `nil` if no slot is free.
    private func takePlace(_ state: inout State) -> Place? {
        guard isHTTP1.load(ordering: .relaxed) else {
            state.running += 1
            return placeWithoutSlot()
        }
        guard let slot = state.takeSlot(of: connections) else { return nil }
        state.running += 1
        let member = members[(base + slot) % members.count]
        return Place(member: member, wasIdle: member.reserve(), slot: slot)
    }

    /// Returns a place on the preferred event loop. If this loop is busy, the method compares it with another loop, and chooses the one
    /// that runs fewer exchanges.
    private func placeWithoutSlot() -> Place {
        var member = members[base]
        if member.exchanges > 0 {
            let other = members[Int(turns.wrappingAdd(1, ordering: .relaxed).newValue % UInt(members.count))]
            if other.exchanges < member.exchanges { member = other }
        }
        return Place(member: member, wasIdle: member.reserve(), slot: nil)
    }

    /// Reports the end of an exchange. Its slot goes to the exchange that has waited longest.
    /// - Parameter place: The place of the exchange.
    func leave(_ place: Place) {
        let next = state.withLock { state -> Waiter? in
            if let slot = place.slot {
                if let waiter = state.waiters.popFirst() { return waiter }
                state.isTaken[slot] = false
            }
            state.running -= 1
            return nil
        }
        guard let next else { return place.member.release() }
        place.member.loop.execute { next.run(.success(Place(member: place.member, wasIdle: false, slot: place.slot))) }
    }

    /// Removes an exchange from the queue.
    /// - Parameter id: The identity of the exchange.
    /// - Returns: Whether the exchange was in the queue.
    func withdraw(_ id: ObjectIdentifier) -> Bool {
        state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0.id == id }) else { return false }
            state.waiters.remove(at: place)
            return true
        }
    }

    /// Ends all waiting exchanges, because no connection to the server can be opened. Otherwise each of them would wait for the failure of
    /// its own connection, one after another.
    /// - Parameter error: The error of the connection.
    func fail(_ error: any Error) {
        for waiter in state.withLock({ $0.removeWaiters() }) { waiter.run(.failure(error)) }
    }

    /// Records the version of a response. If the server speaks HTTP/2 now, all waiting exchanges start.
    /// - Parameter waits: Whether the version is HTTP/1, so that exchanges wait for slots.
    func note(isHTTP1 waits: Bool) {
        guard isHTTP1.load(ordering: .relaxed) != waits else { return }
        let waiters = state.withLock { state -> CircularBuffer<Waiter> in
            isHTTP1.store(waits, ordering: .relaxed)
            guard !waits else { return [] }
            state.running += state.waiters.count
            return state.removeWaiters()
        }
        for waiter in waiters {
            let place = placeWithoutSlot()
            place.member.loop.execute { waiter.run(.success(place)) }
        }
    }

    /// Schedules the next search for expired exchanges.
    private func scheduleCheck(at time: NIODeadline, _ state: inout State) {
        state.check?.task.cancel()
        state.check = (time, members[base].loop.scheduleTask(deadline: time) { [weak self] in self?.removeExpired() })
    }

    /// Removes the exchanges whose deadline has passed from the queue, and schedules the next search.
    private func removeExpired() {
        let expired: [Waiter] = state.withLock { state in
            let now = NIODeadline.now()
            let expired = Array(state.waiters.filter { $0.deadline <= now })
            state.waiters.removeAll { $0.deadline <= now }
            state.check = nil
            if let next = state.waiters.map(\.deadline).min() { scheduleCheck(at: next, &state) }
            return expired
        }
        for waiter in expired { waiter.run(.failure(HTTPClientError.getConnectionFromPoolTimeout)) }
    }
}
