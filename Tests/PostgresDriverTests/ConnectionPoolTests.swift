import HoldfastTesting
import Testing

@testable import PostgresDriver

@Suite struct ConnectionPoolTests {
    private func pool(minimum: Int = 0, maximum: Int = 2, seed: UInt64 = 1) -> ConnectionPool {
        ConnectionPool(limits: .init(minimum: minimum, maximum: maximum), generator: SplitMix64(seed: seed))
    }

    @Test("Opens a connection for the first waiter and leases it")
    func first() {
        var pool = pool()
        #expect(pool.handle(.acquire(1, deadline: .seconds(5)), at: .zero) == [.open(1)])
        #expect(pool.handle(.opened(1), at: .zero) == [.lease(1, 1)])
        #expect(pool.handle(.returned(1, isReusable: true), at: .zero) == [])
        #expect(pool.handle(.acquire(2, deadline: .seconds(5)), at: .zero) == [.lease(1, 2)])
    }

    @Test("Opens no more than the maximum, and serves waiters in order")
    func maximum() {
        var pool = pool()
        #expect(pool.handle(.acquire(1, deadline: .seconds(5)), at: .zero) == [.open(1)])
        #expect(pool.handle(.acquire(2, deadline: .seconds(5)), at: .zero) == [.open(2)])
        #expect(pool.handle(.acquire(3, deadline: .seconds(5)), at: .zero) == [])
        #expect(pool.handle(.opened(2), at: .zero) == [.lease(2, 1)])
        #expect(pool.handle(.returned(2, isReusable: true), at: .zero) == [.lease(2, 2)])
        #expect(pool.handle(.opened(1), at: .zero) == [.lease(1, 3)])
    }

    @Test("Refuses a waiter at its deadline, and removes a canceled one")
    func deadline() {
        var pool = pool()
        _ = pool.handle(.acquire(1, deadline: .seconds(2)), at: .zero)
        _ = pool.handle(.acquire(2, deadline: .seconds(1)), at: .zero)
        _ = pool.handle(.acquire(3, deadline: .seconds(1)), at: .zero)
        _ = pool.handle(.cancel(3), at: .zero)
        #expect(pool.nextTick == .seconds(1))
        #expect(pool.handle(.tick, at: .seconds(1)) == [.refuse(2, .deadline)])
        #expect(pool.handle(.tick, at: .seconds(2)) == [.refuse(1, .deadline)])
        #expect(pool.waiting == 0)
    }

    @Test("Sends one probe at a time after a failure, each after a longer delay")
    func probes() throws {
        var pool = pool(maximum: 8)
        for waiter in 1...8 { _ = pool.handle(.acquire(UInt64(waiter), deadline: .seconds(600)), at: .zero) }
        for id in 1...8 { #expect(pool.handle(.failed(id), at: .zero) == []) }
        var (now, previous, delays) = (Duration.zero, 8, [Duration]())
        for _ in 0..<8 {
            let next = try #require(pool.nextTick)
            delays.append(next - now)
            now = next
            let actions = pool.handle(.tick, at: now)
            #expect(actions == [.open(previous + 1)])
            previous += 1
            #expect(pool.handle(.failed(previous), at: now) == [])
        }
        #expect(delays[0] <= .milliseconds(50) && delays[0] >= .milliseconds(25))
        #expect(delays[7] <= .seconds(1) && delays[7] >= .milliseconds(500))
        now = try #require(pool.nextTick)
        #expect(pool.handle(.tick, at: now) == [.open(previous + 1)])
        // The first success allows the rest.
        let actions = pool.handle(.opened(previous + 1), at: now)
        #expect(actions.first == .lease(previous + 1, 1))
        #expect(actions.count == 8)
    }

    @Test("Closes idle connections down to the minimum, and old ones")
    func idle() {
        var pool = pool(minimum: 1)
        #expect(pool.handle(.tick, at: .zero) == [.open(1)])
        _ = pool.handle(.acquire(1, deadline: .seconds(5)), at: .zero)
        _ = pool.handle(.acquire(2, deadline: .seconds(5)), at: .zero)
        _ = pool.handle(.opened(1), at: .zero)
        _ = pool.handle(.opened(2), at: .zero)
        _ = pool.handle(.returned(1, isReusable: true), at: .zero)
        _ = pool.handle(.returned(2, isReusable: true), at: .zero)
        #expect(pool.handle(.tick, at: .seconds(300)).count == 1)
        let actions = pool.handle(.tick, at: .seconds(1_800))
        #expect(actions.count == 2 && actions.last == .open(3))
    }

    @Test("Does not reuse a connection that was returned broken, retired or old")
    func reuse() {
        for isOld in [false, true] {
            var pool = pool(maximum: 1)
            _ = pool.handle(.acquire(1, deadline: .seconds(5)), at: .zero)
            _ = pool.handle(.opened(1), at: .zero)
            _ = pool.handle(.acquire(2, deadline: .seconds(5_000)), at: .zero)
            let end = isOld ? Duration.seconds(1_800) : .zero
            #expect(pool.handle(.returned(1, isReusable: isOld), at: end) == [.close(1), .open(2)])
            _ = pool.handle(.opened(2), at: end)
            #expect(pool.handle(.retire([2]), at: end) == [])
            #expect(pool.handle(.returned(2, isReusable: true), at: end) == [.close(2)])
        }
    }

    @Test("After a shutdown, refuses all waiters and closes returned connections")
    func shutDown() {
        var pool = pool(maximum: 1)
        _ = pool.handle(.acquire(1, deadline: .seconds(5)), at: .zero)
        _ = pool.handle(.acquire(2, deadline: .seconds(5)), at: .zero)
        _ = pool.handle(.opened(1), at: .zero)
        #expect(pool.handle(.shutDown, at: .zero) == [.refuse(2, .shutDown)])
        #expect(pool.handle(.acquire(3, deadline: .seconds(5)), at: .zero) == [.refuse(3, .shutDown)])
        #expect(pool.handle(.returned(1, isReusable: true), at: .zero) == [.close(1)])
        #expect(pool.count == 0)
    }

    @Test("Keeps its invariants in random histories", arguments: UInt64(1)...40)
    func histories(seed: UInt64) {
        var history = PoolHistory(seed: seed)
        for _ in 0..<3_000 { history.step() }
        history.drain()
    }
}

/// A random history of a pool, and checks of its invariants: there are never more connections than the maximum, each waiter is served
/// exactly once and in order, and no connection is leaked.
private struct PoolHistory {
    private var generator: SplitMix64
    private var pool: ConnectionPool
    private let maximum: Int
    private var now = Duration.zero
    private var opening: Set<Int> = []
    private var leased: Set<Int> = []
    private var idle: Set<Int> = []
    /// The waiters in order, with their deadlines.
    private var line: [(id: UInt64, deadline: Duration)] = []
    private var lastWaiter: UInt64 = 0
    private var isUp = true

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
        maximum = Int.random(in: 1...6, using: &generator)
        let limits = ConnectionPool.Limits(
            minimum: Int.random(in: 0...maximum, using: &generator),
            maximum: maximum,
            idle: .seconds(20),
            lifetime: .seconds(60)
        )
        pool = ConnectionPool(limits: limits, generator: SplitMix64(seed: seed &+ 1))
    }

