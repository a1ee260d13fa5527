import HoldfastTesting
import Testing

@testable import Scheduling

/// A queue with reference semantics, because an expectation can't call mutating methods of a value.
private final class Queue<Key: Hashable & Sendable, Element> {
    var queue = FairQueue<Key, Element>()
    var count: Int { queue.count }

    func count(of key: Key) -> Int { queue.count(of: key) }
    func append(_ element: Element, id: UInt64, of key: Key) { queue.append(element, id: id, of: key) }
    func popFirst() -> Element? { queue.popFirst() }
    func remove(_ id: UInt64) -> Element? { queue.remove(id) }
    func popLast(inFavorOf key: Key) -> (key: Key, element: Element)? {
        guard let longest = queue.longest(beside: key) else { return nil }
        return queue.popLast(of: longest).map { (longest, $0) }
    }
}

@Suite struct FairQueueTests {
    private func makeQueue(_ elements: [(key: String, element: String)]) -> Queue<String, String> {
        let queue = Queue<String, String>()
        for (id, element) in elements.enumerated() { queue.append(element.element, id: UInt64(id), of: element.key) }
        return queue
    }

    private func drain(_ queue: Queue<String, String>) -> [String] {
        var drained: [String] = []
        while let next = queue.popFirst() { drained.append(next) }
        return drained
    }

    @Test("Keys take turns, and each key's elements keep their order")
    func turns() {
        let queue = makeQueue([("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1"), ("c", "c2")])
        #expect(drain(queue) == ["a1", "b1", "c1", "a2", "c2", "a3"])
    }

    @Test("A key that returns waits behind the keys that have waited")
    func returningKey() {
        let queue = makeQueue([("a", "a1"), ("b", "b1"), ("b", "b2")])
        #expect(queue.popFirst() == "a1")
        queue.append("a2", id: 9, of: "a")
        #expect(drain(queue) == ["b1", "a2", "b2"])
    }

    @Test("Does not serve a removed element, and its key keeps its turn")
    func removal() {
        let queue = makeQueue([("a", "a1"), ("b", "b1"), ("a", "a2")])
        #expect(queue.remove(0) == "a1")
        #expect(queue.remove(0) == nil)
        #expect(queue.count == 2 && queue.count(of: "a") == 1)
        #expect(drain(queue) == ["a2", "b1"])
    }

    @Test("Removing the last element of a key removes its turn")
    func lastOfKey() {
        let queue = makeQueue([("a", "a1"), ("b", "b1")])
        #expect(queue.remove(0) == "a1")
        #expect(queue.popFirst() == "b1")
        #expect(queue.popFirst() == nil)
    }

    @Test("A key with few elements displaces the last one of the longest key")
    func displacement() {
        let queue = makeQueue([("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1")])
        let last = queue.popLast(inFavorOf: "c")
        #expect(last?.key == "a" && last?.element == "a3")
        #expect(queue.popLast(inFavorOf: "b") == nil, "it would have as many as the longest")
        #expect(queue.popLast(inFavorOf: "c")?.element == "a2")
        #expect(queue.popLast(inFavorOf: "c") == nil, "each key has one element")
        #expect(drain(queue) == ["a1", "b1"])
    }

    @Test("In random use, counts agree and no key waits for more than a round")
    func randomUse() {
        for seed in 0..<50 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let queue = Queue<Int, UInt64>()
            var expected: [UInt64: Int] = [:]
            for id in 0..<500 as Range<UInt64> {
                switch Int.random(in: 0..<4, using: &random) {
                case 0, 1:
                    let key = Int.random(in: 0..<6, using: &random)
                    queue.append(id, id: id, of: key)
                    expected[id] = key
                case 2:
                    if let next = queue.popFirst() {
                        let key = expected.removeValue(forKey: next)
                        #expect(expected.allSatisfy { $0.value != key || $0.key > next }, "seed \(seed): out of order")
                    } else {
                        #expect(expected.isEmpty)
                    }
                default:
                    if let victim = expected.keys.sorted().randomElement(using: &random) {
                        #expect(queue.remove(victim) == victim)
                        expected[victim] = nil
                    }
                }
                #expect(queue.count == expected.count)
                for key in 0..<6 { #expect(queue.count(of: key) == expected.values.count { $0 == key }) }
            }
        }
    }
}
