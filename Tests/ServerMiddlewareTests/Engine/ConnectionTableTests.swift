import HoldfastTesting
import NIOCore
import Testing

@testable import ServerMiddleware

@Suite struct ConnectionTableTests {
    /// A table, its time, and the state of each connection.
    private final class Fixture {
        var table: ConnectionTable<Int>
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        var activities: [Int: ConnectionActivity] = [:]
        var ids: [Int: ConnectionTable<Int>.ID] = [:]
        var closed: [Int: ConnectionEnd] = [:]
        var refused: [ConnectionRefusal] = []
        private var last = 0

        init(capacity: Int, perClient: Int? = nil) {
            table = ConnectionTable(capacity: capacity, perClient: perClient)
        }

        /// Opens a connection and sets its state.
        /// - Returns: The number of the connection; `nil` if it was refused.
        @discardableResult
        func open(
            _ address: String,
            _ phase: ConnectionActivity.Phase = .idle,
            identity: ClientIdentity = ClientIdentity()
        ) -> Int? {
            let activity = ConnectionActivity(.fresh, since: now)
            last += 1
            switch table.open(.init(IPAddress(address), identity: identity), activity, last, at: now) {
            case .refused(let reason):
                refused.append(reason)
                return nil
            case .admitted(let id, let closing):
                for (handle, end) in closing { closed[handle] = end }
                activity.set(phase, since: now)
                (activities[last], ids[last]) = (activity, id)
                return last
            }
        }

        func wait(_ time: TimeAmount) { now = now + time }
    }

    @Test("At its limit a client's own longest idle connection is closed for its new one")
    func clientLimit() throws {
        let fixture = Fixture(capacity: 100, perClient: 3)
        let numbers = (0..<3).compactMap { _ in
            fixture.wait(.seconds(1))
            return fixture.open("192.0.2.1")
        }
        let other = fixture.open("192.0.2.2")
        fixture.activities[numbers[0]]?.set(.working, since: fixture.now)
        #expect(fixture.open("192.0.2.1") != nil)
        #expect(fixture.closed == [numbers[1]: .client])
        #expect(fixture.table.count == 4 && other != nil)
    }

    @Test(
        "Refuses a client at its limit whose connections are all in use",
        arguments: [ConnectionActivity.Phase.working, .waiting, .fresh]
    )
    func clientRefused(phase: ConnectionActivity.Phase) {
        let fixture = Fixture(capacity: 100, perClient: 3)
        for _ in 0..<4 { fixture.open("192.0.2.1", phase) }
        #expect(fixture.refused == [.client])
        #expect(fixture.closed.isEmpty)
    }

    @Test("All addresses of a /64 network are one client")
    func network64() {
        let fixture = Fixture(capacity: 100, perClient: 3)
        for number in 1...4 { fixture.open("2001:db8::\(number)", .working) }
        #expect(fixture.open("2001:db8:0:1::1") != nil)
        #expect(fixture.refused == [.client])
    }

    @Test("A proxy can have all connections")
    func proxy() throws {
        let identity = ClientIdentity(trustedProxies: [try IPRange("192.0.2.0/24")])
        let fixture = Fixture(capacity: 100, perClient: 3)
        for _ in 0..<99 { fixture.open("192.0.2.1", .working, identity: identity) }
        #expect(fixture.refused.isEmpty && fixture.table.count == 99)
    }

    @Test("At the capacity the network with most connections loses one")
    func largestNetwork() {
        let fixture = Fixture(capacity: 16)
        let innocent = (1...4).compactMap { fixture.open("203.0.\($0).1") }
        fixture.wait(.seconds(5))
        // Newer connections, spread over the addresses of one network.
        let attackers = Set((1...12).compactMap { fixture.open("198.51.100.\($0)") })
        for number in 10...19 { fixture.open("203.0.\(number).1") }
        #expect(fixture.closed.count == 10)
        #expect(Set(fixture.closed.keys).isSubset(of: attackers))
        #expect(fixture.closed.values.allSatisfy { $0 == .capacity })
        #expect(innocent.count == 4 && fixture.table.count == 16)
    }

