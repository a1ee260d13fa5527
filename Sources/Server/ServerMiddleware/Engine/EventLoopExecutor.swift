import NIOCore

/// Runs the tasks of a connection on its event loop: a request that waits for nothing is read, answered and written by one thread.
///
/// The global executor would take each of them to a thread of its own and back, which costs more than most answers do.
final class EventLoopExecutor: TaskExecutor {
    /// The executor of the connection that the current task answers; tasks that it starts ask for it.
    @TaskLocal static var current: EventLoopExecutor?

    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
