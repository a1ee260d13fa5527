import Foundation

extension Process {
    /// Starts the process with no signal blocked. A child inherits the mask of the thread that starts it, and the threads of a
    /// task block nearly all signals. A browser hangs if it does not receive the signals about its children's ends.
    func start() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread {
                var none = sigset_t()
                sigemptyset(&none)
                pthread_sigmask(SIG_SETMASK, &none, nil)
                continuation.resume(with: Result { try self.run() })
            }.start()
        }
    }
}
