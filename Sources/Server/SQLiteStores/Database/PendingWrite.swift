import GRDB
import RateLimiting
import Synchronization

/// A write that waits for its transaction. Several writes share a transaction.
protocol PendingWrite: Sendable {
    /// A closure that returns the rate-limit usage of the caller's request; `nil` if there is no usage to store. The transaction of the
    /// write also stores this usage.
    var consumedQuota: (@Sendable () -> ConsumedQuota?)? { get }
    /// Begins the write. Returns `false` if the caller was canceled; in this case, the write must not be performed.
    func begin() -> Bool
    /// Performs the write, and stores its result until the transaction is committed.
    /// - Throws: The error of the write. ``end(_:)`` passes this error to the caller.
    func perform(in database: Database) throws
    /// Resumes the caller with the result, or with the error of the failed commit.
    func end(_ failure: (any Error)?)
}

/// A write, and the task that waits for it (the caller). The caller is resumed exactly once: after the transaction is on disk, after the
/// transaction has failed, or immediately if the caller is canceled before the write has begun.
///
/// The phases are `new` → `waiting` → `running` → `done` → `ended`. A cancellation in the phases `new` and `waiting` ends the write
/// immediately. In later phases, a cancellation has no effect.
final class CallerWrite<Value: Sendable>: PendingWrite {
    /// The continuation of the task that waits for the commit.
    typealias Caller = CheckedContinuation<Value, any Error>

    /// The progress of the write.
    private enum Phase {
        /// Created; no caller waits yet.
        case new
        /// In the queue. A cancellation still prevents the write.
        case waiting(Caller)
        /// The write is being performed.
        case running(Caller)
        /// The write was performed, and its transaction is not yet on disk.
        case done(Caller, Result<Value, any Error>)
        /// The caller was resumed, or the write was canceled before it had a caller.
        case ended
    }

    /// A closure that returns the rate-limit usage of the caller's request; `nil` if there is no usage to store.
    let consumedQuota: (@Sendable () -> ConsumedQuota?)?
    /// The closure that performs the write.
    private let body: @Sendable (Database) throws -> Value
    /// The current phase, protected by a lock. The lock ensures that either the cancellation or the start of the write takes effect, but
    /// not both.
    private let phase = Mutex(Phase.new)

    /// Creates a write.
    /// - Parameters:
    ///   - body: The write, which runs at most once.
    ///   - consumedQuota: Returns the rate-limit usage that the same transaction stores; `nil` to store none.
    init(_ body: @escaping @Sendable (Database) throws -> Value, keeping consumedQuota: (@Sendable () -> ConsumedQuota?)?) {
        self.body = body
        self.consumedQuota = consumedQuota
    }

    /// Stores the continuation of the caller.
    /// - Returns: Whether the write must be enqueued. It is `false` if the write was canceled before this call; the caller has then already
    ///   been resumed.
    func wait(_ caller: Caller) -> Bool {
        let isWanted = phase.withLock { phase in
            guard case .new = phase else { return false }
            phase = .waiting(caller)
            return true
        }
        if !isWanted { caller.resume(throwing: CancellationError()) }
        return isWanted
    }

    /// Cancels the write, unless it has begun. A write that has begun is completed, and its caller receives the result.
    func cancel() {
        let caller: Caller? = phase.withLock { phase in
            switch phase {
            case .new:
                phase = .ended
                return nil
            case .waiting(let caller):
                phase = .ended
                return caller
            case .running, .done, .ended: return nil
            }
        }
        caller?.resume(throwing: CancellationError())
    }

    /// Begins the write, unless it was canceled: `waiting` becomes `running`.
    func begin() -> Bool {
        phase.withLock { phase in
            guard case .waiting(let caller) = phase else { return false }
            phase = .running(caller)
            return true
        }
    }

    /// Performs the write: `running` becomes `done`. The caller is not resumed before the commit.
    func perform(in database: Database) throws {
        let result = Result { try body(database) }
        phase.withLock { phase in
            if case .running(let caller) = phase { phase = .done(caller, result) }
        }
        _ = try result.get()
    }

    /// Resumes the caller with the result of the write, or with an error. The write's own error takes precedence over the error of the
    /// commit.
    func end(_ failure: (any Error)?) {
        let ending: (caller: Caller, result: Result<Value, any Error>)? = phase.withLock { phase in
            defer { phase = .ended }
            switch phase {
            case .waiting(let caller), .running(let caller): return (caller, .failure(failure ?? CancellationError()))
            case .done(let caller, let result):
                // The write's own error is more specific than the error of the commit.
                if case .success = result, let failure { return (caller, .failure(failure)) }
                return (caller, result)
            case .new, .ended: return nil
            }
        }
        ending?.caller.resume(with: ending?.result ?? .failure(CancellationError()))
    }
}

/// The queue of pending writes, first in, first out. Not thread-safe: ``GroupCommit`` protects it with a lock.
struct WriteLine {
    /// The result of adding a write to the queue.
    enum Admission {
        /// The write is the first one in the queue, and the service is not running. The caller must start the service, a loop that commits
        /// batches until the queue is empty.
        case first
        /// The service is running and will commit the write.
        case waits
        /// The queue is full.
        case full
        /// The database is closed.
        case closed
    }

    /// The largest number of pending writes.
    static let capacity = 10_000
    /// The largest number of writes in one transaction. It limits the time for which a caller waits for the other writes of its batch.
    static let batchLimit = 256

    /// The writes in the order of their arrival.
    private var waiting: [any PendingWrite] = []
    /// Whether the service of ``GroupCommit`` is running. The first write sets this flag, and the service clears it when it finds the queue
    /// empty.
    private var isServed = false
    /// Whether new writes are refused.
    private var isClosed = false

    /// The number of pending writes.
    var count: Int { waiting.count }

    /// Whether a transaction is in progress and the queue is empty.
    var isBusy: Bool { isServed && waiting.isEmpty }

    /// Adds a write to the queue.
    /// - Returns: The step that the caller must take. O(1).
    mutating func enter(_ write: any PendingWrite) -> Admission {
        guard !isClosed else { return .closed }
        guard waiting.count < Self.capacity else { return .full }
        waiting.append(write)
        defer { isServed = true }
        return isServed ? .waits : .first
    }

    /// Removes and returns the writes of the next transaction. If the result is empty, the service must end, and the next write starts it
    /// again.
    ///
    /// O(n) for n pending writes if there are more than ``batchLimit``.
    mutating func nextBatch() -> [any PendingWrite] {
        isServed = !waiting.isEmpty
        guard waiting.count > Self.batchLimit else {
            defer { waiting = [] }
            return waiting
        }
        defer { waiting.removeFirst(Self.batchLimit) }
        return Array(waiting.prefix(Self.batchLimit))
    }

    /// Refuses further writes. The service still commits the pending writes.
    mutating func close() { isClosed = true }
}
