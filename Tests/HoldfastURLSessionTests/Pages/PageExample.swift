import Foundation
import Testing

/// An example of a page under `docs`, as lines without their indents.
struct PageExample {
    let lines: [String]

    /// Reads the first Swift block behind a mark.
    init(_ path: String, mark: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../docs").standardized
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        let start = try #require(text.firstRange(of: mark)).upperBound
        let fence = try #require(text[start...].firstRange(of: "```swift\n")).upperBound
        let end = try #require(text[fence...].firstRange(of: "```")).lowerBound
        lines = Self.lines(of: text[fence..<end])
    }

    /// The lines that stand between two lines `// name` of a source.
    static func compiled(_ name: String, in source: String) throws -> [String] {
        let text = try String(contentsOfFile: source, encoding: .utf8)
        return lines(of: try #require(text.split(separator: "// \(name)\n").dropFirst().first))
    }

    private static func lines(of code: Substring) -> [String] {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
