import AccountKit
import ErrorContract

/// An error as an alert with one button or two.
@MainActor
struct Alert {
    let presentation: ErrorPresentation
    let language: Language

    /// Shows the alert and asks for one of its buttons.
    func choose() -> ErrorPresentation.Action {
        Terminal.say()
        Terminal.say("  ⚠ \(presentation.title)")
        Terminal.say("    \(presentation.message)")
        guard let secondary = presentation.secondary, let label = presentation.secondaryLabel(in: language) else {
            _ = Terminal.ask("    [\(presentation.primaryLabel(in: language))]")
            return presentation.primary
        }
        let answer = Terminal.ask("    1 \(presentation.primaryLabel(in: language)) · 2 \(label)")
        return answer == "1" ? presentation.primary : secondary
    }
}
