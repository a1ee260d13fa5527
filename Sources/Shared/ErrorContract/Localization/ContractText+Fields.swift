/// Texts for problems with single fields of a request, where the server sent none in the user's language.
extension ContractText {
    /// A value that another record has already.
    public static let valueTaken = LocalizedText(
        en: "This value is already in use.",
        es: "Este valor ya está en uso.",
        he: "הערך הזה כבר בשימוש.",
        pt: "Este valor já está em uso.",
        fr: "Cette valeur est déjà utilisée.",
        de: "Dieser Wert wird bereits verwendet."
    )
    /// A number, date or size that is too small or too large.
    public static let valueOutOfRange = LocalizedText(
        en: "This value is out of range.",
        es: "Este valor está fuera del rango permitido.",
        he: "הערך הזה חורג מהטווח המותר.",
        pt: "Este valor está fora do intervalo permitido.",
        fr: "Cette valeur est hors des limites autorisées.",
        de: "Dieser Wert liegt außerhalb des zulässigen Bereichs."
    )
    /// A value that is refused for a reason that no text names.
    public static let valueInvalid = LocalizedText(
        en: "This value is not valid.",
        es: "Este valor no es válido.",
        he: "הערך הזה אינו תקין.",
        pt: "Este valor não é válido.",
        fr: "Cette valeur n’est pas valide.",
        de: "Dieser Wert ist ungültig."
    )
}

extension FieldViolation {
    /// The text of this library for the field and the kind of problem; `nil` if the kind is not known.
    func text(in catalogue: ErrorCatalogue) -> LocalizedText? {
        guard let kind else { return nil }
        let own = { (code: ErrorCode) in (catalogue[code] ?? ErrorCatalogue.standard[code])?.message }
        switch (subject, kind) {
        case (.email, .required): return ContractText.emailMissing
        case (.email, .malformed): return ContractText.emailMalformed
        case (.email, .taken): return own(.authEmailExists)
        case (.password, .tooShort):
            return namedCount.map { ContractText.passwordTooShort(minimum: $0) } ?? own(.validationFieldTooShort)
        case (.password, .tooLong):
            return namedCount.map { ContractText.passwordTooLong(maximum: $0) } ?? own(.validationFieldTooLong)
        case (.password, .mismatch): return ContractText.passwordsDiffer
        case (_, .common): return ContractText.passwordCommon
        case (_, .resemblesAccount): return ContractText.passwordResemblesAccount
        case (_, .oneSided): return ContractText.passwordNeedsLettersAndDigits
        case (.password, .weak): return own(.authWeakPassword)
        case (.date, .malformed): return own(.validationInvalidDate)
        case (.url, .malformed): return own(.validationInvalidURL)
        case (_, .required): return own(.validationMissingField)
        case (_, .tooShort): return own(.validationFieldTooShort)
        case (_, .tooLong): return own(.validationFieldTooLong)
        case (_, .taken): return ContractText.valueTaken
        case (_, .outOfRange): return ContractText.valueOutOfRange
        case (_, .malformed): return own(.validationInvalidFormat)
        default: return nil
        }
    }

    private enum Subject { case email, password, date, url, other }

    /// The content of the field, by its name: the last member of its path, in English or Spanish.
    private var subject: Subject {
        let last = field.split { $0 == "." || $0 == "[" || $0 == "]" || $0 == "/" }.last { Int($0) == nil } ?? ""
        let name = last.lowercased().filter { $0.isLetter }
        let contains = { (parts: [String]) in parts.contains { name.contains($0) } }
        if contains(["password", "contraseña", "contrasena", "passwd"]) || name == "pwd" { return .password }
        if contains(["email", "correo"]) || name == "mail" { return .email }
        if contains(["birthday", "fecha"]) || name == "dob" || name.hasPrefix("date") || name.hasSuffix("date") { return .date }
        if name.hasSuffix("url") || name == "website" { return .url }
        return .other
    }
}
