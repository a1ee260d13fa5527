import HoldfastTesting
import Testing

@testable import ServerMiddleware

@Suite struct DeadlineQueueTests {
    @Test("Returns deadlines in their order, whatever the order of insertion")
    func order() {
        var queue = DeadlineQueue<Int, String>()
        for (instant, name) in [(5, "e"), (1, "a"), (3, "c"), (3, "d"), (2, "b")] { _ = queue.add(instant, name) }
        #expect(queue.next == 1)
        #expect(queue.due(at: 0) == [])
        #expect(queue.due(at: 3) == ["a", "b", "c", "d"])
        #expect(queue.next == 5)
        #expect(queue.count == 1)
        #expect(queue.due(at: 9) == ["e"])
        #expect(queue.next == nil)
    }

    @Test("A removed deadline is not returned later, and is removed once")
    func removal() {
        var queue = DeadlineQueue<Int, String>()
        let first = queue.add(1, "a")
        let second = queue.add(2, "b")
        #expect(queue.remove(first) == "a")
        #expect(queue.remove(first) == nil)
        #expect(queue.next == 2)
        #expect(queue.due(at: 2) == ["b"])
        #expect(queue.remove(second) == nil)
    }

    @Test("Frees the memory of past deadlines if all deadlines come")
    func pastDeadlines() {
        var queue = DeadlineQueue<Int, String>()
        for now in 0..<10_000 {
            let id = queue.add(now + 50, "a")
            #expect(queue.due(at: now).count == (now < 50 ? 0 : 1))
            // The owner of a deadline removes it after it has come, too.
            if now >= 50 { #expect(queue.remove(id - 50) == nil) }
        }
        #expect(queue.count == 50)
        #expect(queue.storedEntries <= 200)
    }

    @Test("Frees the memory of removed deadlines if there are only a few at a time")
    func removedDeadlines() {
        var queue = DeadlineQueue<Int, String>()
        for now in 0..<10_000 {
            let id = queue.add(now + 10, "a")
            #expect(queue.remove(id) == "a")
            #expect(queue.due(at: now) == [])
        }
        #expect(queue.count == 0)
        #expect(queue.storedEntries <= 200)
    }

    @Test("In random use returns the same deadlines as a plain list")
    func againstList() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<200 {
            var queue = DeadlineQueue<Int, UInt64>()
            var list: [(instant: Int, id: UInt64)] = []
            var now = 0
            for _ in 0..<200 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<5:
                    let instant = now + Int.random(in: 0..<20, using: &random)
                    let id = queue.add(instant, UInt64(list.count))
                    list.append((instant, id))
                case 5..<8:
                    guard let index = list.indices.randomElement(using: &random) else { continue }
                    _ = queue.remove(list[index].id)
                    list[index].instant = .max
                default:
                    now += Int.random(in: 0..<6, using: &random)
                    let expected = list.indices.filter { list[$0].instant <= now }.sorted { list[$0].instant < list[$1].instant }
                    #expect(queue.due(at: now).map { Int($0) } == expected)
                    for index in expected { list[index].instant = .max }
                }
                #expect(queue.next == list.map(\.instant).filter { $0 != .max }.min())
                #expect(queue.count == list.count { $0.instant != .max })
            }
        }
    }
}
