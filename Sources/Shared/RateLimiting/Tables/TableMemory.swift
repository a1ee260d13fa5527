import Synchronization

/// The memory that the tables of a limiter share beyond what is reserved for each.
final class MemoryPool: Sendable {
    /// The size in bytes.
    let size: Int
    private let taken = Atomic(0)

    init(size: Int) {
        self.size = size
    }

    /// The bytes that tables have taken. It can exceed the size by what tables take at the same time.
    var used: Int { taken.load(ordering: .relaxed) }

    func take(_ bytes: Int) { taken.add(bytes, ordering: .relaxed) }
}

/// The memory of one table: first what is reserved for it, then the pool.
struct TableMemory {
    /// `nil` if the memory is not bounded.
    let pool: MemoryPool?
    /// The bytes that no other table can take.
    let reserved: Int
    /// The bytes that the table's keys take.
    private(set) var used = 0

    /// Memory without a bound.
    static let unbounded = TableMemory(pool: nil, reserved: 0)

    init(pool: MemoryPool?, reserved: Int) {
        (self.pool, self.reserved) = (pool, reserved)
    }

    /// An empty table with the same bound.
    var emptied: TableMemory { TableMemory(pool: pool, reserved: reserved) }

    /// Whether there is room for more bytes.
    func hasRoom(for bytes: Int) -> Bool {
        guard let pool else { return true }
        return used + bytes <= reserved || pool.used + used + bytes - max(used, reserved) <= pool.size
    }

    /// Whether the table takes memory of a pool that is full.
    var isFull: Bool {
        guard let pool, used > reserved else { return false }
        return pool.used >= pool.size
    }

    /// Counts bytes that were allocated, or freed if negative.
    @inline(__always)
    mutating func add(_ bytes: Int) {
        if bytes != 0 { count(bytes) }
    }

    /// Returns all bytes to the pool, of a table that ends.
    func release() { pool?.take(-max(0, used - reserved)) }

    @inline(never)
    private mutating func count(_ bytes: Int) {
        let before = max(0, used - reserved)
        used += bytes
        let change = max(0, used - reserved) - before
        if change != 0 { pool?.take(change) }
    }
}
