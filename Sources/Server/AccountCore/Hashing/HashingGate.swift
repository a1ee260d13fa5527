public import AccountContract
public import Crypto
import Foundation
import Synchronization
import Timekeeping

/// Hashes passwords on its own threads, as many at once as there are cores, with a bounded queue.
///
/// A hash takes about 16 ms of a core. Without a gate a burst of sign-ins would occupy every thread of the process. Without a bound on the queue, every
/// caller would be served too late. A caller beyond the bound is refused and told when there will be capacity for it. Networks take turns, and
/// callers that have proven a right come first: see ``HashingPurpose``. The network is that of ``AuditOrigin/current``.
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
    ///   - hashing: Creates and checks hashes.
    ///   - width: How many hashes are computed at once.
    ///   - queueLimit: How many callers of each purpose may wait.
    ///   - longestWait: How long an attempt may wait, by the measured rate.
    ///   - decoyKey: Decides which decoy an address gets; the same after a restart.
    ///   - clock: Measures the rate.
    ///   - chance: A number from 0 up to 1, evenly distributed, that spreads the times at which refused callers return.
    /// - Throws: Errors of `hashing`, for the decoy that is checked when there is no account.
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

    /// The hash of a password, in Unicode's composed form (NFC): keyboards type the same letters as different code points.
    /// - Throws: ``AccountError`` with the code `SERVER_SERVICE_UNAVAILABLE` if too many callers wait.
    public func hash(_ password: Password, as purpose: HashingPurpose = .attempt) async throws -> String {
        try await run(purpose) { [hashing] in try hashing.hash(password.composed) }
    }

    /// Whether a password has a hash. With no hash, or with ``Account/unusablePassword``, a decoy is checked, so that it takes the
    /// same time as for an account.
    /// - Parameters:
    ///   - password: The password as the user typed it.
    ///   - hash: The stored hash; `nil` if there is no such account.
    ///   - address: The address that the caller signs in with; decides which decoy.
    /// - Throws: ``AccountError`` with the code `SERVER_SERVICE_UNAVAILABLE` if too many callers wait; `CancellationError`. It throws only if
    ///   the password was not checked.
    public func verify(_ password: Password, against hash: String?, of address: String = "") async throws -> Bool {
        let usable = hash == Account.unusablePassword ? nil : hash
        let checked = usable ?? decoys.withLock { $0.decoy(at: decoyKey.point(of: address)) } ?? decoy
        let matches = try await run(.attempt) { [hashing] in
            hashing.verify(password.composed, against: checked)
                // As it was typed: other systems hash that.
                || !password.isComposed && hashing.verify(password.rawValue, against: checked)
        }
        return matches && usable != nil
    }

    /// Refuses an attempt that would be refused if it came now, before anything else is done for it.
    /// - Throws: ``AccountError`` with the code `SERVER_SERVICE_UNAVAILABLE`.
    public func requireRoom() throws(AccountError) {
        let network = AuditOrigin.current.client
        let delay = queue.state.withLock { $0.refuseEarly(from: network, at: clock.now, chance: chance()) }
        if let delay { throw .busy(retryAfter: delay) }
    }

    /// Replaces the decoys for addresses without an account.
    public func setDecoys(_ mix: DecoyMix) { decoys.withLock { $0 = mix } }

    /// A hash that no password has and that takes as long as one of another system or cost; `nil` for our own.
    public func decoy(like hash: String) -> String? { hashing.decoy(like: hash) }

    /// Whether a hash was made with weaker parameters than new ones are.
    public func needsRehash(_ hash: String) -> Bool { hashing.needsRehash(hash) }

    /// How many callers wait.
    public var queueLength: Int { queue.state.withLock(\.count) }

    /// The number of hashes per second that are computed while all threads are busy, as measured lately.
    public var rate: Double { queue.state.withLock { $0.rate(at: clock.now) } }

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

/// A hash to compute for a caller, who gets the result or an error.
private struct Job: Sendable {
    let compute: HashingThreads.Job
    let end: @Sendable (any Error) -> Void

    init(compute: @escaping HashingThreads.Job, end: @escaping @Sendable (any Error) -> Void) {
        (self.compute, self.end) = (compute, end)
    }
}

extension HashQueue<Job>.Refusal {
    fileprivate func end() { job.end(AccountError.busy(retryAfter: delay)) }
}

/// The queue, for the gate and its threads.
private final class SharedQueue: Sendable {
    let state: Mutex<HashQueue<Job>>

    init(_ queue: sending HashQueue<Job>) { state = Mutex(queue) }
}

extension Password {
    /// In Unicode's composed form.
    fileprivate var composed: String { rawValue.precomposedStringWithCanonicalMapping }

    /// Whether it was typed so. Texts are equal when their letters are, whatever their code points.
    fileprivate var isComposed: Bool { composed.utf8.elementsEqual(rawValue.utf8) }
}
