import AccountContract
import ErrorContract
import Testing

@Suite("Password strength")
struct PasswordStrengthTests {
    @Test(
        "Each quality adds one point",
        arguments: [
            ("", 0), ("a", 0), ("abcdefg", 0), ("ABCDEFG", 0), ("aB", 1), ("1", 1), ("!", 1),
            ("abcdefgh", 1), ("abcdefghijk", 1), ("abcdefghijkl", 2), ("abcdefgH", 2), ("abcdefgH1", 3), ("aB1!", 3),
            ("abcdefgH1!", 4), ("abcdefghijkL", 3), ("abcdefghijkL1", 4), ("abcdefghijk1!", 4), ("abcdefghijkL1!", 5),
            ("a very long sentence of small letters", 2), ("ñandÚñandÚ٣?", 5), ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 0),
        ]
    )
    func score(password: String, score: Int) {
        #expect(PasswordStrength(of: password).score == score)
    }

    @Test(
        "Maps points to a level, and the level to a text",
        arguments: [
            (0, PasswordStrength.Level.weak, "abc"), (1, .weak, "abcdefgh"), (2, .medium, "abcdefgH"), (3, .medium, "abcdefgH1"),
            (4, .strong, "abcdefgH1!"), (5, .strong, "abcdefghijkL1!"),
        ]
    )
    func level(score: Int, level: PasswordStrength.Level, password: String) {
        let strength = PasswordStrength(of: password)
        #expect(strength.score == score)
        #expect(strength.level == level)
        let words: (String, String) =
            switch level {
            case .weak: ("Contraseña débil", "Weak password")
            case .medium: ("Contraseña media", "Medium password")
            case .strong: ("Contraseña fuerte", "Strong password")
            }
        #expect(strength.text.text(in: .spanish) == words.0)
        #expect(strength.text.text(in: .english) == words.1)
    }

    @Test("Counts each of the 26 symbols, and no similar character")
    func symbols() {
        #expect(PasswordStrength.symbols.count == 26)
        for symbol in "!@#$%^&*()_+-=[]{}|;:,.<>?" {
            #expect(PasswordStrength(of: String(symbol)).score == 1, "\(symbol)")
        }
        for other in "'\"/\\`~ ¡¿€" {
            #expect(PasswordStrength(of: String(other)).score == 0, "\(other)")
        }
    }
}
