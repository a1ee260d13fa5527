import AccountContract
import AccountKit
import ErrorContract
import Testing

@MainActor
@Suite("Reset screen: the form")
struct ResetPasswordFormTests {
    @Test(
        "The meter shows the strength of the password as soon as it has text",
        arguments: [
            ("", nil, nil),
            ("a", "Weak password", "Contraseña débil"),
            ("abcdefgh1", "Medium password", "Contraseña media"),
            ("Abcdefghijk1!", "Strong password", "Contraseña fuerte"),
        ] as [(String, String?, String?)]
    )
    func strength(password: String, english: String?, spanish: String?) throws {
        let script = try ScreenScript()
        #expect(try script.reset(.english, password: password).strengthText == english)
        #expect(try script.reset(.spanish, password: password).strengthText == spanish)
        #expect(try script.reset(password: password).strength == (password.isEmpty ? nil : PasswordStrength(of: password)))
    }

    @Test(
        "Reports whether the fields match once the second one has text",
        arguments: [
            ("", "", nil, nil),
            ("second", "", nil, nil),
            ("second", "sec", false, "The passwords do not match"),
            ("second", "second", true, nil),
            ("", "second", false, "The passwords do not match"),
        ] as [(String, String, Bool?, String?)]
    )
    func match(password: String, confirmation: String, isSame: Bool?, problem: String?) throws {
        let model = try ScreenScript().reset(password: password, confirmation: confirmation)
        #expect(model.passwordsMatch == isSame)
        #expect(model.matchProblem == problem)
    }

    @Test("Passwords are hidden until the user reveals them")
    func showAndHide() throws {
        let script = try ScreenScript()
        let reset = try script.reset()
        let signIn = script.signIn()
        #expect(!reset.isPasswordShown)
        #expect(!signIn.isPasswordShown)
        reset.isPasswordShown.toggle()
        #expect(reset.isPasswordShown)
    }

    @Test("Rules that no password can satisfy fail a precondition")
    func impossibleRules() async {
        await #expect(processExitsWith: .failure) { _ = PasswordRules(minimumLength: 20, maximumLength: 10) }
        await #expect(processExitsWith: .failure) { _ = PasswordRules(minimumLength: 0) }
    }
}
