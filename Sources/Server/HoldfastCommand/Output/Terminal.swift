import ArgumentParser
import Foundation

/// Standard output and standard error without buffering, so that a pipe receives each line immediately.
enum Terminal {
    /// Writes a line to standard output.
    static func say(_ line: String = "") {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Writes text without a line end to standard output.
    static func show(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    /// Writes a line to standard error.
    static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// Writes a line to standard error, and returns the exit code for the caller to throw.
    static func failure(_ line: String, _ code: ExitCode = .failure) -> ExitCode {
        complain(line)
        return code
    }

    /// Returns the lines of a table. Each column is as wide as its longest cell.
    static func table(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let padded = zip(row, widths).map { $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0) }
            var line = padded.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Whether standard output is a terminal and colors are not disabled (no-color.org).
    static var isColored: Bool {
        isatty(STDOUT_FILENO) != 0 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
    }

    /// Asks a question on standard error, and reads the reply from standard input.
    /// - Returns: Whether the reply is `y` or `yes`. The end of the input means no.
    static func confirm(_ question: String) -> Bool {
        FileHandle.standardError.write(Data("\(question) [y/N] ".utf8))
        guard let reply = readLine() else {
            complain("")
            return false
        }
        return ["y", "yes"].contains(reply.trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// Reads a line from standard input. A terminal shows a prompt, and hides the typed text.
    static func secretLine(prompt: String) -> String? {
        guard isatty(STDIN_FILENO) != 0 else { return readLine() }
        FileHandle.standardError.write(Data(prompt.utf8))
        var shown = termios()
        tcgetattr(STDIN_FILENO, &shown)
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &hidden)
        defer {
            tcsetattr(STDIN_FILENO, TCSANOW, &shown)
            complain("")
        }
        return readLine()
    }
}

/// Additional exit codes, as documented in `--help`.
extension ExitCode {
    /// Invalid configuration (`EX_CONFIG` of `sysexits.h`).
    static let badConfiguration = ExitCode(78)
}

/// Formats text for a terminal, and removes a secret from the text.
struct TextStyle: Sendable {
    /// Whether the text contains colors.
    let isColored: Bool
    /// The secret, such as an access token, which the output must not contain.
    let secret: String?

    /// Returns a text about a success, in green.
    func good(_ text: String) -> String { colored(text, "32") }
    /// Returns a text about an error, in red.
    func bad(_ text: String) -> String { colored(text, "31") }
    /// Returns a text about a delay, in yellow.
    func waiting(_ text: String) -> String { colored(text, "33") }
    /// Returns a less important text, dimmed.
    func faint(_ text: String) -> String { colored(text, "2") }

    /// Returns the text without the secret, even if a server returned it.
    func redacted(_ text: String) -> String {
        secret.map { text.replacing($0, with: "[token]") } ?? text
    }

    /// Returns a text between the escape sequences of a color.
    private func colored(_ text: String, _ color: String) -> String {
        isColored ? "\u{1B}[\(color)m\(text)\u{1B}[0m" : text
    }
}
