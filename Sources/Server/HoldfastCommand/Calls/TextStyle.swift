/// How text is shown on a terminal, and what must never be.
struct TextStyle: Sendable {
    let isColourful: Bool
    /// What is left out wherever it would stand.
    let secret: String?

    func good(_ text: String) -> String { coloured(text, "32") }
    func bad(_ text: String) -> String { coloured(text, "31") }
    func waiting(_ text: String) -> String { coloured(text, "33") }
    func faint(_ text: String) -> String { coloured(text, "2") }

    /// The text without the secret, even if a server sent it back.
    func redacted(_ text: String) -> String {
        secret.map { text.replacing($0, with: "[token]") } ?? text
    }

    private func coloured(_ text: String, _ colour: String) -> String {
        isColourful ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
    }
}
