import HoldfastTesting
import Testing

@testable import AccountCore

/// The order in which the queue serves attempts, on a manual clock.
@Suite struct HashQueueTests {
    /// A queue of named jobs with reference semantics.
    private final class Queue {
        private var queue: HashQueue<String>
        private var tickets: [String: UInt64] = [:]
        private(set) var refused: [String: Duration] = [:]
        private(set) var started: [String] = []
        var now = Duration.zero
        var count: Int { queue.count }
        var rate: Double { queue.rate(at: now) }

        init(width: Int = 1, limit: Int = 64, longestWait: Duration = .seconds(10)) {
            queue = HashQueue(width: width, limit: limit, longestWait: longestWait)
        }

        /// - Returns: Whether the job was started or is queued.
        @discardableResult
        func enter(_ job: String, from network: String?, as purpose: HashingPurpose = .attempt) -> Bool {
            let ticket = queue.nextTicket()
            tickets[job] = ticket
            switch queue.enter(job, ticket, as: purpose, from: network, at: now, chance: 0) {
            case .start(let job): started.append(job)
            case .waiting(let displaced): if let displaced { refused[displaced.job] = displaced.delay }
            case .refused(let refusal):
                refused[refusal.job] = refusal.delay
                return false
            case .cancelled: return false
            }
            return true
        }

        @discardableResult
        func finish() -> String? {
            let next = queue.finish(at: now)
            if let next { started.append(next) }
            return next
        }

        func cancel(_ job: String) -> String? { tickets[job].flatMap { queue.cancel($0) } }

        func drain() -> [String] {
            var order: [String] = []
            while let next = finish() { order.append(next) }
            return order
        }
    }

