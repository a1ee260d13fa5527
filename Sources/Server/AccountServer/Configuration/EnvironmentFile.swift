package import Foundation

/// The settings in a `.env` file, with one `NAME=value` per line.
///
/// Lines end with LF or CRLF. Empty lines and lines that begin with `#` are ignored. A line can begin with `export `, and a value can be in
/// quotes. References to other variables, such as `$NAME`, are not replaced. The description of a problem contains the number of the
/// invalid line, but never the line itself, because the line can contain a secret.
package struct EnvironmentFile: Hashable, Sendable {
    /// The values by their names. If several lines have the same name, the last line is used.
    package let values: [String: String]

    /// Reads a file. If the file doesn't exist, there are no settings.
    /// - Parameter path: The path, relative to the working folder or absolute.
    /// - Throws: ``InvalidConfiguration`` if the file can't be read or has invalid lines.
    package init(path: String) throws(InvalidConfiguration) {
        guard FileManager.default.fileExists(atPath: path) else {
            try self.init(Data())
            return
        }
        guard let bytes = try? Data(contentsOf: URL(filePath: path)) else {
            let text = "can't be read; run the command as a user who may read it"
            throw InvalidConfiguration(problems: [.init(setting: path, text: text)])
        }
        try self.init(bytes, name: path)
    }

    /// Parses the contents of a file.
    /// - Parameters:
    ///   - bytes: The contents. A byte order mark is skipped.
    ///   - name: The name of the file in problems.
    /// - Throws: ``InvalidConfiguration`` with a problem for each invalid line.
    package init(_ bytes: Data, name: String = ".env") throws(InvalidConfiguration) {
        var values: [String: String] = [:]
        var problems: [ConfigurationProblem] = []
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, bytes) in zip(1..., lines) {
            let line = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
            do throws(Refusal) {
                guard let (name, value) = try Self.setting(line) else { continue }
                values[name] = value
            } catch {
                problems.append(.init(setting: "\(name) line \(number)", text: error.text))
            }
        }
        guard problems.isEmpty else { throw InvalidConfiguration(problems: problems) }
        self.values = values
    }

    /// The problem of a line.
    private struct Refusal: Error {
        /// The problem, without the contents of the line.
        let text: String
    }

    /// Returns the name and the value of a line; `nil` for an empty line or a comment.
    ///
    /// - Parameter bytes: The line, without its end.
    /// - Throws: ``Refusal`` if the line is not UTF-8, has no name, or has an unclosed quote.
    private static func setting(_ bytes: Data.SubSequence) throws(Refusal) -> (String, String)? {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Refusal(text: "is no UTF-8") }
        let line = text.trimmingCharacters(in: .whitespaces)
        if line.isEmpty || line.hasPrefix("#") { return nil }
        guard let match = line.wholeMatch(of: /(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*([^\p{Cc}]*)/) else {
            throw Refusal(text: "is no NAME=value")
        }
        let value = match.2
        guard let quote = value.first, quote == "\"" || quote == "'" else { return (String(match.1), String(value)) }
        guard value.count > 1, value.last == quote else { throw Refusal(text: "has an unclosed quote") }
        return (String(match.1), String(value.dropFirst().dropLast()))
    }
}
