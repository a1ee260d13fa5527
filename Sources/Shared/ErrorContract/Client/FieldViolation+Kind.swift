extension FieldViolation {
    /// The kind of problem with a field, such as a missing value. The library derives the kind from the server's code and text.
    ///
    /// It is a struct rather than an enumeration, so that later versions can add kinds without breaking a `switch`.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name of the kind.
        public let rawValue: String

        /// Creates a kind.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The value is missing or empty.
        public static let required = Self(rawValue: "required")
        /// The text has too few characters.
        public static let tooShort = Self(rawValue: "tooShort")
        /// The text has too many characters.
        public static let tooLong = Self(rawValue: "tooLong")
        /// The number, date or size is too small or too large.
        public static let outOfRange = Self(rawValue: "outOfRange")
        /// The value does not have the format or the type of the field.
        public static let malformed = Self(rawValue: "malformed")
        /// Another record already has the value.
        public static let taken = Self(rawValue: "taken")
        /// The value differs from another value that it must equal.
        public static let mismatch = Self(rawValue: "mismatch")
        /// The password is on a list of common passwords.
        public static let common = Self(rawValue: "common")
        /// The password resembles other data of the account.
        public static let resemblesAccount = Self(rawValue: "resemblesAccount")
        /// The password has no letters, or has no digits.
        public static let oneSided = Self(rawValue: "oneSided")
        /// The password lacks other characters that the server requires, such as uppercase letters or symbols.
        public static let weak = Self(rawValue: "weak")
    }

    /// The kind of the problem; `nil` if neither ``code`` nor ``message`` identifies it.
    ///
    /// The property recognizes the codes of this library, of FastAPI, Zod, Laravel, Spring and other servers. It also recognizes the
    /// sentences of Django, FastAPI, Laravel, Rails and ASP.NET in English and Spanish. The code takes precedence over the sentence.
    /// However, a specific sentence takes precedence over a general code such as `invalid`.
    /// - Complexity: O(length of the text).
    public var kind: Kind? {
        let text = message.lowercased()
        let byText = Self.sentences.first { $0.matches(text) }?.kind
        guard let code else { return byText }
        // `string_too_short`, `STRING.TOO-SHORT` and `stringTooShort` are the same word.
        let word = code.rawValue.lowercased().filter { $0.isLetter || $0.isNumber }
        let byCode = Self.words.first { $0.words.contains { word == $0 || word.hasSuffix($0) && $0.utf8.count > 6 } }?.kind
        // Zod and Laravel use one code for short texts and small numbers. A code such as `invalid` fits every invalid value. In both cases,
        // the text is more specific than the code.
        if byCode == .outOfRange || byCode == .malformed, let byText { return byText }
        return byCode ?? byText
    }

    /// The first number in the server's text, such as 8 in "at least 8 characters". `nil` if there is none, or if it has more than six
    /// digits.
    var namedCount: Int? {
        let digits = message.split { !("0"..."9").contains($0) }
        return digits.first.flatMap { $0.utf8.count <= 6 ? Int($0) : nil }
    }

    /// The codes of each kind, in lower case and without separators. A word with more than six characters also matches the end of a longer
    /// code.
    private static let words: [(kind: Kind, words: [String])] = [
        (
            .required,
            [
                "required", "missing", "validationmissingfield", "missingfield", "blank", "empty", "null", "notnull", "notblank",
                "notempty", "presence", "isnotempty", "isdefined", "cantbeblank",
            ]
        ),
        (.tooShort, ["tooshort", "minlength", "minlengthvalidator", "fieldtooshort", "passwordtooshort"]),
        (.tooLong, ["toolong", "maxlength", "fieldtoolong"]),
        (.taken, ["taken", "unique", "alreadyexists", "emailexists", "duplicate", "duplicated", "alreadytaken"]),
        (.common, ["passwordtoocommon", "commonpassword"]),
        (.resemblesAccount, ["passwordtoosimilar"]),
        (.oneSided, ["passwordentirelynumeric"]),
        (.mismatch, ["mismatch", "confirmed", "passwordmismatch", "equalto"]),
        (
            .outOfRange,
            [
                "greaterthan", "greaterthanequal", "lessthan", "lessthanequal", "minvalue", "maxvalue", "min", "max", "range",
                "between", "toosmall", "toobig", "digits", "size", "decimalmin", "decimalmax",
            ]
        ),
        (
            .malformed,
            [
                "email", "invalidemail", "pattern", "stringpatternmismatch", "format", "invalidformat", "invalid", "invaliddate",
                "invalidurl", "invalidtype", "typemismatch", "typeerror", "parsing", "intparsing", "valueerror", "url", "uuid",
                "date", "regex", "isemail", "invalidchoice", "invalidstring",
            ]
        ),
    ]

    /// A pattern that recognizes a kind of problem by the server's sentence.
    private struct Sentence: Sendable {
        let kind: Kind
        /// At least one of these texts must occur.
        let marks: [String]
        /// At least one of these texts must occur, too. If the list is empty, there is no such condition.
        var companions: [String] = []
        /// If one of these texts occurs, the pattern doesn't match.
        var exceptions: [String] = []

        /// Returns whether a text matches the pattern. The text must be in lower case.
        func matches(_ text: String) -> Bool {
            marks.contains { text.contains($0) } && (companions.isEmpty || companions.contains { text.contains($0) })
                && !exceptions.contains { text.contains($0) }
        }
    }

    /// The patterns. The first pattern that matches determines the kind, so the order matters. For example, "A valid number is required."
    /// contains "is required", but doesn't report a missing value.
    private static let sentences: [Sentence] = [
        Sentence(kind: .common, marks: ["too common", "demasiado común", "data leak", "compromised"]),
        Sentence(kind: .resemblesAccount, marks: ["too similar", "muy similar", "demasiado similar", "se asemeja"]),
        Sentence(
            kind: .oneSided,
            marks: ["entirely numeric", "completamente numérica", "letters and numbers", "letras y números"]
        ),
        Sentence(
            kind: .weak,
            marks: [
                "uppercase", "lowercase", "upper case", "lower case", "special character", "symbol", "one letter", "one number",
                "one digit", "mayúscula", "minúscula", "carácter especial", "símbolo", "too weak", "muy débil", "demasiado débil",
            ]
        ),
        Sentence(kind: .mismatch, marks: ["match", "coincide"], exceptions: ["pattern", "format"]),
        Sentence(
            kind: .taken,
            marks: [
                "already exists", "already taken", "already been taken", "already in use", "already registered",
                "must be unique", "ya existe", "ya está en uso", "ya está registrado", "ya ha sido", "ya fue", "debe ser único",
            ]
        ),
        Sentence(
            kind: .tooShort,
            marks: ["too short", "muy corto", "muy corta", "demasiado corto", "demasiado corta", "minimum length"]
        ),
        Sentence(
            kind: .tooLong,
            marks: ["too long", "muy largo", "muy larga", "demasiado largo", "demasiado larga", "maximum length"]
        ),
        Sentence(kind: .tooShort, marks: ["at least", "al menos", "como mínimo", "minimum of"], companions: characters),
        Sentence(
            kind: .tooLong,
            marks: [
                "at most", "no more than", "not be greater than", "not exceed", "como máximo", "no más de", "no debe exceder",
                "no puede tener más", "maximum of",
            ],
            companions: characters
        ),
        Sentence(
            kind: .outOfRange,
            marks: [
                "greater than", "less than", "at least", "at most", "no more than", "between", "mayor que", "mayor o igual",
                "menor que", "menor o igual", "entre ", "al menos", "como mínimo", "como máximo", "out of range", "be after",
                "be before", "in the past", "in the future", "too large", "too small", "not be greater", "not exceed",
            ]
        ),
        Sentence(
            kind: .malformed,
            marks: [
                "a valid", "not valid", "invalid", "wrong format", "valid email", "valid url", "must be a ", "must be an ",
                "not a number", "incorrect type", "pattern", "well-formed", "válid", "formato", "patrón",
            ]
        ),
        Sentence(
            kind: .required,
            marks: [
                "required", "be blank", "be empty", "be null", "is missing", "obligatori", "requerid", "en blanco", "vací",
                "ser nul", "es necesari", "falta ",
            ]
        ),
    ]

    /// The words for characters. If a sentence about a limit contains one of these words, the limit applies to the length of a text, and
    /// not to a number or a list.
    private static let characters = ["character", "caracter", "caráct", "letras"]
}

extension FieldViolation {
    /// Returns the library's text for the field and the kind of problem; `nil` if the kind is unknown.
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

    /// The content of a field. The library has specific texts for some contents, and general texts for `other`.
    private enum Subject { case email, password, date, url, other }

    /// The content of the field, derived from the last name in its path, in English or Spanish.
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
