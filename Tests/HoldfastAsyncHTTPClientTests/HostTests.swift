import AsyncHTTPClient
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite(.timeLimit(.minutes(10))) struct HostTests {
    private static let http = Host.Key(scheme: "http", name: "a", port: 80)
    private static let https = Host.Key(scheme: "https", name: "a", port: 443)

    /// The exchanges that a host has started or ended, in order.
    private final class Exchanges: Sendable {
        let started = Mutex<[(number: Int, place: Host.Place)]>([])
        let failed = Mutex<[Int]>([])
        let ids = (0..<16).map { _ in Identity() }
        let host: Host

        final class Identity: Sendable {}

        init(_ host: Host) {
            self.host = host
        }

        var numbers: [Int] { started.withLock { $0.map(\.number) } }
        func place(_ number: Int) -> Host.Place? { started.withLock { $0.first { $0.number == number }?.place } }
        func id(_ number: Int) -> ObjectIdentifier { ObjectIdentifier(ids[number]) }

        func enter(_ number: Int, until deadline: NIODeadline = .distantFuture) {
            host.enter(id(number), until: deadline) { entry in
                switch entry {
                case .success(let place): self.started.withLock { $0.append((number, place)) }
                case .failure: self.failed.withLock { $0.append(number) }
                }
            }
        }

        /// Ends an exchange, and waits until its event loop has started the next one.
        func leave(_ number: Int) async throws {
            guard let place = place(number) else { return }
            host.leave(place)
            try await place.member.loop.submit {}.get()
        }
    }

    @Test("Runs consecutive exchanges on one event loop")
    func sequential() async throws {
        try await withHost(loops: 4, connections: 8) { exchanges in
            for number in 0..<10 {
                exchanges.enter(number)
                try await exchanges.leave(number)
            }
            let places = exchanges.started.withLock { $0.map(\.place) }
            #expect(places.allSatisfy { $0.member === places[0].member && $0.wasIdle })
        }
    }

    @Test("Gives each event loop the same number of concurrent exchanges")
    func concurrent() async throws {
        try await withHost(loops: 2, connections: 8) { exchanges in
            for number in 0..<10 { exchanges.enter(number) }
            let members = exchanges.started.withLock { $0.map(\.place.member) }
            let shares = Dictionary(grouping: members) { ObjectIdentifier($0) }.values.map(\.count)
            #expect(shares == [4, 4])
        }
    }

    @Test("Starts waiting exchanges in order, on the loop of the exchange that ended")
    func order() async throws {
        try await withHost(loops: 2, connections: 2) { exchanges in
            for number in 0..<5 { exchanges.enter(number) }
            #expect(exchanges.numbers == [0, 1])
            try await exchanges.leave(1)
            try await exchanges.leave(0)
            try await exchanges.leave(2)
            #expect(exchanges.numbers == [0, 1, 2, 3, 4])
            #expect(exchanges.place(2)?.member === exchanges.place(1)?.member)
            #expect(exchanges.place(3)?.member === exchanges.place(0)?.member)
            #expect(exchanges.place(4)?.member === exchanges.place(2)?.member)
            try await exchanges.leave(3)
            #expect(!exchanges.host.isUnused)
            try await exchanges.leave(4)
            #expect(exchanges.host.isUnused)
        }
    }

    @Test("Does not start an exchange that was withdrawn")
    func withdrawal() async throws {
        try await withHost(loops: 1, connections: 1) { exchanges in
            for number in 0..<3 { exchanges.enter(number) }
            #expect(exchanges.host.withdraw(exchanges.id(1)))
            #expect(!exchanges.host.withdraw(exchanges.id(1)))
            #expect(!exchanges.host.withdraw(exchanges.id(0)))
            try await exchanges.leave(0)
            #expect(exchanges.numbers == [0, 2])
        }
    }

    @Test("Refuses only the exchanges whose deadline has passed")
    func deadline() async throws {
        try await withHost(loops: 1, connections: 1) { exchanges in
            exchanges.enter(0)
            exchanges.enter(1, until: .now() + .hours(1))
            exchanges.enter(2, until: .now())
            exchanges.enter(3, until: .now())
            while exchanges.failed.withLock(\.count) < 2 { try await exchanges.place(0)?.member.loop.submit {}.get() }
            #expect(exchanges.failed.withLock { Set($0) } == [2, 3])
            try await exchanges.leave(0)
            #expect(exchanges.numbers == [0, 1])
        }
    }

    @Test("Ends all waiting exchanges if no connection can be opened")
    func unreachable() async throws {
        try await withHost(loops: 1, connections: 1) { exchanges in
            for number in 0..<3 { exchanges.enter(number) }
            exchanges.host.fail(HTTPClientError.connectTimeout)
            #expect(exchanges.failed.withLock(\.self) == [1, 2])
            try await exchanges.leave(0)
            #expect(exchanges.host.isUnused)
        }
    }

    @Test("Starts every exchange at once with any number of connections")
    func unlimited() async throws {
        try await withHost(loops: 2, connections: .max) { exchanges in
            for number in 0..<16 { exchanges.enter(number) }
            #expect(exchanges.numbers == Array(0..<16))
        }
    }

    @Test("An exchange that can't wait takes a free slot, and starts also without one")
    func withoutWaiting() async throws {
        try await withHost(loops: 1, connections: 1) { exchanges in
            let first = exchanges.host.enterWithoutWaiting()
            let second = exchanges.host.enterWithoutWaiting()
            exchanges.enter(0)
            exchanges.host.leave(second)
            try await second.member.loop.submit {}.get()
            #expect(exchanges.numbers == [])
            exchanges.host.leave(first)
            try await first.member.loop.submit {}.get()
            #expect(exchanges.numbers == [0])
        }
    }

    @Test("Lets exchanges over TLS wait only while the server speaks HTTP/1")
    func versions() async throws {
        try await withHost(Self.https, loops: 1, connections: 1) { exchanges in
            exchanges.enter(0)
            exchanges.enter(1)
            #expect(exchanges.numbers == [0, 1])
            exchanges.host.note(isHTTP1: true)
            for number in 2..<5 { exchanges.enter(number) }
            #expect(exchanges.numbers == [0, 1, 2])
            exchanges.host.note(isHTTP1: false)
            try await exchanges.place(0)?.member.loop.submit {}.get()
            #expect(exchanges.numbers == [0, 1, 2, 3, 4])
            for number in 0..<5 { try await exchanges.leave(number) }
            #expect(exchanges.host.isUnused)
        }
    }

    @Test("Spreads exchanges without a queue over the event loops")
    func withoutSlots() async throws {
        try await withHost(Self.https, loops: 4, connections: 1) { exchanges in
            let members = (0..<64).map { _ in exchanges.host.enterWithoutWaiting().member }
            let shares = Dictionary(grouping: members) { ObjectIdentifier($0) }.values.map(\.count)
            #expect(shares.count == 4)
            #expect(shares.allSatisfy { (8...32).contains($0) }, "\(shares)")
        }
    }

    @Test("Forgets only hosts without exchanges")
    func hosts() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loops = EventLoops(group, connections: 1)
        let busy = loops.host(Self.http)
        let place = busy.enterWithoutWaiting()
        let unused = loops.host(Self.https)
        #expect(loops.host(Self.https) === unused)
        for number in 0..<200 { _ = loops.host(Host.Key(scheme: "http", name: "\(number)", port: 80)) }
        #expect(loops.host(Self.http) === busy)
        #expect(loops.host(Self.https) !== unused)
        busy.leave(place)
        try await group.shutdownGracefully()
    }

    private func withHost(
        _ key: Host.Key = Self.http,
        loops: Int,
        connections: Int,
        _ body: (Exchanges) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: loops)
        try await body(Exchanges(EventLoops(group, connections: connections).host(key)))
        try await group.shutdownGracefully()
    }
}
