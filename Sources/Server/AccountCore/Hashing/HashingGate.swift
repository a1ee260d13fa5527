public import AccountContract
public import Crypto
import Foundation
import Synchronization
import Timekeeping

/// Hashes passwords on its own threads. The number of concurrent hashes is limited, and the queue is bounded.
///
/// ```swift
/// let gate = try HashingGate(hashing: hashing, width: 4)
/// let hash = try await gate.hash(password)
/// let isRight = try await gate.verify(password, against: hash)
/// ```
///
/// A hash takes about 16 ms of a core. Without a gate, a burst of sign-ins would occupy all threads of the process. Without a limit for the
/// queue, all callers would wait too long. If the queue is full, the gate refuses a caller and returns the delay after which there will be
/// capacity. The gate first serves callers that have proven a right, for example with a reset token. Among the other callers, the networks
/// of the clients take turns; see ``HashingPurpose``. The gate reads the network of the caller from ``AuditOrigin/current``.
///
/// Create one gate per process, with one thread per processor. If a caller is canceled, its job is removed from the queue. If a thread
/// already computes the hash, it finishes the hash and discards the result.
public final class HashingGate: Sendable {
    private let hashing: any PasswordHashing
    private let queue: SharedQueue
    private let threads: HashingThreads
    private let decoy: String
    private let decoys = Mutex(DecoyMix.ownAlone)
    private let decoyKey: SymmetricKey
    private let clock: MonotonicClock
    private let chance: @Sendable () -> Double

    /// Creates a gate.
    /// - Parameters:
    ///   - hashing: Creates and verifies hashes.
    ///   - width: The number of hashes that are computed at the same time.
    ///   - queueLimit: The largest number of waiting callers of each purpose.
    ///   - longestWait: The longest time that an attempt may wait. The gate estimates the wait by the measured rate of hashes.
    ///   - decoyKey: The key of the HMAC that selects the decoy of an address. The key must be the same after a restart.
    ///   - clock: Measures the rate of hashes.
    ///   - chance: Returns an evenly distributed random number from 0 up to, but not including, 1. It spreads the times at which refused
    ///     callers return.
    /// - Throws: Errors of `hashing` while it creates the decoy for sign-ins without an account.
    public init<C: Clock>(
        hashing: any PasswordHashing,
        width: Int,
        queueLimit: Int = 64,
        longestWait: Duration = .seconds(1),
        decoyKey: SymmetricKey = SymmetricKey(size: .bits256),
        clock: C = ContinuousClock(),
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) throws where C.Duration == Duration {
        let queue = SharedQueue(HashQueue(width: width, limit: queueLimit, longestWait: longestWait))
        let clock = MonotonicClock(clock)
        self.hashing = hashing
        self.queue = queue
        self.clock = clock
        self.chance = chance
        self.decoyKey = decoyKey
        threads = HashingThreads(width: width) { queue.state.withLock { $0.finish(at: clock.now) }?.compute }
        decoy = try hashing.hash(SecretToken().text)
    }

    deinit { threads.end() }

    /// Returns the hash of a password. The password is first normalized to Unicode's composed form (NFC), because keyboards may enter the
    /// same letter with different code points.
    /// - Throws: ``AccountError`` with the code `SERVER_SERVICE_UNAVAILABLE` if too many callers wait.
    public func hash(_ password: Password, as purpose: HashingPurpose = .attempt) async throws -> String {
        try await run(purpose) { [hashing] in try hashing.hash(password.composed) }
    }

    /// Returns whether a password matches a hash. If the hash is `nil` or ``Account/unusablePassword``, the method verifies a decoy, so
    /// that the call takes the same time as for an account.
    /// - Parameters:
    ///   - password: The password as the user typed it.
    ///   - hash: The stored hash; `nil` if there is no such account.
    ///   - address: The normalized email address of the sign-in. The method uses it only to select the decoy.
    /// - Throws: ``AccountError`` with the code `SERVER_SERVICE_UNAVAILABLE` if too many callers wait; `CancellationError`. If the method
    ///   throws, the password was not checked.
    public func verify(_ password: Password, against hash: String?, of address: String = "") async throws -> Bool {
        let usable = hash == Account.unusablePassword ? nil : hash
        let checked = usable ?? decoys.withLock { $0.decoy(at: decoyKey.point(of: address)) } ?? decoy
        let matches = try await run(.attempt) { [hashing] in
            hashing.verify(password.composed, against: checked)
                // The password is also tried as the user typed it, because other systems hash it without normalization.
                || !password.isComposed && hashing.verify(password.rawValue, against: checked)
        }
        return matches && usable != nil
    }

