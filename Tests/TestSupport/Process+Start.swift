#if os(Linux) || os(macOS)
    public import Foundation
    import Synchronization

    /// Locked while a pipe is created or a process starts.
    ///
    /// On Linux, Foundation lists the descriptors of this process, and the child closes the listed ones. The child inherits a descriptor
    /// that another thread opens in between. This can be the end of a pipe, so that its reader waits until the child has ended. It can also
    /// be the end of the socket with which Foundation detects that another child has ended. Foundation then never learns of that end
    /// (https://github.com/swiftlang/swift-corelibs-foundation/issues/4795).
    private let opening = Mutex(())

    extension Process {
        /// Starts the process with no signal blocked, and closes the files that it gets, which only the child needs.
        ///
        /// Use this method instead of `run()`. A child inherits the signal mask of the thread that starts it, and the threads of a task
        /// block nearly all signals. A browser hangs if it does not receive the signals about the ends of its children.
        ///
        /// On Linux, Foundation keeps a process that has ended, with its pipes and files. The reader of a pipe closes it.
        public func start() throws {
            var (none, previous) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &previous)
            defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
            try opening.withLock { _ in try run() }
            for case let file as FileHandle in [standardInput, standardOutput, standardError]
            where file !== FileHandle.nullDevice && file.fileDescriptor > STDERR_FILENO {
                try file.close()
            }
        }

        /// Starts the process, and waits for the first line that it prints. Another thread reads the rest, because a full pipe would block
        /// the process.
        /// - Parameter output: The pipe that the process prints to.
        /// - Returns: The line without white space at its ends; empty if the process ended without a line.
        public func start(readingFirstLineOf output: Pipe) async throws -> String {
            try start()
            for await line in output.fileHandleForReading.lines { return line.trimmingCharacters(in: .whitespaces) }
            return ""
        }
    }

    extension Pipe {
        /// Creates a pipe that only the process inherits that gets it as an input or output.
        public static func make() -> Pipe {
            opening.withLock { _ in
                let pipe = Pipe()
                // The processes of exit tests start without the lock.
                for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
                    _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
                }
                return pipe
            }
        }
    }
#endif
