import AccountContract
package import ErrorContract
import Foundation

/// Creates the texts of a screen in the user's language, with the app's own translations.
struct Presenter: Sendable {
    /// The language of the user.
    let language: Language
    let catalogue: ErrorCatalogue
    /// Returns the local time, from which the presenter computes the time of a retry.
    let wallClock: @Sendable () -> Date

    /// Returns a text in the user's language.
    func text(_ text: LocalizedText) -> String { catalogue.text(text, in: language) }

    /// Returns the presentation of a failed call. If the server refuses the address, the presentation is the same as for an invalid address
    /// that the form itself detects.
    func presentation(of error: APIError) -> ErrorPresentation {
        guard error.code != .validationInvalidEmail else { return problem(EmailRefusal.localPart) }
        return error.presentation(in: language, now: wallClock(), catalogue: catalogue)
    }

    /// Returns the presentation of a problem that the user can correct in the form.
    func problem(title: LocalizedText = ContractText.errorTitle, _ message: LocalizedText) -> ErrorPresentation {
        ErrorPresentation(title: text(title), message: text(message), primary: .fixFields)
    }

    /// Returns the presentation of a notice that can only be dismissed.
    func notice(title: LocalizedText, _ message: LocalizedText) -> ErrorPresentation {
        ErrorPresentation(title: text(title), message: text(message), primary: .dismiss)
    }

    /// The presentation of the error for a link that could not be parsed.
    var linkInvalid: ErrorPresentation { notice(title: ContractText.linkInvalidTitle, ContractText.linkInvalid) }

    /// The presentation of the error for a link that is expired, used or unknown.
    var linkExpired: ErrorPresentation {
        ErrorPresentation(
            title: text(ContractText.linkExpiredTitle),
            message: text(ContractText.linkExpired),
            primary: .requestNewLink,
            secondary: .dismiss
        )
    }

    /// The page for a link of the account server that could not be parsed.
    var accountLinkInvalid: ErrorPresentation { notice(title: ContractText.linkInvalidTitle, ContractText.accountLinkInvalid) }

    /// Returns the page for a link of the account server that is expired, used or unknown.
    /// - Parameter isRenewable: Whether the user can request another link.
    func accountLinkExpired(isRenewable: Bool) -> ErrorPresentation {
        ErrorPresentation(
            title: text(ContractText.linkExpiredTitle),
            message: text(ContractText.accountLinkExpired),
            primary: isRenewable ? .requestNewLink : .dismiss,
            secondary: isRenewable ? .dismiss : nil
        )
    }

    /// Returns the page for a request that probably succeeded: the response to an attempt was lost, and the server refuses the next
    /// attempt.
    func probablySucceeded(title: LocalizedText, _ message: LocalizedText) -> ErrorPresentation {
        ErrorPresentation(title: text(title), message: text(message), primary: .signIn, secondary: .dismiss)
    }

    /// The page for a reset link that was probably used: the response to an attempt was lost, and the server refuses the link in the next
    /// attempt.
    var passwordProbablyChanged: ErrorPresentation {
        ErrorPresentation(
            title: text(ContractText.resetTitle),
            message: text(ContractText.resetProbablySucceeded),
            primary: .signIn,
            secondary: .requestNewLink
        )
    }

    /// Returns the presentation for an address that is missing or malformed.
    func problem(_ refusal: EmailRefusal) -> ErrorPresentation {
        refusal == .empty
            ? problem(title: ContractText.emailMissingTitle, ContractText.emailMissing)
            : problem(title: ContractText.emailMalformedTitle, ContractText.emailMalformed)
    }