    /// Throws if the queue would refuse an attempt now. Call this method before you do other work for the attempt.
    /// - Throws: ``AccountError`` with the code `SERVER_SERVICE_UNAVAILABLE`.
    public func requireRoom() throws(AccountError) {
        let network = AuditOrigin.current.client
        let delay = queue.state.withLock { $0.refuseEarly(from: network, at: clock.now, chance: chance()) }
        if let delay { throw .busy(retryAfter: delay) }
    }

    /// Replaces the decoys for addresses without an account. ``DecoyMaintenance`` calls this method with the spans of the ``DecoyStore``,
    /// so that all processes use the same decoys. The method doesn't affect calls of ``verify(_:against:of:)`` that have already begun.
    public func setDecoys(_ mix: DecoyMix) { decoys.withLock { $0 = mix } }

    /// Returns a decoy: a hash that no password matches, and whose verification takes as long as the verification of the given hash.
    /// Returns `nil` if the given hash has the parameters of new hashes.
    public func decoy(like hash: String) -> String? { hashing.decoy(like: hash) }

    /// Returns whether a hash has other parameters than new hashes. The check reads only the text of the hash. It doesn't compute a hash,
    /// so it doesn't need a place in the queue.
    public func needsRehash(_ hash: String) -> Bool { hashing.needsRehash(hash) }

    /// The number of waiting callers.
    public var queueLength: Int { queue.state.withLock(\.count) }

    /// The number of hashes that are computed per second while all threads are busy. Recent measurements have more weight.
    public var rate: Double { queue.state.withLock { $0.rate(at: clock.now) } }

    /// Enqueues work, and runs it on a hashing thread when its turn comes.
    ///
    /// The ticket is created before the continuation. So if the caller is canceled between these two steps, the queue can find the job by
    /// its ticket. The continuation is resumed exactly once: by the computed job, a refusal, a displacement, or the cancellation.
    private func run<Value: Sendable>(_ purpose: HashingPurpose, _ work: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        let ticket = queue.state.withLock { $0.nextTicket() }
        let network = AuditOrigin.current.client
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let job = Job {
                    let result = Result(catching: work)
                    return { continuation.resume(with: result) }
                } end: {
                    continuation.resume(throwing: $0)
                }
                let admission = queue.state.withLock {
                    $0.enter(job, ticket, as: purpose, from: network, at: clock.now, chance: chance())
                }
                switch admission {
                case .start(let job): threads.start(job.compute)
                case .waiting(let displaced): displaced?.end()
                case .refused(let refusal): refusal.end()
                case .cancelled(let job): job.end(CancellationError())
                }
            }
        } onCancel: {
            queue.state.withLock { $0.cancel(ticket) }?.end(CancellationError())
        }
    }
}

/// A hash to compute. The caller receives the result or an error.
private struct Job: Sendable {
    let compute: HashingThreads.Job
    let end: @Sendable (any Error) -> Void
}

extension HashQueue<Job>.Refusal {
    /// Resumes the caller with the refusal.
    fileprivate func end() { job.end(AccountError.busy(retryAfter: delay)) }
}

/// The queue, shared by the gate and its threads.
private final class SharedQueue: Sendable {
    let state: Mutex<HashQueue<Job>>

    init(_ queue: sending HashQueue<Job>) { state = Mutex(queue) }
}

extension Password {
    /// The password in Unicode's composed form (NFC).
    fileprivate var composed: String { rawValue.precomposedStringWithCanonicalMapping }

    /// Whether the password was typed in the composed form. Compares bytes, because Swift's strings are equal in both forms.
    fileprivate var isComposed: Bool { composed.utf8.elementsEqual(rawValue.utf8) }
}
