/// The pending requests of a lane, in order. The first and the last one are reached in O(1), also after many have been taken from the
/// front.
struct RecordLine: Sendable {
    private var ids: [QueuedRequestID] = []
    private var head = 0

    var isEmpty: Bool { head == ids.count }
    var count: Int { ids.count - head }
    var first: QueuedRequestID? { isEmpty ? nil : ids[head] }
    var all: ArraySlice<QueuedRequestID> { ids[head...] }

    /// O(1) at the end; elsewhere O(n).
    mutating func insert(_ id: QueuedRequestID) {
        guard let last = ids.last, !isEmpty, id < last else { return ids.append(id) }
        let place = ids[head...].firstIndex { id < $0 } ?? ids.count
        if place > head, ids[place - 1] == id { return }
        ids.insert(id, at: place)
    }

    /// O(1) at the front; elsewhere O(n).
    mutating func remove(_ id: QueuedRequestID) {
        if first == id {
            head += 1
            guard head > 32, head * 2 > ids.count else { return }
            ids.removeFirst(head)
            head = 0
        } else if let place = ids[head...].firstIndex(of: id) {
            ids.remove(at: place)
        }
    }
}
