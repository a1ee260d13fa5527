import Dispatch
import Foundation
import Synchronization

/// A thread that gives way: where there is other work for its core, it gets a third of what the others get.
///
/// Hashes fill all cores for as long as passwords come in. On threads like any other they would make each request wait for a turn
/// of some milliseconds at every step; so they yield to it, and take all that is left.
enum YieldingThread {
    /// Runs the work on such a thread, and waits for it.
    ///
    /// The thread that waits is there so that what happens next starts from it: threads inherit how they yield, also those that a
    /// system's pool makes when a task is resumed.
    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) -> Swift.Result<Result, any Error> {
        let outcome = Outcome<Result>()
        let thread = Thread {
            giveWay()
            outcome.set(Swift.Result(catching: work))
        }
        thread.start()
        return outcome.wait()
    }

    private static func giveWay() {
        #if os(Linux)
            // This thread alone, as Linux has it; a process that has given way already gives way further.
            _ = nice(5)
        #else
            Thread.current.qualityOfService = .utility
        #endif
    }
}

/// What the work came to, and who waits for it.
private final class Outcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ value: Result<Value, any Error>) {
        result.withLock { $0 = value }
        isThere.signal()
    }

    func wait() -> Result<Value, any Error> {
        isThere.wait()
        return result.withLock { $0 } ?? .failure(CancellationError())
    }
}
