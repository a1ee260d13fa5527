/// A queue that serves its keys in turn: one element of each key, and then again one element of each key. The queue returns the elements of
/// one key in the order of their arrival. The queue is a value.
///
/// If one key has many elements, the first element of another key therefore waits for only one of them. For clients that don't keep a
/// connection open while they wait, use ``VirtualLine``.
///
/// Invariants: `turns` contains each key with elements exactly once, and no array in `elements` is empty.
package struct FairQueue<Key: Hashable & Sendable, Element> {
    private var elements: [Key: [(id: UInt64, element: Element)]] = [:]
    /// The keys that have elements. The queue serves the first key next.
    private var turns: [Key] = []

    /// The number of elements.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// Returns the number of elements of a key.
    package func count(of key: Key) -> Int { elements[key]?.count ?? 0 }

    /// Adds an element after the other elements of its key. If the key had no elements, the turn of this key is after all other keys. O(1)
    /// on average.
    /// - Parameter id: The id of the element for ``remove(_:)``. It must be unique in the queue.
    package mutating func append(_ element: Element, id: UInt64, of key: Key) {
        if elements[key] == nil { turns.append(key) }
        elements[key, default: []].append((id, element))
        count += 1
    }

    /// Removes the first element of the next key. The next turn of this key is then after all other keys. O(k + n) for k keys and n
    /// elements of this key.
    /// - Returns: The element; `nil` if the queue is empty.
    package mutating func popFirst() -> Element? {
        guard let key = turns.first, var line = elements[key], !line.isEmpty else { return nil }
        turns.removeFirst()
        let first = line.removeFirst()
        elements[key] = line.isEmpty ? nil : line
        if !line.isEmpty { turns.append(key) }
        count -= 1
        return first.element
    }

    /// Removes an element from the queue, for example because its client has disconnected. O(number of elements).
    /// - Returns: The element; `nil` if it is not in the queue.
    package mutating func remove(_ id: UInt64) -> Element? {
        for (key, line) in elements {
            guard let index = line.firstIndex(where: { $0.id == id }) else { continue }
            return remove(at: index, of: key)
        }
        return nil
    }

    /// Returns the key with the most elements, if this key has at least two elements more than the given key; otherwise `nil`. O(number of
    /// keys).
    ///
    /// If the queue is full, the caller removes the last element of the returned key to make room for a new element of the given key. With
    /// a difference of less than two, the queue would have served the removed element before the new element.
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
