import NIOCore
import Synchronization

/// A list of event loops, which chooses the loop of each exchange.
///
/// Consecutive calls to a host get the same loop, which also runs their shared connection. If an exchange and its connection were on two
/// loops, each step would switch between two threads. Concurrent calls to a host get different loops, so that the loops share the work.
final class EventLoops: Sendable {
    /// An event loop and the number of exchanges that it runs.
    final class Member: Sendable {
        /// The event loop.
        let loop: any EventLoop
        /// The number of exchanges that the loop runs.
        fileprivate let load = Atomic(0)

        init(_ loop: any EventLoop) {
            self.loop = loop
        }

        /// Reports the end of an exchange. The caller of ``EventLoops/acquire(host:)`` must call this method exactly once.
        func release() {
            load.subtract(1, ordering: .relaxed)
        }
    }

    private let members: [Member]
    private let turns = Atomic<UInt>(0)

    /// Creates a list of a group's event loops.
    /// - Parameter group: The group, which has at least one event loop.
    init(_ group: any EventLoopGroup) {
        members = group.makeIterator().map { Member($0) }
    }

    /// Returns the event loop for an exchange with a host. Each host has a fixed loop. If this loop is busy, the method compares it with
    /// another loop, and returns the one that runs fewer exchanges.
    ///
    /// The method reads the numbers of exchanges without a lock, so concurrent calls may choose the same loop.
    /// - Parameter host: The host of the request.
    /// - Returns: The loop, and whether it was idle. The caller must release the loop at the end of the exchange.
    func acquire(host: String) -> (Member, wasIdle: Bool) {
        let count = UInt(members.count)
        var member = members[Int(UInt(bitPattern: host.hashValue) % count)]
        if member.load.load(ordering: .relaxed) > 0 {
            let other = members[Int(turns.wrappingAdd(1, ordering: .relaxed).newValue % count)]
            if other.load.load(ordering: .relaxed) < member.load.load(ordering: .relaxed) { member = other }
        }
        return (member, member.load.add(1, ordering: .relaxed).oldValue == 0)
    }
}
