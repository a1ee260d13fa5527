import Foundation
import Testing

extension Binary {
    /// Runs `serve` on a free port for the time of a closure, then sends it a signal at once.
    /// - Parameter body: Gets the address and the process.
    /// - Returns: The exit code, and the lines with which it said where it is.
    @discardableResult
    static func serve(
        environment: [String: String] = ["ENVIRONMENT": "development"],
        in folder: URL,
        endingWith signal: Int32,
        _ body: (URL, Process) async throws -> Void
    ) async throws -> (status: Int32, lines: [String]) {
        let process = try make(["serve", "--port", "0"], environment: environment, in: folder)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try await process.start()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        var lines: [String] = []
        for await line in output.fileHandleForReading.lines {
            lines.append(line)
            if line.contains("Stop with") { break }
        }
        let url = try #require(lines.first.flatMap(URL.init(string:)))
        try await body(url, process)
        kill(process.processIdentifier, signal)
        return (await process.ended(), lines)
    }
}
