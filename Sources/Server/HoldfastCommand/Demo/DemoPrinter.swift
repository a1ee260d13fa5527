/// Prints the steps of the demo as they end.
struct DemoPrinter: Sendable {
    let isColourful: Bool

    /// A step that ended as it should.
    func done(_ number: Int, _ title: String, _ outcome: String) {
        line(number, title, outcome, mark: "ok", colour: "32")
    }

    /// A step that did not.
    func failed(_ number: Int, _ title: String, _ outcome: String) {
        line(number, title, outcome, mark: "failed", colour: "31")
    }

    private func line(_ number: Int, _ title: String, _ outcome: String, mark: String, colour: String) {
        let index = String(repeating: " ", count: number < 10 ? 1 : 0) + "\(number)"
        let shown = isColourful ? "\u{1B}[\(colour)m\(mark)\u{1B}[0m" : mark
        let detail = isColourful ? "\u{1B}[2m\(outcome)\u{1B}[0m" : outcome
        Terminal.say("\(index)  \(title): \(shown)")
        if !outcome.isEmpty { Terminal.say("      \(detail)") }
    }
}
