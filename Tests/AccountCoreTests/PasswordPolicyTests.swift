import AccountContract
import AccountCore
import ErrorContract
import Testing

@Suite struct PasswordPolicyTests {
    @Test(
        "Accepts a password from the minimum length on, counted in characters",
        arguments: [
            ("zq4t;8m", 8, false), ("zq4t;8mx", 8, true), ("ñandúes", 8, false), ("ñandúes!", 8, true),
            ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 8, false), ("zq4t;", 6, false), ("zq4t;8", 6, true), (String(repeating: "xyz", count: 21), 64, false),
            (String(repeating: "wxyz", count: 16), 64, true),
        ]
    )
    func minimum(_ text: String, minimum: Int, isEnough: Bool) throws {
        let policy = PasswordPolicy(minimumLength: minimum)
        let weaknesses = policy.weaknesses(of: try Password(text), email: nil, firstName: nil)
        #expect(weaknesses == (isEnough ? [] : [.tooShort(minimum: minimum)]))
    }

    @Test("Accepts a password of 256 characters and refuses one of 257")
    func maximum() throws {
        let policy = PasswordPolicy()
        let longest = try Password(String(repeating: "é", count: 256))
        let longer = try Password(String(repeating: "é", count: 257))
        #expect(policy.weaknesses(of: longest, email: nil, firstName: nil).isEmpty)
        #expect(policy.weaknesses(of: longer, email: nil, firstName: nil) == [.tooLong(maximum: 256)])
    }

    @Test(
        "The old composition rule requires a letter and a digit of any script",
        arguments: [
            ("letters alone", false), ("4082739164", false), ("!?!?,!?!?!", false), ("letters and 1", true), ("пароль123", true),
            ("سلام١٢٣٤٥", true),
        ]
    )
    func composition(_ text: String, isAccepted: Bool) throws {
        let strict = PasswordPolicy(requiresLettersAndDigits: true)
        let weaknesses = strict.weaknesses(of: try Password(text), email: nil, firstName: nil)
        #expect(weaknesses == (isAccepted ? [] : [.needsLettersAndDigits]))
        #expect(PasswordPolicy().weaknesses(of: try Password(text), email: nil, firstName: nil).isEmpty)
    }

    @Test(
        "Refuses the address, its local part and the name, in any case",
        arguments: [
            ("Ana.Maria@Example.com", true), ("ana.maria@example.com", true), ("ANA.MARIA", true), ("Ana María", true),
            ("ana maría", true), ("ana.maria1", false), ("example.com", false), ("Ana Maria", false),
        ]
    )
    func resemblance(_ text: String, isRefused: Bool) throws {
        let weaknesses = PasswordPolicy().weaknesses(
            of: try Password(text),
            email: try EmailAddress("Ana.Maria@Example.com"),
            firstName: try FirstName("Ana María")
        )
        #expect(weaknesses == (isRefused ? [.resemblesAccount] : []))
    }

    @Test("Returns every reason, not only the first")
    func everyReason() throws {
        let policy = PasswordPolicy(minimumLength: 8, requiresLettersAndDigits: true)
        let weaknesses = policy.weaknesses(of: try Password("Ana"), email: nil, firstName: try FirstName("ana"))
        #expect(weaknesses == [.tooShort(minimum: 8), .needsLettersAndDigits, .resemblesAccount])
    }

    @Test(
        "Each reason has a wire name and a text in both languages",
        arguments: [
            (PasswordPolicy.Weakness.tooShort(minimum: 8), "too_short", "La contraseña debe tener al menos 8 caracteres"),
            (.tooLong(maximum: 256), "too_long", "La contraseña debe tener como máximo 256 caracteres"),
            (.needsLettersAndDigits, "needs_letters_and_digits", "La contraseña debe contener letras y números"),
            (.resemblesAccount, "resembles_account", "La contraseña no puede ser tu correo ni tu nombre"),
            (.common, "common", "Esta contraseña es demasiado común: es de las primeras que cualquiera probaría"),
        ]
    )
    func reasons(_ weakness: PasswordPolicy.Weakness, name: String, spanish: String) {
        #expect(weakness.name == name)
        #expect(weakness.message.text(in: .spanish) == spanish)
        #expect(weakness.message.text(in: .english) != spanish)
    }

    @Test("A minimum outside of 6–64 fails a precondition")
    func impossibleMinimum() async {
        await #expect(processExitsWith: .failure) { _ = PasswordPolicy(minimumLength: 5) }
        await #expect(processExitsWith: .failure) { _ = PasswordPolicy(minimumLength: 65) }
    }
}