    @Test("Refuses an attempt early if and only if it would be refused later")
    func early() {
        for seed in 0..<20 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var queue = HashQueue<Int>(width: 2, limit: 12, longestWait: .seconds(1))
            var (now, counts) = (Duration.zero, [true: 0, false: 0])
            for number in 0..<600 {
                now += .milliseconds(Int.random(in: 0..<60, using: &random))
                if Int.random(in: 0..<3, using: &random) == 0, queue.running > 0 { _ = queue.finish(at: now) }
                let network = "network \(Int.random(in: 0..<6, using: &random))"
                let ticket = queue.nextTicket()
                var early = queue
                let delay = early.refuseEarly(from: network, at: now, chance: 0.5)
                let admission = queue.enter(number, ticket, as: .attempt, from: network, at: now, chance: 0.5)
                if case .refused(let refusal) = admission {
                    #expect(delay == refusal.delay, "seed \(seed), attempt \(number)")
                } else {
                    #expect(delay == nil, "seed \(seed), attempt \(number)")
                }
                counts[delay == nil, default: 0] += 1
            }
            #expect(counts.values.allSatisfy { $0 > 20 }, "both happen: \(counts)")
        }
    }

    @Test("Networks take turns, whatever their number of attempts")
    func turns() {
        let queue = Queue()
        queue.enter("running", from: "flood")
        for number in 0..<30 { queue.enter("flood \(number)", from: "flood") }
        queue.enter("user 0", from: "home")
        queue.enter("user 1", from: "home")
        #expect(Array(queue.drain().prefix(5)) == ["flood 0", "user 0", "flood 1", "user 1", "flood 2"])
    }

    @Test("A network has at most half of the queue")
    func boundPerNetwork() {
        let queue = Queue()
        queue.enter("running", from: "flood")
        let admitted = (0..<100).count { queue.enter("flood \($0)", from: "flood") }
        #expect(admitted == 32)
        #expect(queue.count == 32)
        #expect(queue.enter("user", from: "home"))
    }

    @Test("With the longest wait, only the configured limit bounds the queue")
    func longestWait() {
        let queue = Queue(limit: 4, longestWait: .seconds(Int64.max))
        queue.enter("running", from: "home")
        for number in 0..<4 { #expect(queue.enter("\(number)", from: "home \(number)")) }
        queue.enter("late", from: "late")
        #expect(queue.count == 4)
    }

    @Test("A full queue evicts an entry for a network with fewer attempts")
    func displacement() {
        let queue = Queue()
        queue.enter("running", from: "flood 0")
        for number in 0..<1_600 { queue.enter("\(number)", from: "flood \(number % 16)") }
        #expect(queue.count == 64)
        #expect(queue.enter("user", from: "home"))
        #expect(queue.count == 64)
        #expect(queue.refused.count == 1_600 - 63)
        #expect(queue.drain().prefix(17).contains("user"), "after one of each other network at most")
    }

    @Test("Every network has the same share, however many networks flood", arguments: [1, 4, 16])
    func shares(floods: Int) {
        let queue = Queue(width: 4)
        var served: [String: Int] = [:]
        var number = 0
        // Each flood sends ten attempts per hash. The user sends as many as one share allows.
        for round in 0..<300 {
            for flood in 0..<floods {
                for _ in 0..<10 {
                    number += 1
                    queue.enter("flood \(flood) \(number)", from: "flood \(flood)")
                }
            }
            if round % (floods + 1) == 0 { queue.enter("user \(round)", from: "home") }
            queue.now += .milliseconds(10)
            if let next = queue.finish() { served[next.hasPrefix("user") ? "user" : "flood", default: 0] += 1 }
        }
        #expect(queue.refused.keys.count { $0.hasPrefix("user") } == 0)
        #expect(served["user", default: 0] >= 300 / (floods + 1) - 1)
    }

    @Test("Callers with proven credentials come first and are not evicted for attempts")
    func entitled() {
        let queue = Queue()
        queue.enter("running", from: "flood")
        for network in 0..<200 { queue.enter("flood \(network)", from: "flood \(network)") }
        #expect(queue.enter("confirm", from: "flood", as: .entitled))
        #expect(queue.finish() == "confirm")
        #expect(queue.finish() == "flood 0")
        let entitled = (0..<100).count { queue.enter("confirm \($0)", from: "home", as: .entitled) }
        #expect(entitled == 64, "they are bounded, too")
    }

    @Test("A canceled job leaves the queue, whether it waits or has yet to enter")
    func cancellation() {
        let queue = Queue(limit: 2)
        queue.enter("running", from: nil)
        queue.enter("a", from: nil)
        queue.enter("b", from: nil)
        #expect(!queue.enter("c", from: nil))
        #expect(queue.cancel("a") == "a")
        #expect(queue.cancel("a") == nil)
        #expect(queue.cancel("running") == nil, "it is being computed")
        #expect(queue.enter("d", from: nil))
        #expect(queue.drain() == ["b", "d"])
        var early = HashQueue<String>(width: 1, limit: 1, longestWait: .seconds(1))
        let ticket = early.nextTicket()
        #expect(early.cancel(ticket) == nil)
        guard case .cancelled("e") = early.enter("e", ticket, as: .attempt, from: nil, at: .zero, chance: 0) else {
            Issue.record("admitted")
            return
        }
    }

    @Test("Holds at most the jobs that fit the longest wait at the measured rate")
    func boundByTime() {
        let queue = Queue(width: 2, longestWait: .seconds(1))
        for number in 0..<100 { queue.enter("\(number)", from: "n\(number)") }
        #expect(queue.count == 64)
        // Now a hash takes 200 ms, which is ten per second.
        for _ in 0..<66 {
            queue.now += .milliseconds(100)
            queue.finish()
        }
        // Advances until no client is expected to return.
        queue.now += .seconds(60)
        for number in 0..<100 { queue.enter("later \(number)", from: "m\(number)") }
        #expect((8...20).contains(queue.count), "\(queue.count) at \(queue.rate) per second")
    }

    @Test("Serves all clients that obey their retry delay, at the rate of hashing")
    func returningClients() {
        let queue = Queue(width: 4, longestWait: .seconds(1))
        // 40 hashes per second. The first steps measure the rate.
        for step in 0..<400 {
            queue.now += .milliseconds(25)
            queue.enter("earlier \(step)", from: "others")
            if step > 3 { queue.finish() }
        }
        let begin = queue.now
        var returns: [(time: Duration, name: String)] = (0..<400).map { (begin, "client \($0)") }
        var refusals = 0
        while queue.started.count < 800 {
            queue.now += .milliseconds(25)
            queue.finish()
            let due = returns.filter { $0.time <= queue.now }
            returns.removeAll { $0.time <= queue.now }
            for client in due where !queue.enter(client.name, from: "network") {
                refusals += 1
                returns.append((queue.now + (queue.refused[client.name] ?? .zero), client.name))
            }
            guard queue.now - begin < .seconds(60) else { break }
        }
        #expect(Set(queue.started).count { $0.hasPrefix("client") } == 400)
        #expect(queue.now - begin <= .seconds(13), "10 s is the ideal; took \(queue.now - begin)")
        #expect(refusals <= 400 + 40, "each client is refused once, and hardly one twice: \(refusals)")
    }

    @Test("Clients that ignore their delays don't lock out a network that obeys")
    func impatientClients() {
        let queue = Queue(width: 4, longestWait: .seconds(1))
        var returns: [(time: Duration, name: String)] = (0..<50).map { (.seconds(1), "client \($0)") }
        var number = 0
        for step in 0..<2_000 {
            queue.now = .milliseconds(step * 25)
            if step > 0 { queue.finish() }
            for _ in 0..<20 {
                number += 1
                queue.enter("flood \(number)", from: "flood \(number % 16)")
            }
            let due = returns.filter { $0.time <= queue.now }
            returns.removeAll { $0.time <= queue.now }
            for client in due where !queue.enter(client.name, from: "network") {
                returns.append((queue.now + (queue.refused[client.name] ?? .zero), client.name))
            }
        }
        // 50 of the 2,000 hashes, of which a 17th is the network's share.
        #expect(Set(queue.started).count { $0.hasPrefix("client") } == 50)
    }
}
