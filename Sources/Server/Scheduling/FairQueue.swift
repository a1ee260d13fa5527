/// A queue whose keys take turns. The elements of one key are served in the order of their arrival. A value.
///
/// A key with many elements in the queue delays another key's first element by one turn only. Each operation is O(number of elements).
package struct FairQueue<Key: Hashable & Sendable, Element> {
    private var elements: [Key: [(id: UInt64, element: Element)]] = [:]
    /// The keys that have elements, in the order of their turns.
    private var turns: [Key] = []

    /// The number of elements.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// The number of elements of a key.
    package func count(of key: Key) -> Int { elements[key]?.count ?? 0 }

    /// Adds an element after those of its key.
    /// - Parameter id: Identifies the element for ``remove(_:)``.
    package mutating func append(_ element: Element, id: UInt64, of key: Key) {
        if elements[key] == nil { turns.append(key) }
        elements[key, default: []].append((id, element))
        count += 1
    }

    /// Removes the first element of the key whose turn it is.
    package mutating func popFirst() -> Element? {
        guard let key = turns.first, var line = elements[key], !line.isEmpty else { return nil }
        turns.removeFirst()
        let first = line.removeFirst()
        elements[key] = line.isEmpty ? nil : line
        if !line.isEmpty { turns.append(key) }
        count -= 1
        return first.element
    }

    /// Removes an element from the queue.
    package mutating func remove(_ id: UInt64) -> Element? {
        for (key, line) in elements {
            guard let index = line.firstIndex(where: { $0.id == id }) else { continue }
            return remove(at: index, of: key)
        }
        return nil
    }

    /// The key with the most elements, if it has at least two more than the given key. Only then is its last element served later than a
    /// new element of the given key.
    package func longest(beside key: Key) -> Key? {
        var (longest, most) = (key, count(of: key) + 1)
        for turn in turns {
            let count = count(of: turn)
            if count > most { (longest, most) = (turn, count) }
        }
        return longest == key ? nil : longest
    }

    /// Removes the last element of a key.
    package mutating func popLast(of key: Key) -> Element? {
        let count = count(of: key)
        return count > 0 ? remove(at: count - 1, of: key) : nil
    }

    private mutating func remove(at index: Int, of key: Key) -> Element? {
        guard let removed = elements[key]?.remove(at: index) else { return nil }
        if elements[key]?.isEmpty ?? true {
            elements[key] = nil
            turns.removeAll { $0 == key }
        }
        count -= 1
        return removed.element
    }
}
