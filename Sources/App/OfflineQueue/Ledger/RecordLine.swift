/// The pending requests of a lane, in the order of their identifiers.
///
/// The line is an array with a moving start. The first request is removed by advancing `head`. If more than half of the array and more than
/// 32 places are unused, all unused places are freed in one step. Removal at the front is therefore O(1) on average.
struct RecordLine: Sendable {
    private var ids: [QueuedRequestID] = []
    private var head = 0

    var isEmpty: Bool { head == ids.count }
    var count: Int { ids.count - head }
    var first: QueuedRequestID? { isEmpty ? nil : ids[head] }
    var all: ArraySlice<QueuedRequestID> { ids[head...] }

    /// Adds a request in the order of the identifiers. O(1) at the end, and O(requests of the lane) elsewhere.
    mutating func insert(_ id: QueuedRequestID) {
        guard let last = ids.last, !isEmpty, id < last else { return ids.append(id) }
        let place = ids[head...].firstIndex { id < $0 } ?? ids.count
        if place > head, ids[place - 1] == id { return }
        ids.insert(id, at: place)
    }

    /// Removes a request if the line contains it. O(1) at the front, and O(requests of the lane) elsewhere.
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
