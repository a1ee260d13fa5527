/// Texts about passwords.
extension ContractText {
    /// Title for a refused password.
    public static let weakPasswordTitle = LocalizedText(
        en: "Weak Password",
        es: "Contraseña Débil",
        he: "סיסמה חלשה",
        pt: "Senha fraca",
        fr: "Mot de passe faible",
        de: "Schwaches Passwort"
    )

    /// Returns the text for a password below the minimum length.
    /// - Parameter minimum: The minimum number of characters. It also determines the plural form.
    public static func passwordTooShort(minimum: Int) -> LocalizedText { passwordTooShort.counting(minimum) }

    /// Returns the text for a password above the maximum length.
    /// - Parameter maximum: The maximum number of characters. It also determines the plural form.
    public static func passwordTooLong(maximum: Int) -> LocalizedText { passwordTooLong.counting(maximum) }

    /// ``passwordTooShort(minimum:)`` with an unfilled placeholder.
    static let passwordTooShort = LocalizedText(
        en: PluralForms(
            one: "The password must have at least {count} character",
            other: "The password must have at least {count} characters"
        ),
        es: PluralForms(
            one: "La contraseña debe tener al menos {count} carácter",
            other: "La contraseña debe tener al menos {count} caracteres"
        ),
        he: PluralForms(
            one: "הסיסמה חייבת לכלול לפחות תו אחד",
            two: "הסיסמה חייבת לכלול לפחות שני תווים",
            other: "הסיסמה חייבת לכלול לפחות {count} תווים"
        ),
        pt: PluralForms(
            one: "A senha deve ter pelo menos {count} caractere",
            other: "A senha deve ter pelo menos {count} caracteres"
        ),
        fr: PluralForms(
            one: "Le mot de passe doit comporter au moins {count} caractère",
            other: "Le mot de passe doit comporter au moins {count} caractères"
        ),
        de: "Das Passwort muss mindestens {count} Zeichen haben"
    )
    /// ``passwordTooLong(maximum:)`` with an unfilled placeholder.
    static let passwordTooLong = LocalizedText(
        en: PluralForms(
            one: "The password must have at most {count} character",
            other: "The password must have at most {count} characters"
        ),
        es: PluralForms(
            one: "La contraseña debe tener como máximo {count} carácter",
            other: "La contraseña debe tener como máximo {count} caracteres"
        ),
        he: PluralForms(
            one: "הסיסמה יכולה לכלול לכל היותר תו אחד",
            two: "הסיסמה יכולה לכלול לכל היותר שני תווים",
            other: "הסיסמה יכולה לכלול לכל היותר {count} תווים"
        ),
        pt: PluralForms(
            one: "A senha deve ter no máximo {count} caractere",
            other: "A senha deve ter no máximo {count} caracteres"
        ),
        fr: PluralForms(
            one: "Le mot de passe doit comporter au maximum {count} caractère",
            other: "Le mot de passe doit comporter au maximum {count} caractères"
        ),
        de: "Das Passwort darf höchstens {count} Zeichen haben"
    )
    /// Text for a password that has only letters or only digits, although the policy requires both.
    public static let passwordNeedsLettersAndDigits = LocalizedText(
        en: "The password must contain letters and numbers",
        es: "La contraseña debe contener letras y números",
        he: "הסיסמה חייבת לכלול אותיות ומספרים",
        pt: "A senha deve conter letras e números",
        fr: "Le mot de passe doit contenir des lettres et des chiffres",
        de: "Das Passwort muss Buchstaben und Zahlen enthalten"
    )
    /// Text for a password on the list of common passwords.
    public static let passwordCommon = LocalizedText(
        en: "This password is too common: it is among the first that anybody guesses",
        es: "Esta contraseña es demasiado común: es de las primeras que cualquiera probaría",
        he: "הסיסמה הזאת נפוצה מדי: היא מהראשונות שמנחשים",
        pt: "Esta senha é comum demais: está entre as primeiras que alguém tentaria",
        fr: "Ce mot de passe est trop courant : c’est l’un des premiers que l’on devine",
        de: "Dieses Passwort ist zu verbreitet: Es gehört zu den ersten, die man errät"
    )
    /// Text for a password that equals the address or the name.
    public static let passwordResemblesAccount = LocalizedText(
        en: "The password must not be your email address or your name",
        es: "La contraseña no puede ser tu correo ni tu nombre",
        he: "הסיסמה לא יכולה להיות כתובת האימייל שלך או השם שלך",
        pt: "A senha não pode ser seu e-mail nem seu nome",
        fr: "Le mot de passe ne peut être ni votre adresse e-mail ni votre nom",
        de: "Das Passwort darf weder deine E-Mail-Adresse noch dein Name sein"
    )
    /// The label that a screen shows for a weak password.
    public static let strengthWeak = LocalizedText(
        en: "Weak password",
        es: "Contraseña débil",
        he: "סיסמה חלשה",
        pt: "Senha fraca",
        fr: "Mot de passe faible",
        de: "Schwaches Passwort"
    )
    /// The label that a screen shows for a password of medium strength.
    public static let strengthMedium = LocalizedText(
        en: "Medium password",
        es: "Contraseña media",
        he: "סיסמה בינונית",
        pt: "Senha média",
        fr: "Mot de passe moyen",
        de: "Mittleres Passwort"
    )
    /// The label that a screen shows for a strong password.
    public static let strengthStrong = LocalizedText(
        en: "Strong password",
        es: "Contraseña fuerte",
        he: "סיסמה חזקה",
        pt: "Senha forte",
        fr: "Mot de passe fort",
        de: "Starkes Passwort"
    )
}
