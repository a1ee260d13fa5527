import Foundation
import Testing

/// Runs `holdfast serve` as a process of its own on a free port, with the folder `data`, for the time of a closure.
func withServing<Result>(
    environment: [String: String] = ["ENVIRONMENT": "development"],
    in folder: URL,
    _ body: (URL) async throws -> Result
) async throws -> Result {
    let process = try Binary.make(["serve", "--port", "0"], environment: environment, in: folder)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try await process.start()
    defer { if process.isRunning { process.terminate() } }
    var first: String?
    for await line in output.fileHandleForReading.lines {
        first = first ?? line
        if line.contains("Stop with") { break }
    }
    let url = try #require(first.flatMap(URL.init(string:)), "the server did not start")
    let result = try await body(url)
    process.terminate()
    _ = await process.ended()
    return result
}
