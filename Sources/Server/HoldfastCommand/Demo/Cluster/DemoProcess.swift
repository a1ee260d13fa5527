import Foundation
import Synchronization

/// A process of the demo. Linux kills the process when the demo ends, even after a crash.
final class DemoProcess: Sendable {
    /// The number of the process.
    let id: Int32
    private let process: Mutex<Process>
    /// The file to which the process appends its output.
    private let log: URL
    /// The length of the file when the process started.
    private let logStart: UInt64

    private init(_ process: sending Process, log: URL, logStart: UInt64) {
        id = process.processIdentifier
        self.process = Mutex(process)
        (self.log, self.logStart) = (log, logStart)
    }

    /// Starts a program.
    /// - Parameters:
    ///   - command: The path of the program, and its arguments.
    ///   - isDatabase: Whether the program belongs to PostgreSQL, which refuses to run as root.
    ///   - environment: Additional environment variables.
    ///   - folder: The working folder of the program.
    ///   - log: The file for its output. The output is appended, so the file can already contain the output of an earlier process.
    static func start(
        _ command: [String],
        isDatabase: Bool = false,
        environment: [String: String] = [:],
        in folder: URL,
        log: URL
    ) async throws -> DemoProcess {
        // The program `setpriv` exists only on Linux. The demo of a cluster therefore requires Linux.
        let setpriv = try? DemoTools.path(of: "setpriv")
        let user = isDatabase && getuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
        return try await ProcessStarter.shared.run {
            let process = Process()
            process.executableURL = URL(filePath: setpriv ?? command[0])
            process.arguments = setpriv == nil ? Array(command.dropFirst()) : user + ["--pdeathsig", "KILL"] + command
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            process.environment = ["PATH": path, "LC_ALL": "C"].merging(environment) { $1 }
            process.currentDirectoryURL = folder
            process.standardInput = FileHandle.nullDevice
            if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
            let output = try FileHandle(forWritingTo: log)
            let logStart = try output.seekToEnd()
            (process.standardOutput, process.standardError) = (output, output)
            try process.run()
            return DemoProcess(process, log: log, logStart: logStart)
        }
    }

    /// Whether the process is still running.
    var isRunning: Bool { process.withLock { $0.isRunning } }

    /// The output of the process so far. It doesn't contain the output of earlier processes with the same log.
    var output: String {
        get throws {
            let file = try FileHandle(forReadingFrom: log)
            defer { try? file.close() }
            try file.seek(toOffset: logStart)
            return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        }
    }

    /// Sends a signal to the process, if it is running.
    func signal(_ signal: Int32) {
        process.withLock { process in
            if process.isRunning { kill(id, signal) }
        }
    }

    /// The child processes of this process.
    var children: [Int32] {
        let text = try? String(contentsOfFile: "/proc/\(id)/task/\(id)/children", encoding: .utf8)
        return text?.split(separator: " ").compactMap { Int32($0) } ?? []
    }

    /// Sends a signal to the process, and kills it if it has not ended after ten seconds.
    func end(_ signal: Int32) async {
        self.signal(signal)
        for _ in 0..<1_000 where isRunning { try? await ContinuousClock().sleep(for: .milliseconds(10)) }
        self.signal(SIGKILL)
        while isRunning { await Task.yield() }
    }

    /// Waits until the process has ended.
    /// - Returns: The exit code of the process.
    func ended() async throws -> Int32 {
        while isRunning { try await Task.sleep(for: .milliseconds(10)) }
        return process.withLock { $0.terminationStatus }
    }
}

/// A thread that starts processes and never ends. It must not end, because the kernel kills a process when the thread that started the
/// process ends.
private final class ProcessStarter: Sendable {
    /// The only thread of this kind.
    static let shared = ProcessStarter()
    private let work = Mutex<[@Sendable () -> Void]>([])
    private let signal = DispatchSemaphore(value: 0)

    /// Starts the thread.
    private init() {
        let thread = Thread { [self] in
            // A process inherits the blocked signals of the thread that starts it, so the thread blocks no signals.
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            while true {
                signal.wait()
                work.withLock { $0.removeFirst() }()
            }
        }
        thread.name = "processes"
        thread.start()
    }

    /// Runs a closure on the thread, and returns its result.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            work.withLock { $0.append { continuation.resume(with: Swift.Result { try body() }) } }
            signal.signal()
        }
    }
}

/// The programs of a cluster.
enum DemoTools {
    /// The error of a demo whose programs are not installed.
    struct Missing: Error, CustomStringConvertible {
        let tool: String
        var description: String {
            let package = DemoTools.packages[tool] ?? tool
            return "\(tool) is not installed; on Debian and Ubuntu, install it with 'apt-get install \(package)'"
        }
    }

    /// The Debian packages that contain the programs.
    private static let packages = [
        "initdb": "postgresql", "postgres": "postgresql", "redis-server": "redis-server", "setpriv": "util-linux",
    ]

    /// Checks that all programs are installed.
    static func requireAll() throws(Missing) {
        for tool in packages.keys.sorted() { _ = try path(of: tool) }
    }

    /// Returns the path of a program. Debian installs the programs of PostgreSQL outside of `PATH`, in a folder for each version.
    static func path(of tool: String) throws(Missing) -> String {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let newest = versions.compactMap { Int($0) }.max().map { ["/usr/lib/postgresql/\($0)/bin"] } ?? []
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let paths = (newest + folders + ["/usr/bin", "/usr/sbin"]).map { "\($0)/\(tool)" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else { throw Missing(tool: tool) }
        return path
    }
}
