import Foundation
import TestSupport
import Testing

extension Binary {
    /// Runs `serve` on a free port for the duration of a closure, then sends it a signal at once.
    /// - Parameters:
    ///   - openFiles: The limit of open files; `nil` uses the limit of this process.
    ///   - body: Receives the URL and the process, which it may end itself.
    /// - Returns: The exit code, and the lines in which it printed its addresses.
    @discardableResult
    static func serve(
        environment: [String: String] = ["ENVIRONMENT": "development"],
        options: [String] = [],
        openFiles: Int? = nil,
        in folder: URL,
        endingWith signal: Int32,
        _ body: (URL, Process) async throws -> Void
    ) async throws -> (status: Int32, lines: [String]) {
        let environment = TestStores.smallLimits.merging(environment) { $1 }
        let process = try make(["serve", "--port", "0"] + options, environment: environment, in: folder)
        if let openFiles, let path = process.executableURL?.path {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "ulimit -n \(openFiles); exec \"$0\" serve --port 0", path]
        }
        let output = Pipe.make()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        var lines: [String] = []
        for await line in output.fileHandleForReading.lines {
            lines.append(line)
            if line.contains("Stop with") { break }
        }
        let url = try #require(lines.first.flatMap(URL.init(string:)))
        try await body(url, process)
        if process.isRunning { kill(process.processIdentifier, signal) }
        return (await process.ended(), lines)
    }
}

/// Runs `serve` on a free port for the duration of a closure, which gets its URL, and stops it.
func withServing<Result>(
    environment: [String: String] = ["ENVIRONMENT": "development"],
    options: [String] = [],
    in folder: URL,
    _ body: (URL) async throws -> Result
) async throws -> Result {
    var result: Result?
    try await Binary.serve(environment: environment, options: options, in: folder, endingWith: SIGTERM) { url, _ in
        result = try await body(url)
    }
    return try #require(result)
}
