import Foundation
import Synchronization
import TestSupport

/// Runs the programs of PostgreSQL, as a user that PostgreSQL accepts.
enum PostgresProcesses {
    /// The folder of all servers that this process starts. A watchdog removes it after the process has ended, also after a crash.
    static let folder: Result<URL, any Error> = Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hp\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try give(folder)
        try watch("sleep 1; rm -rf \"$0\"", folder.path)
        return folder
    }

    /// Returns the path of a program.
    static func program(_ name: String) throws -> String {
        if name.hasPrefix("/") { return name }
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let newest = versions.compactMap { Int($0) }.max().map { "/usr/lib/postgresql/\($0)/bin" }
        let places = [newest, "/opt/homebrew/opt/postgresql/bin", "/usr/local/bin", "/usr/bin"].compactMap(\.self)
        let paths = places.map { "\($0)/\(name)" }
        guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw TestFailure("\(name) is not installed")
        }
        return path
    }

    /// The prefix of a command that must not run as root, which PostgreSQL refuses.
    private static var user: [String] {
        getuid() == 0 ? ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
    }

    /// Makes the user that runs PostgreSQL the owner of a folder.
    static func give(_ folder: URL) throws {
        guard getuid() == 0 else { return }
        guard let entry = getpwnam("postgres"), chown(folder.path, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
            throw TestFailure("there is no user postgres")
        }
    }

    /// Runs a command and waits until it ends.
    /// - Returns: The output.
    @discardableResult
    static func run(_ name: String, _ arguments: [String]) async throws -> String {
        let command = try user + [program(name)] + arguments
        let process = Process()
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(filePath: "/")
        process.standardInput = FileHandle.nullDevice
        let result = try await process.result()
        let text = result.output + result.errors
        guard result.status == 0 else { throw TestFailure("\(command.joined(separator: " ")) failed: \(text)") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Starts a server that is killed when this process ends.
    static func serve(_ command: [String], log: URL) throws {
        let script = """
            "$@" </dev/null >>"$0" 2>&1 3<&- &
            server=$!
            { while read -r word <&3; do :; done; pkill -KILL -P $server; kill -KILL $server; } &
            watcher=$!
            wait $server
            kill -KILL $watcher
            """
        try watch("exec 3<&0; \(script)", log.path, user + command)
    }

    /// The writing ends of the pipes that watchdogs read. The system closes them when this process ends.
    private static let lifelines = Mutex<[Int32]>([])

    /// Starts a shell that reads its standard input until this process has ended, then runs a script.
    private static func watch(_ script: String, _ name: String, _ arguments: [String] = []) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestFailure("pipe failed with \(errno)") }
        // Otherwise other children would keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        lifelines.withLock { $0.append(ends[1]) }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        let waiting = arguments.isEmpty ? "while read -r word; do :; done; " : ""
        process.arguments = ["-c", "trap '' INT TERM HUP; " + waiting + script, name] + arguments
        process.currentDirectoryURL = URL(filePath: "/")
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
    }

    /// Returns whether a process exists. A process that has ended, but whose parent has not noticed its end, counts as ended.
    static func isRunning(_ process: Int32) -> Bool {
        guard kill(process, 0) == 0 else { return false }
        // The state follows the name, which is in parentheses.
        let state = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.split(separator: ")").last
        return state?.hasPrefix(" Z") != true
    }

    /// Returns the ids of a process's children.
    static func children(of process: Int32) async throws -> [Int32] {
        let text = (try? await run("/usr/bin/pgrep", ["-P", "\(process)"])) ?? ""
        return text.split(separator: "\n").compactMap { Int32($0) }
    }
}

/// Waits until a condition is true.
///
/// The pause between two checks grows to a tenth of a second, because many conditions start a process.
/// - Throws: ``TestFailure`` after five minutes.
package func waitUntil(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now.advanced(by: .seconds(300))
    var pause = Duration.milliseconds(5)
    while try await !condition() {
        guard ContinuousClock.now < end else { throw TestFailure("waited in vain: \(what)") }
        try await Task.sleep(for: pause)
        pause = min(pause * 3 / 2, .milliseconds(100))
    }
}
