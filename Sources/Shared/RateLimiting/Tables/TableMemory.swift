import Synchronization

/// Counts the memory that the tables of a limiter share. Each table also has memory that is reserved for it, and the pool doesn't count
/// this memory.
final class MemoryPool: Sendable {
    /// The size in bytes.
    let size: Int
    /// The number of bytes that the tables have taken.
    private let taken = Atomic(0)

    init(size: Int) {
        self.size = size
    }

    /// The number of bytes that tables have taken. With concurrent allocations, this number can exceed the size.
    var used: Int { taken.load(ordering: .relaxed) }

    /// Counts bytes that a table took. A negative number counts bytes that the table returned. This method doesn't check the size of the
    /// pool, because a table first calls ``TableMemory/hasRoom(for:)``.
    func take(_ bytes: Int) { taken.add(bytes, ordering: .relaxed) }
}

/// Counts the memory of one table. The table first uses the memory that is reserved for it, and then takes memory from the pool.
struct TableMemory {
    /// The memory that all tables share; `nil` if the memory is unlimited.
    let pool: MemoryPool?
    /// The number of bytes reserved for this table.
    let reserved: Int
    /// The number of bytes that the table's keys use.
    private(set) var used = 0

    /// Unbounded memory.
    static let unbounded = TableMemory(pool: nil, reserved: 0)

    init(pool: MemoryPool?, reserved: Int) {
        (self.pool, self.reserved) = (pool, reserved)
    }

    /// The memory of an empty table with the same pool and the same reserved memory.
    var emptied: TableMemory { TableMemory(pool: pool, reserved: reserved) }

    /// Returns whether there is room for more bytes.
    func hasRoom(for bytes: Int) -> Bool {
        guard let pool else { return true }
        return used + bytes <= reserved || pool.used + used + bytes - max(used, reserved) <= pool.size
    }

    /// Whether the table uses memory of the pool, and the pool is full.
    var isFull: Bool {
        guard let pool, used > reserved else { return false }
        return pool.used >= pool.size
    }

    /// Counts bytes that the table allocated. A negative number counts bytes that the table freed.
    @inline(__always)
    mutating func add(_ bytes: Int) {
        if bytes != 0 { count(bytes) }
    }

    /// Returns all bytes to the pool when the table is freed.
    func release() { pool?.take(-max(0, used - reserved)) }

    /// Counts bytes, and takes the part above the reserved memory from the pool.
    @inline(never)
    private mutating func count(_ bytes: Int) {
        let before = max(0, used - reserved)
        used += bytes
        let change = max(0, used - reserved) - before
        if change != 0 { pool?.take(change) }
    }
}
