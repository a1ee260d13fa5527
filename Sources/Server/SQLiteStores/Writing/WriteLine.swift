/// The writes that wait, first come first served.
struct WriteLine {
    enum Admission {
        /// The first in line: somebody must call for batches now, until there is none.
        case first
        case waits
        /// As many wait as may.
        case full
        case closed
    }

    /// How many may wait.
    static let capacity = 10_000
    /// The most in one transaction: the last of them must not wait for too many others.
    static let batchLimit = 256

    private var waiting: [any PendingWrite] = []
    private var isServed = false
    private var isClosed = false

    /// How many wait.
    var count: Int { waiting.count }

    /// Whether somebody is served and nobody waits.
    var isBusy: Bool { isServed && waiting.isEmpty }

    /// Puts a write in line.
    mutating func enter(_ write: any PendingWrite) -> Admission {
        guard !isClosed else { return .closed }
        guard waiting.count < Self.capacity else { return .full }
        waiting.append(write)
        defer { isServed = true }
        return isServed ? .waits : .first
    }

    /// Takes those that share the next transaction; empty if nobody waits, and then the next that comes is the first.
    mutating func nextBatch() -> [any PendingWrite] {
        isServed = !waiting.isEmpty
        guard waiting.count > Self.batchLimit else {
            defer { waiting = [] }
            return waiting
        }
        defer { waiting.removeFirst(Self.batchLimit) }
        return Array(waiting.prefix(Self.batchLimit))
    }

    /// Lets nobody in any more; who waits is served still.
    mutating func close() { isClosed = true }
}
