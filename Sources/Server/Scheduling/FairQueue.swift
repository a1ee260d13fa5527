/// A queue whose keys take turns. The elements of one key are served in the order of their arrival. A value.
///
/// A key with many elements in the queue delays another key's first element by one turn only. Use ``VirtualLine`` for clients that don't
/// keep a connection open while they wait.
///
/// Invariants: `turns` has each key with elements exactly once, and no array in `elements` is empty.
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

    /// Adds an element after those of its key. A key without elements gets the last turn. O(1) on average.
    /// - Parameter id: Identifies the element for ``remove(_:)``; unique in the queue.
    package mutating func append(_ element: Element, id: UInt64, of key: Key) {
        if elements[key] == nil { turns.append(key) }
        elements[key, default: []].append((id, element))
        count += 1
    }

    /// Removes the first element of the key whose turn it is. The key then gets the last turn. O(keys + elements of the key).
    /// - Returns: `nil` if the queue is empty.
    package mutating func popFirst() -> Element? {
        guard let key = turns.first, var line = elements[key], !line.isEmpty else { return nil }
        turns.removeFirst()
        let first = line.removeFirst()
        elements[key] = line.isEmpty ? nil : line
        if !line.isEmpty { turns.append(key) }
        count -= 1
        return first.element
    }

    /// Removes an element from the queue, such as one whose client has disconnected. O(number of elements).
    /// - Returns: The element; `nil` if the queue does not have it.
    package mutating func remove(_ id: UInt64) -> Element? {
        for (key, line) in elements {
            guard let index = line.firstIndex(where: { $0.id == id }) else { continue }
            return remove(at: index, of: key)
        }
        return nil
    }

    /// Returns the key with the most elements, if it has at least two more than the given key; otherwise `nil`. O(number of keys).
    ///
    /// A full queue removes the last element of this key to make room for the given one: only with this difference is that element served
    /// later than a new element of the given key.
    package func longest(beside key: Key) -> Key? {
        var (longest, most) = (key, count(of: key) + 1)
        for turn in turns {
            let count = count(of: turn)
            if count > most { (longest, most) = (turn, count) }
        }
        return longest == key ? nil : longest
    }

    /// Removes the last element of a key. O(number of keys). Returns `nil` if the key has no elements.
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
