import AccountKit
import ErrorContract
import Foundation

/// The terminal that the app runs in.
enum Terminal {
    /// Writes a line.
    static func say(_ line: String = "") {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Overwrites the current line. Does nothing if the output is a file or a pipe.
    static func overwrite(_ line: String) {
        guard isatty(STDOUT_FILENO) != 0 else { return }
        FileHandle.standardOutput.write(Data("\r\u{1B}[K\(line)".utf8))
    }

    /// Writes a line to standard error.
    static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// Writes an underlined title.
    static func title(_ text: String) {
        say()
        say(text)
        say(String(repeating: "─", count: text.count))
    }

    /// Prompts for a line.
    /// - Returns: The line, or `nil` at the end of the input.
    static func ask(_ label: String, default standing: String = "") -> String? {
        let hint = standing.isEmpty ? "" : " [\(standing)]"
        FileHandle.standardOutput.write(Data("\(label)\(hint): ".utf8))
        return readLine().map { $0.isEmpty ? standing : $0 }
    }

    /// Prompts for a line that is not shown while it is typed.
    static func askSecret(_ label: String) -> String? {
        guard isatty(STDIN_FILENO) != 0 else { return ask(label) }
        var shown = termios()
        tcgetattr(STDIN_FILENO, &shown)
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &hidden)
        defer {
            tcsetattr(STDIN_FILENO, TCSANOW, &shown)
            say()
        }
        return ask(label)
    }
}

/// An error as an alert with one button or two.
@MainActor
struct Alert {
    let presentation: ErrorPresentation
    let language: Language

    /// Shows the alert and lets the user choose one of its buttons.
    func choose() -> ErrorPresentation.Action {
        Terminal.say()
        Terminal.say("  ⚠ \(presentation.title)")
        Terminal.say("    \(presentation.message)")
        guard let secondary = presentation.secondary, let label = presentation.secondaryLabel(in: language) else {
            _ = Terminal.ask("    [\(presentation.primaryLabel(in: language))]")
            return presentation.primary
        }
        let choice = Terminal.ask("    1 \(presentation.primaryLabel(in: language)) · 2 \(label)")
        return choice == "1" ? presentation.primary : secondary
    }
}
