import Synchronization

/// Runs tasks one job at a time on the thread of whoever drains it, so that a test knows when all of them wait.
///
/// With a ``ManualClock`` that makes a simulation: run what can run, move the clock to the next deadline, and so on. A task that
/// should have ended and has not after ``drain()`` waits for something that nobody will bring: a test sees it rather than hangs.
public final class SteppedExecutor: TaskExecutor {
    private let jobs = Mutex<(all: [UnownedJob], next: Int)>(([], 0))

    /// Creates an executor without jobs.
    public init() {}

    /// Takes a job that ``drain()`` will run.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.all.append(job) }
    }

    /// Runs until everybody waits.
    public func drain() {
        while let job = takeJob() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs, and moves the clock from deadline to deadline, up to an instant.
    public func run(_ clock: ManualClock, until end: Duration) {
        drain()
        while let next = clock.nextDeadline, next.offset <= end {
            clock.advance(by: clock.now.duration(to: next))
            drain()
        }
    }

    private func takeJob() -> UnownedJob? {
        jobs.withLock { jobs in
            guard jobs.next < jobs.all.count else {
                jobs = ([], 0)
                return nil
            }
            jobs.next += 1
            return jobs.all[jobs.next - 1]
        }
    }
}
