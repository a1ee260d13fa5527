import AccountCore
import Dispatch
import Synchronization

/// Hashing in which each call stands still until the test lets one go; a hash is the password with a prefix.
final class GatedHashing: PasswordHashing {
    private struct State {
        var begun: [String] = []
        var running = 0
        var peak = 0
    }

    private let state = Mutex(State())
    private let permits = DispatchSemaphore(value: 0)

    /// Lets a number of calls go on.
    func letGo(_ count: Int = 1) {
        for _ in 0..<count { permits.signal() }
    }

    /// The passwords whose hashing has begun, in order; the decoy is left out.
    var begun: [String] { state.withLock { Array($0.begun.dropFirst()) } }
    /// The largest number of calls at one time.
    var peak: Int { state.withLock(\.peak) }
    /// How many calls stand still now.
    var running: Int { state.withLock(\.running) }

    func hash(_ password: String) throws -> String {
        pass(password)
        return "hash of \(password)"
    }

    func verify(_ password: String, against hash: String) -> Bool {
        pass(password)
        return hash == "hash of \(password)"
    }

    func needsRehash(_ hash: String) -> Bool { false }

    private func pass(_ password: String) {
        state.withLock {
            $0.begun.append(password)
            $0.running += 1
            $0.peak = max($0.peak, $0.running)
        }
        permits.wait()
        state.withLock { $0.running -= 1 }
    }
}

/// Gives the processor to other tasks until a condition holds.
func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
