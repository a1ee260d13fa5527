import Foundation
import TestSupport
import Testing

/// A document of the repository whose examples are tested.
struct Document {
    private let text: String

    /// Reads a document.
    /// - Parameter path: The path from the repository's root.
    init(_ path: String) throws {
        let root = Repository.root
        text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns the first fenced block after a mark.
    func block(after mark: String, language: String) throws -> String {
        let start = try #require(text.firstRange(of: mark)).upperBound
        let fence = try #require(text[start...].firstRange(of: "```\(language)\n")).upperBound
        let end = try #require(text[fence...].firstRange(of: "```")).lowerBound
        return String(text[fence..<end])
    }

    /// Returns whether the document contains a text.
    func contains(_ other: String) -> Bool { text.contains(other) }
}

/// Runs a script of a document.
func bash(_ script: String) async throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", script]
    let (output, errors) = (Pipe.make(), Pipe.make())
    process.standardOutput = output
    process.standardError = errors
    try process.start()
    return await withCheckedContinuation { continuation in
        Thread {
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitForEnd()
            continuation.resume(returning: (process.terminationStatus, text, complaint))
        }.start()
    }
}
