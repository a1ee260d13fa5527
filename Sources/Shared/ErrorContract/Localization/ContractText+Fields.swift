/// Texts for problems with single fields. An app shows them if the server sent no text in the user's language.
extension ContractText {
    /// Text for a value that another record already has.
    public static let valueTaken = LocalizedText(
        en: "This value is already in use.",
        es: "Este valor ya está en uso.",
        he: "הערך הזה כבר בשימוש.",
        pt: "Este valor já está em uso.",
        fr: "Cette valeur est déjà utilisée.",
        de: "Dieser Wert wird bereits verwendet."
    )
    /// Text for a number, date or size that is too small or too large.
    public static let valueOutOfRange = LocalizedText(
        en: "This value is out of range.",
        es: "Este valor está fuera del rango permitido.",
        he: "הערך הזה חורג מהטווח המותר.",
        pt: "Este valor está fora do intervalo permitido.",
        fr: "Cette valeur est hors des limites autorisées.",
        de: "Dieser Wert liegt außerhalb des zulässigen Bereichs."
    )
    /// Text for a value that is invalid for an unknown reason.
    public static let valueInvalid = LocalizedText(
        en: "This value is not valid.",
        es: "Este valor no es válido.",
        he: "הערך הזה אינו תקין.",
        pt: "Este valor não é válido.",
        fr: "Cette valeur n’est pas valide.",
        de: "Dieser Wert ist ungültig."
    )
}
