import Foundation

/// A progress bar on standard error. If standard error is not a terminal, there is no bar.
struct ProgressBar {
    /// Whether standard error is a terminal.
    let isShown = isatty(STDERR_FILENO) != 0

    /// Draws the bar in place of the previous one.
    /// - Parameters:
    ///   - done: The number of completed parts, at most `total`.
    ///   - total: The number of all parts. If it is 0, nothing is drawn.
    func show(_ done: Int, of total: Int) {
        guard isShown, total > 0 else { return }
        let filled = 30 * done / total
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
        FileHandle.standardError.write(Data("\r[\(bar)] \(done) of \(total)".utf8))
    }

    /// Writes a line to standard error in place of the bar.
    func say(_ line: String) {
        clear()
        Terminal.complain(line)
    }

    /// Removes the bar.
    func clear() {
        guard isShown else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[2K".utf8))
    }
}
