import NIOCore
import Synchronization

/// The event loops of a transport, and the hosts whose exchanges run on them.
final class EventLoops: Sendable {
    /// An event loop and the number of exchanges that it runs.
    final class Member: Sendable {
        /// The event loop.
        let loop: any EventLoop
        private let load = Atomic(0)

        init(_ loop: any EventLoop) {
            self.loop = loop
        }

        /// The number of exchanges that the loop runs. Other threads can change the number at any time.
        var exchanges: Int { load.load(ordering: .relaxed) }

        /// Counts a further exchange. Call ``release()`` at its end.
        /// - Returns: Whether the loop ran no exchange before.
        func reserve() -> Bool { load.add(1, ordering: .relaxed).oldValue == 0 }

        /// Reports the end of an exchange.
        func release() {
            load.subtract(1, ordering: .relaxed)
        }
    }

    /// The hosts with recent exchanges.
    private struct Hosts {
        var known: [Host.Key: Host] = [:]
        /// The number of hosts at which the list forgets the hosts without exchanges.
        var limit = leastLimit

        static let leastLimit = 64
    }

    private let members: [Member]
    private let connections: Int
    private let hosts = Mutex(Hosts())

    /// Creates a list of a group's event loops.
    /// - Parameters:
    ///   - group: The group, which has at least one event loop.
    ///   - connections: The maximum number of connections to a host that speaks HTTP/1.
    init(_ group: any EventLoopGroup, connections: Int) {
        members = group.makeIterator().map { Member($0) }
        self.connections = connections
    }

    /// Returns a host, which owns the queue of its exchanges.
    /// - Parameter key: The address of the host.
    func host(_ key: Host.Key) -> Host {
        hosts.withLock { hosts in
            if let host = hosts.known[key] { return host }
            if hosts.known.count >= hosts.limit {
                hosts.known = hosts.known.filter { !$0.value.isUnused }
                hosts.limit = max(Hosts.leastLimit, 2 * hosts.known.count)
            }
            let host = Host(key, members: members, connections: connections)
            hosts.known[key] = host
            return host
        }
    }
}
