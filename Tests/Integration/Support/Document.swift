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
func bash(_ script: String) async throws -> ProcessResult {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", script]
    return try await process.result()
}
