import Foundation
import Synchronization

/// A pool of the memory in which hashes are computed. Later hashes use the same memory again.
///
/// A new mapping for each hash would cause 4,864 page faults of 4 KiB. Each is served under the lock of the process's address space, so
/// every other thread that touches new memory would wait. Reused blocks are mapped once, in pages of 2 MiB if the system supports them.
final class HashMemory: Sendable {
    /// The memory for all hashes of the process.
    static let shared = HashMemory()

    /// Unchecked: the compiler can't see that a block has one owner at a time, which is this pool or the hash that took it.
    private struct Block: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
    }

    /// Blocks of the standard size that no hash uses.
    private let unused = Mutex<[Block]>([])
    private let most = ProcessInfo.processInfo.activeProcessorCount
    private static let keptSize = Argon2id.Parameters.standard.memory
    private static let pageSize = 2 << 20

    /// Returns memory with undefined content; `nil` if there is none left. The caller owns it until it calls ``give(_:_:)``. Blocks of
    /// other sizes than that of the standard parameters are not pooled.
    func take(_ size: Int) -> UnsafeMutableRawPointer? {
        guard size == Self.keptSize else { return malloc(size) }
        if let block = unused.withLock({ $0.popLast() }) { return block.start }
        let whole = (size + Self.pageSize - 1) / Self.pageSize * Self.pageSize
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, Self.pageSize, whole) == 0 else { return nil }
        #if os(Linux)
            // Not every system has large pages; the memory works without them.
            _ = madvise(memory, whole, 14)  // MADV_HUGEPAGE
        #endif
        return memory
    }

    /// Returns memory to the pool, or frees it if the pool has one block per core. The size must be that of ``take(_:)``.
    func give(_ memory: UnsafeMutableRawPointer, _ size: Int) {
        let isKept =
            size == Self.keptSize
            && unused.withLock { unused in
                guard unused.count < most else { return false }
                unused.append(Block(start: memory))
                return true
            }
        if !isKept { free(memory) }
    }
}