    mutating func step() {
        now += .milliseconds(Int.random(in: 0...400, using: &generator))
        if let tick = pool.nextTick, tick <= now { handle(.tick) }
        switch Int.random(in: 0..<12, using: &generator) {
        case 0..<4: acquire()
        case 4:
            if let waiter = line.randomElement(using: &generator)?.id {
                line.removeAll { $0.id == waiter }
                handle(.cancel(waiter))
            }
        case 5..<7: finishOpening()
        case 7..<10:
            guard let id = random(leased) else { return }
            leased.remove(id)
            if Int.random(in: 0..<8, using: &generator) == 0 {
                handle(.lost(id))
            } else {
                returnConnection(id)
            }
        case 10:
            guard let id = random(idle) else { return }
            idle.remove(id)
            handle(.lost(id))
        default:
            if Int.random(in: 0..<5, using: &generator) == 0 { isUp.toggle() }
            if Int.random(in: 0..<9, using: &generator) == 0 { handle(.retire(Array(idle.union(leased)))) }
        }
        if !pool.isProbing, !line.isEmpty { #expect(opening.count + leased.count > 0, "nobody serves the waiters") }
    }

    /// Ends all work in order.
    mutating func drain() {
        isUp = true
        for _ in 0..<10_000 where !line.isEmpty {
            now += .milliseconds(300)
            if let tick = pool.nextTick, tick <= now { handle(.tick) }
            finishOpening()
            if let id = random(leased) {
                leased.remove(id)
                returnConnection(id)
            }
        }
        #expect(line.isEmpty)
        handle(.shutDown)
        while let id = random(opening) {
            opening.remove(id)
            handle(.failed(id))
        }
        while let id = random(leased) {
            leased.remove(id)
            returnConnection(id)
        }
        #expect(pool.count == 0 && idle.isEmpty && pool.waiting == 0)
    }

    private mutating func acquire() {
        lastWaiter += 1
        let deadline = now + .milliseconds(Int.random(in: 0...5_000, using: &generator))
        line.append((lastWaiter, deadline))
        handle(.acquire(lastWaiter, deadline: deadline))
    }

    private mutating func finishOpening() {
        guard let id = random(opening) else { return }
        opening.remove(id)
        if isUp { idle.insert(id) }
        handle(isUp ? .opened(id) : .failed(id))
    }

    private mutating func returnConnection(_ id: Int) {
        let isReusable = Int.random(in: 0..<8, using: &generator) > 0
        // The driver treats it like this until the pool decides.
        idle.insert(id)
        handle(.returned(id, isReusable: isReusable))
    }

    private mutating func random(_ ids: Set<Int>) -> Int? { ids.sorted().randomElement(using: &generator) }

    private mutating func handle(_ event: ConnectionPool.Event) {
        for action in pool.handle(event, at: now) {
            switch action {
            case .open(let id): #expect(opening.insert(id).inserted)
            case .close(let id): #expect(idle.remove(id) != nil, "closes a connection that is in use")
            case .lease(let id, let waiter):
                #expect(idle.remove(id) != nil && leased.insert(id).inserted)
                #expect(line.first?.id == waiter, "serves out of turn")
                line.removeAll { $0.id == waiter }
            case .refuse(let waiter, let reason):
                if let place = line.firstIndex(where: { $0.id == waiter }) {
                    #expect(reason == .shutDown || line[place].deadline <= now)
                    line.remove(at: place)
                } else {
                    Issue.record("refuses a waiter twice")
                }
            }
        }
        let count = opening.count + leased.count + idle.count
        #expect(count <= maximum && count == pool.count)
        #expect(pool.waiting == line.count && pool.idleCount == idle.count)
    }
}