    @Test("Evicts among equal networks connections without a request, then the longest idle")
    func order() throws {
        let fixture = Fixture(capacity: 4)
        let working = try #require(fixture.open("203.0.1.1", .working))
        let idle = try #require(fixture.open("203.0.2.1"))
        fixture.wait(.seconds(1))
        let laterIdle = try #require(fixture.open("203.0.3.1"))
        let silent = try #require(fixture.open("203.0.4.1", .fresh))
        fixture.wait(.seconds(2))
        var order: [Int] = []
        for number in 10...12 {
            fixture.open("203.0.\(number).1", .working)
            order += fixture.closed.keys.filter { !order.contains($0) }
        }
        #expect(order == [silent, idle, laterIdle])
        #expect(fixture.closed[working] == nil)
    }

    @Test("Keeps connections with a request in flight, and admits a few more")
    func working() {
        let fixture = Fixture(capacity: 16)
        for number in 0..<30 { fixture.open("203.0.\(number).1", .working) }
        #expect(fixture.closed.isEmpty)
        #expect(fixture.table.count == 24)
        #expect(fixture.refused == Array(repeating: .capacity, count: 6))
    }

    @Test("Ends a response in flight only for a network with fewer connections")
    func underWay() throws {
        let fixture = Fixture(capacity: 16)
        let reader = try #require(fixture.open("203.0.1.1", .waiting))
        for number in 1...15 { fixture.open("198.51.100.\(number)", .working) }
        fixture.open("203.0.2.1", .working)
        #expect(fixture.closed.isEmpty)
        for activity in fixture.activities.values { activity.set(.waiting, since: fixture.now) }
        for number in 10...20 { fixture.open("203.0.\(number).1", .waiting) }
        #expect(fixture.closed[reader] == nil)
        #expect(fixture.closed.count == 12)
    }

    @Test("A trusted proxy loses a connection only if there is no other")
    func proxyLast() throws {
        let identity = ClientIdentity(trustedProxies: [try IPRange("192.0.2.1")])
        let fixture = Fixture(capacity: 8)
        let proxied = (0..<7).compactMap { _ in fixture.open("192.0.2.1", identity: identity) }
        let direct = try #require(fixture.open("203.0.1.1"))
        fixture.open("192.0.2.1", .working, identity: identity)
        #expect(fixture.closed == [direct: .capacity])
        fixture.open("192.0.2.1", .working, identity: identity)
        #expect(fixture.closed.count == 2 && proxied.contains { fixture.closed[$0] == .capacity })
    }

    @Test("In random use counts stay within the limits and return to zero")
    func random() {
        var random = SplitMix64(seed: 11)
        let fixture = Fixture(capacity: 64, perClient: 8)
        let phases: [ConnectionActivity.Phase] = [.fresh, .idle, .waiting, .working]
        var open: Set<Int> = []
        for _ in 0..<5_000 {
            fixture.wait(.milliseconds(Int64.random(in: 0...400, using: &random)))
            if let some = open.randomElement(using: &random), Int.random(in: 0..<3, using: &random) == 0 {
                if let id = fixture.ids[some] { fixture.table.remove(id) }
                open.remove(some)
            } else {
                let address = "203.0.\(Int.random(in: 0..<8, using: &random)).\(Int.random(in: 0..<8, using: &random))"
                if let number = fixture.open(address, phases.randomElement(using: &random) ?? .idle) { open.insert(number) }
            }
            open.subtract(fixture.closed.keys)
            #expect(fixture.table.count == open.count)
            #expect(open.count <= 72)
        }
        for number in open { if let id = fixture.ids[number] { fixture.table.remove(id) } }
        #expect(fixture.table.count == 0)
        #expect(!fixture.table.isCrowded)
    }
}
