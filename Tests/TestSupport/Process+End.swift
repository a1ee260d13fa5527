#if os(Linux) || os(macOS)
    public import Foundation

    extension Process {
        /// Blocks the thread until the process has ended.
        ///
        /// Use this function instead of `waitUntilExit()`, which needs a whole core while it waits on Linux: it runs the thread's run loop,
        /// and a run loop without sources returns at once.
        public func waitForEnd() {
            while isRunning { Thread.sleep(forTimeInterval: 0.002) }
        }

        /// Waits on another thread until the process has ended.
        /// - Returns: The process's exit status.
        public func ended() async -> Int32 {
            await withCheckedContinuation { continuation in
                Thread {
                    self.waitForEnd()
                    continuation.resume(returning: self.terminationStatus)
                }.start()
            }
        }
    }
#endif
