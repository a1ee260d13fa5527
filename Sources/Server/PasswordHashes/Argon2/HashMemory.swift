import Foundation
import Synchronization

/// A pool of memory blocks for the computation of hashes. Later hashes use the blocks of earlier hashes again.
///
/// New memory for each hash would cause 4,864 page faults, one for each page of 4 KiB. The kernel handles page faults under a lock of the
/// whole process, so other threads that use new memory would wait. Blocks that are used again cause no page faults. If the system supports
/// pages of 2 MiB, the blocks use such pages.
final class HashMemory: Sendable {
    /// The memory for all hashes of the process.
    static let shared = HashMemory()

    /// A block of memory. The type is `@unchecked Sendable`, because a block has only one owner at a time: the pool, or the hash that uses
    /// the block.
    private struct Block: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
    }

    /// Blocks of the standard size that no hash uses.
    private let unused = Mutex<[Block]>([])
    private let most = ProcessInfo.processInfo.activeProcessorCount
    private static let keptSize = Argon2id.Parameters.standard.memory
    private static let pageSize = 2 << 20

    /// Returns memory with undefined content; `nil` if there is no free memory. The caller owns the memory until it calls ``give(_:_:)``.
    /// The pool contains only blocks of the size that the standard parameters need. Other sizes are newly allocated.
    func take(_ size: Int) -> UnsafeMutableRawPointer? {
        guard size == Self.keptSize else { return malloc(size) }
        if let block = unused.withLock({ $0.popLast() }) { return block.start }
        let whole = (size + Self.pageSize - 1) / Self.pageSize * Self.pageSize
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, Self.pageSize, whole) == 0 else { return nil }
        #if os(Linux)
            // This call can fail, because not every system has large pages. The memory also works without them.
            _ = madvise(memory, whole, 14)  // MADV_HUGEPAGE
        #endif
        return memory
    }

    /// Returns memory to the pool. If the block has another size than the pool's blocks, or if the pool already has one block per core, the
    /// method frees the memory. The size must be the same as in ``take(_:)``.
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
