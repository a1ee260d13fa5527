public import AccountCore
import Dispatch
import Synchronization

/// Password hashing for tests, which takes no time. A hash consists of a number and the password, such as `1:secret`.
///
/// A test can read the hashed and verified passwords, block calls until the test releases them, and make the hashing of a password fail.
/// Use this type in place of Argon2id, which allocates 19 MiB for each call. If a test measures time or memory, use a real algorithm.
///
/// ```swift
/// let hashing = PlainHashing()
/// hashing.hold()
/// // Start sign-ins; each blocks the thread on which it hashes.
/// hashing.release(2)
/// ```
///
/// Never use this type in production: its hashes contain the passwords as plain text. All methods are thread-safe.
public final class PlainHashing: PasswordHashing {
    /// The recorded calls and the settings of the test, guarded by a mutex.
    private struct State {
        var isHeld = false
        var failures: [String: any Error] = [:]
        var hashed: [String] = []
        var verified: [(password: String, hash: String)] = []
        var running = 0
        var peak = 0
    }

    /// The number at the start of new hashes. A hash with another number needs a rehash.
    private let generation: Int
    /// Whether every password verifies against every hash.
    private let acceptsAll: Bool
    /// The recorded calls and settings. The lock is never held while a call is blocked.
    private let state = Mutex(State())
    /// The semaphore on which held calls wait. ``release(_:)`` adds permits.
    private let permits = DispatchSemaphore(value: 0)

    /// Creates a hashing that doesn't block calls until a test calls ``hold()``.
    /// - Parameters:
    ///   - generation: The number before the password in new hashes. Hashes with another number need a rehash, like real hashes after a
    ///     change of the algorithm's parameters.
    ///   - acceptsAll: Whether every password verifies against every hash.
    public init(generation: Int = 1, acceptsAll: Bool = false) {
        (self.generation, self.acceptsAll) = (generation, acceptsAll)
    }

    /// The passwords whose hashing has begun, in order. If a `HashingGate` uses this hashing, the first entry is a random text. The gate
    /// hashes it to get a decoy, a hash that belongs to no account.
    public var hashed: [String] { state.withLock(\.hashed) }
    /// The verifications that have begun, in order.
    public var verified: [(password: String, hash: String)] { state.withLock(\.verified) }
    /// The number of calls that have begun and not ended.
    public var running: Int { state.withLock(\.running) }
    /// The largest number of calls at one time.
    public var peak: Int { state.withLock(\.peak) }

    /// Makes all later calls wait until ``release(_:)`` lets them continue. A waiting call blocks its thread, like the computation of a
    /// real hash.
    ///
    /// Use this function to test a server while all of its hashing threads are busy. Calls that have already begun are not affected.
    public func hold() { state.withLock { $0.isHeld = true } }

    /// Lets a number of held calls continue. If fewer calls wait, the remaining permits let later calls continue at once.
    ///
    /// The order in which the waiting calls continue is not specified.
    /// - Parameter count: The number of calls; at least 0.
    public func release(_ count: Int = 1) {
        for _ in 0..<count { permits.signal() }
    }

    /// Makes the hashing of a password throw an error from now on. Verification is not affected.
    /// - Parameters:
    ///   - password: The password.
    ///   - error: The error.
    public func fail(_ password: String, with error: any Error) { state.withLock { $0.failures[password] = error } }

    /// Returns the generation, a colon and the password.
    ///
    /// Blocks the calling thread while calls are held, so call it on a thread outside of the cooperative pool.
    /// - Throws: The error of ``fail(_:with:)`` for this password.
    public func hash(_ password: String) throws -> String {
        begin { $0.hashed.append(password) }
        defer { state.withLock { $0.running -= 1 } }
        if let failure = state.withLock({ $0.failures[password] }) { throw failure }
        return "\(generation):\(password)"
    }

    /// Returns whether the part of a hash after its first colon is the password. The method ignores the generation.
    public func verify(_ password: String, against hash: String) -> Bool {
        begin { $0.verified.append((password, hash)) }
        defer { state.withLock { $0.running -= 1 } }
        // Real algorithms compare bytes. Swift's `==` would also accept a string that represents the same letters with different code
        // points.
        return acceptsAll || hash.drop { $0 != ":" }.dropFirst().utf8.elementsEqual(password.utf8)
    }

    /// Returns whether the generation of a hash differs from the generation of new hashes.
    public func needsRehash(_ hash: String) -> Bool { !hash.hasPrefix("\(generation):") }

    /// Records a call, and blocks the thread if calls are held.
    ///
    /// The call counts as running before it blocks, so that a test can wait for ``running`` to reach a number.
    /// - Parameter note: Adds the call to the state. The closure runs under the lock.
    private func begin(_ note: (inout State) -> Void) {
        let isHeld = state.withLock { state in
            note(&state)
            state.running += 1
            state.peak = max(state.peak, state.running)
            return state.isHeld
        }
        if isHeld { permits.wait() }
    }
}
