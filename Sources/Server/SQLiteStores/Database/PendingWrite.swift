import GRDB
import RateLimiting
import Synchronization

/// A write that waits for the transaction that it shares with others.
protocol PendingWrite: Sendable {
    /// What its request's limits owe, kept with it.
    var consumedQuota: (@Sendable () -> ConsumedQuota?)? { get }
    /// Whether it is to be done; false if its caller has gone.
    func begin() -> Bool
    /// Does it, and keeps what comes of it until the commit.
    func perform(in database: Database) throws
    /// Tells its caller what came of it, or why the commit that it shared failed.
    func end(_ failure: (any Error)?)
}

/// A write and its caller, who is told once: when its transaction is on disk or has failed, or at once if he stops waiting before it
/// has begun.
final class CallerWrite<Value: Sendable>: PendingWrite {
    typealias Caller = CheckedContinuation<Value, any Error>

    private enum Phase {
        case new
        case waiting(Caller)
        case running(Caller)
        case done(Caller, Result<Value, any Error>)
        case ended
    }

    let consumedQuota: (@Sendable () -> ConsumedQuota?)?
    private let body: @Sendable (Database) throws -> Value
    private let phase = Mutex(Phase.new)

    init(_ body: @escaping @Sendable (Database) throws -> Value, keeping consumedQuota: (@Sendable () -> ConsumedQuota?)?) {
        self.body = body
        self.consumedQuota = consumedQuota
    }

    /// Takes note of who waits.
    /// - Returns: Whether the write is to be put in line: false if it was cancelled before, and the caller has been told.
    func wait(_ caller: Caller) -> Bool {
        let isWanted = phase.withLock { phase in
            guard case .new = phase else { return false }
            phase = .waiting(caller)
            return true
        }
        if !isWanted { caller.resume(throwing: CancellationError()) }
        return isWanted
    }

    /// Ends it, unless it has begun: then it is done, and its caller is told.
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

    func begin() -> Bool {
        phase.withLock { phase in
            guard case .waiting(let caller) = phase else { return false }
            phase = .running(caller)
            return true
        }
    }

    func perform(in database: Database) throws {
        let result = Result { try body(database) }
        phase.withLock { phase in
            if case .running(let caller) = phase { phase = .done(caller, result) }
        }
        _ = try result.get()
    }

    func end(_ failure: (any Error)?) {
        let ending: (caller: Caller, result: Result<Value, any Error>)? = phase.withLock { phase in
            defer { phase = .ended }
            switch phase {
            case .waiting(let caller), .running(let caller): return (caller, .failure(failure ?? CancellationError()))
            case .done(let caller, let result):
                // What it failed of itself says more than what became of the others.
                if case .success = result, let failure { return (caller, .failure(failure)) }
                return (caller, result)
            case .new, .ended: return nil
            }
        }
        ending?.caller.resume(with: ending?.result ?? .failure(CancellationError()))
    }
}

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
