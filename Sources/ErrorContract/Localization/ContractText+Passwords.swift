/// What is said of a password.
extension ContractText {
    /// Title over a refused password.
    public static let weakPasswordTitle = LocalizedText(en: "Weak Password", es: "Contraseña Débil")

    /// A password under the minimum.
    public static func passwordTooShort(minimum: Int) -> LocalizedText { passwordTooShort.counting(minimum) }

    /// A password over the maximum.
    public static func passwordTooLong(maximum: Int) -> LocalizedText { passwordTooLong.counting(maximum) }

    static let passwordTooShort = LocalizedText(
        en: PluralForms(
            one: "The password must have at least {count} character",
            other: "The password must have at least {count} characters"
        ),
        es: PluralForms(
            one: "La contraseña debe tener al menos {count} carácter",
            other: "La contraseña debe tener al menos {count} caracteres"
        )
    )
    static let passwordTooLong = LocalizedText(
        en: PluralForms(
            one: "The password must have at most {count} character",
            other: "The password must have at most {count} characters"
        ),
        es: PluralForms(
            one: "La contraseña debe tener como máximo {count} carácter",
            other: "La contraseña debe tener como máximo {count} caracteres"
        )
    )
    /// A password of letters or digits alone, where the policy asks for both.
    public static let passwordNeedsLettersAndDigits = LocalizedText(
        en: "The password must contain letters and numbers",
        es: "La contraseña debe contener letras y números"
    )
    /// A password that is the address or the name.
    public static let passwordResemblesAccount = LocalizedText(
        en: "The password must not be your email address or your name",
        es: "La contraseña no puede ser tu correo ni tu nombre"
    )
    /// A password that anyone guesses.
    public static let strengthWeak = LocalizedText(en: "Weak password", es: "Contraseña débil")
    /// A password that lasts a while.
    public static let strengthMedium = LocalizedText(en: "Medium password", es: "Contraseña media")
    /// A password that lasts.
    public static let strengthStrong = LocalizedText(en: "Strong password", es: "Contraseña fuerte")
}
