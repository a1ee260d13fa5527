package import Foundation
import Synchronization
import TestSupport

/// A server that a test runs in a separate process. It ends with the test's process, also if that is killed.
package final class ServerProcess: Sendable {
    /// The process id.
    package let id: Int32
    private let process: Mutex<Process>

    private init(_ process: sending Process) {
        id = process.processIdentifier
        self.process = Mutex(process)
    }

    /// Starts a program.
    /// - Parameters:
    ///   - program: The program to find in `PATH`.
    ///   - arguments: Its arguments.
    ///   - environment: Its environment in addition to `PATH`; `nil` for that of this process.
    ///   - log: The file for its output.
    package static func start(
        _ program: String,
        _ arguments: [String],
        environment: [String: String]? = nil,
        log: URL
    ) throws -> ServerProcess {
        if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
        return try Spawner.shared.run {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["setpriv", "--pdeathsig", "KILL", program] + arguments
            if let environment {
                process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""].merging(environment) { $1 }
            }
            process.standardInput = FileHandle.nullDevice
            let output = try FileHandle(forWritingTo: log)
            try output.seekToEnd()
            (process.standardOutput, process.standardError) = (output, output)
            try process.start()
            return ServerProcess(process)
        }
    }

    /// Returns the path of a program of this package, which the build puts beside the tests.
    package static func path(ofBuilt name: String) -> String? {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let candidates = [folder, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
        return candidates.map { $0.appending(path: name).path }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether the process runs.
    package var isRunning: Bool { process.withLock(\.isRunning) }

    /// Sends a signal to the process.
    package func signal(_ signal: Int32) {
        process.withLock { process in
            if process.isRunning { kill(id, signal) }
        }
    }

    /// Kills the process and waits until it is gone.
    package func stop() {
        signal(SIGKILL)
        process.withLock { $0.waitForEnd() }
    }
}

/// A thread that starts processes and never ends. It must never end, because the system kills a started process as soon as the thread that
/// started it ends, and not only when the process of this thread ends.
private final class Spawner: Sendable {
    static let shared = Spawner()
    private let work = Mutex<[@Sendable () -> Void]>([])
    private let signal = DispatchSemaphore(value: 0)

    private init() {
        let thread = Thread { [self] in
            while true {
                signal.wait()
                work.withLock { $0.removeFirst() }()
            }
        }
        thread.name = "spawner"
        thread.start()
    }

    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
        let (result, done) = (ResultBox<Result>(), DispatchSemaphore(value: 0))
        work.withLock { work in
            work.append {
                result.value.withLock { $0 = Swift.Result { try body() } }
                done.signal()
            }
        }
        signal.signal()
        done.wait()
        guard let value = result.value.withLock({ $0 }) else { throw TestFailure("the process did not start") }
        return try value.get()
    }
}

private final class ResultBox<Value: Sendable>: Sendable {
    let value = Mutex<Result<Value, any Error>?>(nil)
}
