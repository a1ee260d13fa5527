import Foundation
import Idempotency
import Synchronization

/// A store that passes calls to another store, except for the operation that a test lets fail.
struct FaultyStore: IdempotencyStore {
    enum Fault {
        case failsToClaim, isFull, failsToEnd
        /// `claim` throws a `CancellationError`, as the stores do if the task of the request is canceled.
        case isCanceled
        /// `finish` and `release` do nothing, as if the process had been killed before it could call them.
        case forgetsTheEnd
        /// The first claim throws an error after the underlying store has claimed the key.
        case losesTheFirst
    }

    /// An error whose description must not be part of a response.
    struct Trouble: Error, CustomStringConvertible {
        var description: String { "hunter2" }
    }

    var database: ObjectIdentifier? { base.database }

    private let base: any IdempotencyStore
    private let fault: Fault
    private let losses = Losses()

    private final class Losses: Sendable {
        private let isFirst = Mutex(true)

        func first() -> Bool {
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
        }
    }

    init(_ base: any IdempotencyStore, fault: Fault) {
        (self.base, self.fault) = (base, fault)
    }

    func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome {
        switch fault {
        case .failsToClaim: throw Trouble()
        case .isCanceled: throw CancellationError()
        case .isFull: return .full(.seconds(90_000))
        default:
            let outcome = try await base.claim(claim, lease: lease, at: now)
            if fault == .losesTheFirst, losses.first() { throw Trouble() }
            return outcome
        }
    }

    func finish(_ claim: IdempotencyClaim, with response: IdempotentResponse?, until expiry: Date) async throws -> Bool {
        switch fault {
        case .failsToEnd: throw Trouble()
        case .forgetsTheEnd: true
        default: try await base.finish(claim, with: response, until: expiry)
        }
    }

    func release(_ claim: IdempotencyClaim) async throws {
        switch fault {
        case .failsToEnd: throw Trouble()
        case .forgetsTheEnd: break
        default: try await base.release(claim)
        }
    }

    func sweep(at now: Date) async throws -> Bool { try await base.sweep(at: now) }
    func count() async throws -> Int { try await base.count() }
}

/// A store that passes calls to another store, except during an outage, in which it can neither claim, finish nor release keys.
final class OutageStore: IdempotencyStore {
    private let base = MemoryIdempotencyStore()
    private let isDown = Mutex(false)

    /// Begins or ends an outage.
    func setDown(_ value: Bool) { isDown.withLock { $0 = value } }

    private func requireUp() throws {
        if isDown.withLock({ $0 }) { throw FaultyStore.Trouble() }
    }

    func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome {
        try requireUp()
        return base.claim(claim, lease: lease, at: now)
    }

    func finish(_ claim: IdempotencyClaim, with response: IdempotentResponse?, until expiry: Date) async throws -> Bool {
        try requireUp()
        return base.finish(claim, with: response, until: expiry)
    }

    func release(_ claim: IdempotencyClaim) async throws {
        try requireUp()
        base.release(claim)
    }

    func sweep(at now: Date) async throws -> Bool { base.sweep(at: now) }
    func count() async throws -> Int { base.count() }
}

/// A store that fails to claim keys, and counts the calls that release them. The first release waits for ``gate``, and then fails.
final class HeldReleaseStore: IdempotencyStore {
    let gate = Gate()
    private let calls = Mutex(0)

    /// The number of calls of ``release(_:)``.
    var releases: Int { calls.withLock { $0 } }

    func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome {
        throw FaultyStore.Trouble()
    }

    func finish(_ claim: IdempotencyClaim, with response: IdempotentResponse?, until expiry: Date) async throws -> Bool {
        throw FaultyStore.Trouble()
    }

    func release(_ claim: IdempotencyClaim) async throws {
        let isFirst = calls.withLock { calls in
            calls += 1
            return calls == 1
        }
        guard isFirst else { return }
        await gate.pass()
        throw FaultyStore.Trouble()
    }

    func sweep(at now: Date) async throws -> Bool { false }
    func count() async throws -> Int { 0 }
}