    /// Returns an error's messages about the fields of a screen, and whether these messages cover all problems of the error.
    /// - Parameters:
    ///   - error: The error of a call. Only the kind `validation` has problems with fields.
    ///   - fields: The fields of the screen.
    /// - Returns: The first message for each field. If some problems belong to no field of the screen, the screen must show an alert as
    ///   well.
    func fieldProblems(of error: APIError, fields: [AccountField]) -> (problems: FieldProblems, isComplete: Bool) {
        var problems = FieldProblems()
        guard error.kind == .validation else { return (problems, false) }
        let texts = error.presentation(in: language, now: wallClock(), catalogue: catalogue).fields
        var isComplete = !texts.isEmpty
        for text in texts {
            // If the only password of a form is the current password, servers name this field `password`.
            let named = AccountField(wireName: text.field)
            let field = named == .password && !fields.contains(.password) ? .currentPassword : named
            guard let field, fields.contains(field) else {
                isComplete = false
                continue
            }
            if problems[field] == nil { problems[field] = text.text }
        }
        return (problems, isComplete)
    }

    /// Returns the error with the delay that remains until `date`, or `nil` if the delay is over.
    func stillWaiting(_ error: APIError, until date: Date) -> APIError? {
        let left = date.timeIntervalSince(wallClock())
        guard left > 0 else { return nil }
        var waiting = error
        waiting.retryAfter = .seconds(left)
        // The server's text states the whole delay, but only a part of it remains.
        if error.kind == .rateLimited { waiting.message = nil }
        return waiting
    }
}

extension AccountField {
    /// Parses the name of a field as servers send it, such as `email`, `user.email`, `newPassword` or `new_password1`.
    fileprivate init?(wireName: String) {
        let name = (wireName.split(separator: ".").last ?? "").filter(\.isLetter).lowercased()
        switch name {
        case "email", "emailaddress", "username", "login", "newemail": self = .email
        case "password", "newpassword": self = .password
        case "passwordconfirmation", "confirmpassword", "confirmation": self = .confirmation
        case "firstname", "name": self = .firstName
        case "currentpassword", "oldpassword": self = .currentPassword
        default: return nil
        }
    }
}

extension APIError {
    /// The error for a call without a session. For such a call, a 401 doesn't mean that a session has expired, so the alert offers no
    /// sign-in.
    var withoutSession: APIError {
        guard recovery == .signIn else { return self }
        var refusal = self
        (refusal.kind, refusal.code, refusal.message, refusal.recovery) = (.badRequest, .unknown, nil, .retry)
        return refusal
    }

    /// Whether the call was canceled. If so, no view shows its result.
    @MainActor var isAbandoned: Bool { kind == .cancelled || Task.isCancelled }
}

/// The texts that only the screens use, in addition to the texts of `ContractText`.
package enum ScreenText {
    /// The button of an alert that copies the reference for support.
    package static let copyReference = LocalizedText(
        en: "Copy Reference",
        es: "Copiar referencia",
        he: "העתקת הפרטים לתמיכה",
        pt: "Copiar referência",
        fr: "Copier la référence",
        de: "Referenz kopieren"
    )

    // The texts while a request is in flight. The buttons show these texts, and VoiceOver speaks them.
    static let signingIn = LocalizedText(
        en: "Signing in…",
        es: "Iniciando sesión…",
        he: "מתבצעת התחברות…",
        pt: "Entrando…",
        fr: "Connexion…",
        de: "Anmeldung läuft…"
    )
    static let sendingLink = LocalizedText(
        en: "Sending the link…",
        es: "Enviando el enlace…",
        he: "הקישור נשלח…",
        pt: "Enviando o link…",
        fr: "Envoi du lien…",
        de: "Link wird gesendet…"
    )
    static let checkingLink = LocalizedText(
        en: "Checking the link…",
        es: "Comprobando el enlace…",
        he: "הקישור נבדק…",
        pt: "Verificando o link…",
        fr: "Vérification du lien…",
        de: "Link wird geprüft…"
    )
    static let savingPassword = LocalizedText(
        en: "Saving the password…",
        es: "Guardando la contraseña…",
        he: "הסיסמה נשמרת…",
        pt: "Salvando a senha…",
        fr: "Enregistrement du mot de passe…",
        de: "Passwort wird gespeichert…"
    )
}
