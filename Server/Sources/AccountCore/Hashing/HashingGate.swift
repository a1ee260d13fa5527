public import AccountContract
public import Crypto
import Foundation
import Synchronization

/// Hashes passwords off the cooperative pool, as many at once as there are cores, with a bounded queue.
///
/// A hash takes about 16 ms of a core. Without a gate a burst of sign-ins would occupy every thread of the process; without a
/// bound on the queue it would answer all of them too late. Past the bound a caller is refused, after a little while if so wished: who asks
/// again as soon as he is refused would otherwise keep the processor from the hashes by being refused.
public final class HashingGate: Sendable {
    private let hashing: any PasswordHashing
    private let state: Mutex<GateState>
    private let decoy: String
    private let decoys = Mutex(DecoyMix.ownAlone)
    private let decoyKey: SymmetricKey
    private let hesitation: @Sendable () async throws -> Void
    private let hesitating = Atomic(0)
    /// How many who are refused are made to wait for it at once; the others hear it at once.
    static let mostHesitating = 1_000

    /// Creates a gate.
    /// - Parameters:
    ///   - hashing: What makes and checks hashes.
    ///   - width: How many at once.
    ///   - queueLimit: How many may wait.
    ///   - decoyKey: Decides which decoy an address gets; the same after a restart.
    ///   - hesitation: Ends when who is refused may hear of it.
    /// - Throws: What `hashing` throws for the decoy that is checked when there is no account.
    public init(
        hashing: any PasswordHashing,
        width: Int,
        queueLimit: Int = 64,
        decoyKey: SymmetricKey = SymmetricKey(size: .bits256),
        hesitation: @escaping @Sendable () async throws -> Void = {}
    ) throws {
        self.hesitation = hesitation
        self.hashing = hashing
        self.state = Mutex(GateState(width: width, queueLimit: queueLimit))
        self.decoyKey = decoyKey
        self.decoy = try hashing.hash(SecretToken().text)
    }

    /// The hash of a password, in Unicode's composed form (NFC): keyboards type the same letters as different code points.
    /// - Throws: ``AccountError`` with the code `SERVER_SERVICE_UNAVAILABLE` if too many wait.
    public func hash(_ password: Password) async throws -> String {
        try await run { [hashing] in try hashing.hash(password.composed) }
    }

    /// Whether a password has a hash. With no hash, or with ``Account/unusablePassword``, a decoy is checked, so that it takes the
    /// same time as for an account.
    /// - Parameter address: Whose password it is said to be; decides which decoy.
    /// - Throws: ``AccountError`` with the code `SERVER_SERVICE_UNAVAILABLE` if too many wait; `CancellationError`. It throws only if the
    ///   password was not checked.
    public func verify(_ password: Password, against hash: String?, of address: String = "") async throws -> Bool {
        let usable = hash == Account.unusablePassword ? nil : hash
        let checked = usable ?? decoys.withLock { $0.decoy(at: decoyKey.point(of: address)) } ?? decoy
        let matches = try await run { [hashing] in
            hashing.verify(password.composed, against: checked)
                // As it was typed: other systems hash that.
                || !password.isComposed && hashing.verify(password.rawValue, against: checked)
        }
        return matches && usable != nil
    }

    /// Replaces the decoys for addresses without an account.
    public func setDecoys(_ mix: DecoyMix) { decoys.withLock { $0 = mix } }

    /// A hash that no password has and that takes as long as one of another system or cost; `nil` for our own.
    public func decoy(like hash: String) -> String? { hashing.decoy(like: hash) }

    /// Whether a hash was made with weaker parameters than new ones are.
    public func needsRehash(_ hash: String) -> Bool { hashing.needsRehash(hash) }

    /// How many wait.
    public var queueLength: Int { state.withLock(\.waiting.count) }

    private func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        do {
            try await enter()
        } catch let busy as AccountError {
            try await hesitate()
            throw busy
        }
        defer { leave() }
        return try await withCheckedThrowingContinuation { continuation in
            // A thread of its own: the work blocks for milliseconds, and the gate bounds how many there are.
            let thread = Thread { continuation.resume(with: YieldingThread.run(work)) }
            thread.start()
        }
    }

    private func enter() async throws {
        let ticket = state.withLock { $0.nextTicket() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let admission = state.withLock { $0.enter(ticket, continuation) }
                switch admission {
                case .entered: continuation.resume()
                case .waiting: break
                case .full: continuation.resume(throwing: AccountError.busy(retryAfter: .seconds(1)))
                case .cancelled: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            let continuation = state.withLock { $0.cancel(ticket) }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private func hesitate() async throws {
        let count = hesitating.wrappingAdd(1, ordering: .relaxed).newValue
        defer { hesitating.wrappingSubtract(1, ordering: .relaxed) }
        if count <= Self.mostHesitating { try await hesitation() }
    }

    private func leave() {
        let next = state.withLock { $0.leave() }
        next?.resume()
    }
}

extension Password {
    /// In Unicode's composed form.
    fileprivate var composed: String { rawValue.precomposedStringWithCanonicalMapping }

    /// Whether it was typed so. Texts are equal when their letters are, whatever their code points.
    fileprivate var isComposed: Bool { composed.utf8.elementsEqual(rawValue.utf8) }
}

/// Who is inside the gate and who waits before it, first come first served.
private struct GateState {
    enum Admission { case entered, waiting, full, cancelled }
    typealias Waiter = CheckedContinuation<Void, any Error>

    let width: Int
    let queueLimit: Int
    var running = 0
    var waiting: [(ticket: UInt64, waiter: Waiter)] = []
    private var lastTicket: UInt64 = 0
    /// Tickets of callers that have not come to the door yet, and those of them that have been cancelled.
    private var pending: Set<UInt64> = []
    private var cancelledEarly: Set<UInt64> = []

    init(width: Int, queueLimit: Int) {
        precondition(width > 0, "width must be positive (is \(width))")
        precondition(queueLimit >= 0, "queueLimit must not be negative (is \(queueLimit))")
        self.width = width
        self.queueLimit = queueLimit
    }

    mutating func nextTicket() -> UInt64 {
        lastTicket += 1
        pending.insert(lastTicket)
        return lastTicket
    }

    mutating func enter(_ ticket: UInt64, _ waiter: Waiter) -> Admission {
        pending.remove(ticket)
        if cancelledEarly.remove(ticket) != nil { return .cancelled }
        if running < width {
            running += 1
            return .entered
        }
        guard waiting.count < queueLimit else { return .full }
        waiting.append((ticket, waiter))
        return .waiting
    }

    /// Lets the next one in, in the place of the one that leaves.
    mutating func leave() -> Waiter? {
        guard !waiting.isEmpty else {
            running -= 1
            return nil
        }
        return waiting.removeFirst().waiter
    }

    mutating func cancel(_ ticket: UInt64) -> Waiter? {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else {
            if pending.contains(ticket) { cancelledEarly.insert(ticket) }
            return nil
        }
        return waiting.remove(at: index).waiter
    }
}
