import ErrorContract

/// The texts that only the web pages show, in the six supported languages. `ContractText` contains the texts that apps also show.
enum PageTexts {
    /// The label of the button that makes a password readable.
    static let show = LocalizedText(
        en: "Show",
        es: "Mostrar",
        he: "הצגה",
        pt: "Mostrar",
        fr: "Afficher",
        de: "Anzeigen"
    )
    /// The label of the button that hides a readable password.
    static let hide = LocalizedText(
        en: "Hide",
        es: "Ocultar",
        he: "הסתרה",
        pt: "Ocultar",
        fr: "Masquer",
        de: "Ausblenden"
    )
    /// The message that the two typed passwords are equal.
    static let match = LocalizedText(
        en: "The passwords match",
        es: "Las contraseñas coinciden",
        he: "הסיסמאות תואמות",
        pt: "As senhas coincidem",
        fr: "Les mots de passe correspondent",
        de: "Die Passwörter stimmen überein"
    )
    /// The hint below the field for a new password. `{count}` is the minimum length.
    static let rule = LocalizedText(
        en: PluralForms(one: "At least {count} character", other: "At least {count} characters"),
        es: PluralForms(one: "Al menos {count} carácter", other: "Al menos {count} caracteres"),
        he: PluralForms(one: "לפחות תו אחד", two: "לפחות שני תווים", other: "לפחות {count} תווים"),
        pt: PluralForms(one: "Pelo menos {count} caractere", other: "Pelo menos {count} caracteres"),
        fr: PluralForms(one: "Au moins {count} caractère", other: "Au moins {count} caractères"),
        de: "Mindestens {count} Zeichen"
    )
    /// The label of the link that opens the app with the token of the page.
    static let openApp = LocalizedText(
        en: "Open in the app",
        es: "Abrir en la aplicación",
        he: "פתיחה באפליקציה",
        pt: "Abrir no app",
        fr: "Ouvrir dans l’application",
        de: "In der App öffnen"
    )

    /// The heading after the password was changed.
    static let successHeading = LocalizedText(
        en: "Success!",
        es: "¡Éxito!",
        he: "הפעולה הצליחה!",
        pt: "Sucesso!",
        fr: "C’est fait\u{A0}!",
        de: "Geschafft!"
    )
    /// The text after the password was changed.
    static let success = LocalizedText(
        en: "Your password has been updated. Please sign in with your new password.",
        es: "Tu contraseña ha sido actualizada. Por favor, inicia sesión con tu nueva contraseña.",
        he: "הסיסמה שלך עודכנה. נא להתחבר עם הסיסמה החדשה.",
        pt: "Sua senha foi atualizada. Por favor, entre com sua nova senha.",
        fr: "Votre mot de passe a été mis à jour. Veuillez vous connecter avec votre nouveau mot de passe.",
        de: "Dein Passwort wurde geändert. Bitte melde dich mit deinem neuen Passwort an."
    )

    /// The introduction of the form that requests a link.
    static let requestLead = LocalizedText(
        en: "Enter your email address, and we will send you a link to reset your password.",
        es: "Ingresa tu correo electrónico y te enviaremos un enlace para restablecer tu contraseña.",
        he: "נא להזין את כתובת האימייל שלך, ונשלח אליה קישור לאיפוס הסיסמה.",
        pt: "Informe seu e-mail e enviaremos um link para redefinir sua senha.",
        fr: "Saisissez votre adresse e-mail et nous vous enverrons un lien pour réinitialiser votre mot de passe.",
        de: "Gib deine E-Mail-Adresse ein, und wir senden dir einen Link, mit dem du dein Passwort zurücksetzen kannst."
    )
    /// The heading after a link was requested.
    static let sentHeading = LocalizedText(
        en: "Check your email",
        es: "Revisa tu correo",
        he: "נא לבדוק את תיבת האימייל",
        pt: "Verifique seu e-mail",
        fr: "Consultez vos e-mails",
        de: "Sieh in deinem Postfach nach"
    )
    /// The hint for a browser without JavaScript, which can't read a token after `#`.
    static let noscript = LocalizedText(
        en: "Coming from the link in a mail? This page needs JavaScript to read it.",
        es: "¿Vienes del enlace de un correo? Esta página necesita JavaScript para leerlo.",
        he: "הגעת לכאן מקישור באימייל? הדף זקוק ל־JavaScript כדי לקרוא אותו.",
        pt: "Veio pelo link de um e-mail? Esta página precisa de JavaScript para lê-lo.",
        fr: "Vous venez du lien d’un e-mail\u{A0}? Cette page a besoin de JavaScript pour le lire.",
        de: "Kommst du über den Link in einer E-Mail? Diese Seite braucht JavaScript, um ihn zu lesen."
    )

    /// The heading of the page that locks an account.
    static let lockHeading = LocalizedText(
        en: "Was this not you?",
        es: "¿No fuiste tú?",
        he: "הפעולה לא בוצעה על ידך?",
        pt: "Não foi você?",
        fr: "Ce n’était pas vous\u{A0}?",
        de: "Warst du das nicht?"
    )
    /// The introduction of the page that locks an account. `{name}` is the first name.
    ///
    /// The notices of a new password and of a new device link to the same page.
    static let lockLead = LocalizedText(
        en:
            "Hello {name}, your password was changed, or there was a sign-in on a new device. If it was not you, lock your account: nobody can sign in until you reset the password.",
        es:
            "Hola {name}, tu contraseña fue cambiada o se inició sesión desde un nuevo dispositivo. Si no fuiste tú, congela tu cuenta: nadie podrá iniciar sesión hasta que restablezcas la contraseña.",
        he:
            "שלום {name}, הסיסמה שלך שונתה, או שבוצעה התחברות ממכשיר חדש. אם הפעולה לא בוצעה על ידך, יש להקפיא את החשבון: איש לא יוכל להתחבר עד לאיפוס הסיסמה.",
        pt:
            "Olá, {name}, sua senha foi alterada ou houve um acesso em um novo dispositivo. Se não foi você, congele sua conta: ninguém poderá entrar até que você redefina a senha.",
        fr:
            "Bonjour {name}, votre mot de passe a été modifié, ou une connexion a eu lieu sur un nouvel appareil. Si ce n’était pas vous, gelez votre compte\u{A0}: personne ne pourra se connecter tant que vous n’aurez pas réinitialisé le mot de passe.",
        de:
            "Hallo {name}, dein Passwort wurde geändert, oder es gab eine Anmeldung auf einem neuen Gerät. Wenn du das nicht warst, friere dein Konto ein: Niemand kann sich anmelden, bis du das Passwort zurücksetzt."
    )
    /// The introduction of the page that locks an account, without the first name. The first name is unknown until the script has found the
    /// token.
    static let lockLeadUnnamed = LocalizedText(
        en:
            "Your password was changed, or there was a sign-in on a new device. If it was not you, lock your account: nobody can sign in until you reset the password.",
        es:
            "Tu contraseña fue cambiada o se inició sesión desde un nuevo dispositivo. Si no fuiste tú, congela tu cuenta: nadie podrá iniciar sesión hasta que restablezcas la contraseña.",
        he:
            "הסיסמה שלך שונתה, או שבוצעה התחברות ממכשיר חדש. אם הפעולה לא בוצעה על ידך, יש להקפיא את החשבון: איש לא יוכל להתחבר עד לאיפוס הסיסמה.",
        pt:
            "Sua senha foi alterada ou houve um acesso em um novo dispositivo. Se não foi você, congele sua conta: ninguém poderá entrar até que você redefina a senha.",
        fr:
            "Votre mot de passe a été modifié, ou une connexion a eu lieu sur un nouvel appareil. Si ce n’était pas vous, gelez votre compte\u{A0}: personne ne pourra se connecter tant que vous n’aurez pas réinitialisé le mot de passe.",
        de:
            "Dein Passwort wurde geändert, oder es gab eine Anmeldung auf einem neuen Gerät. Wenn du das nicht warst, friere dein Konto ein: Niemand kann sich anmelden, bis du das Passwort zurücksetzt."
    )
    /// The label of the button that locks the account.
    static let lock = LocalizedText(
        en: "Lock my account",
        es: "Congelar mi cuenta",
        he: "הקפאת החשבון שלי",
        pt: "Congelar minha conta",
        fr: "Geler mon compte",
        de: "Mein Konto einfrieren"
    )
    /// The heading after the account was locked.
    static let lockedHeading = LocalizedText(
        en: "Your account is locked",
        es: "Tu cuenta está congelada",
        he: "החשבון שלך מוקפא",
        pt: "Sua conta está congelada",
        fr: "Votre compte est gelé",
        de: "Dein Konto ist eingefroren"
    )
    /// The text after the account was locked.
    static let locked = LocalizedText(
        en: "All sessions have been ended. To use your account again, ask for a link and set a new password.",
        es:
            "Todas las sesiones han sido cerradas. Para volver a usar tu cuenta, solicita un enlace y define una nueva contraseña.",
        he: "כל החיבורים נותקו. כדי להשתמש שוב בחשבון, יש לבקש קישור ולהגדיר סיסמה חדשה.",
        pt: "Todas as sessões foram encerradas. Para usar sua conta novamente, solicite um link e defina uma nova senha.",
        fr:
            "Toutes les sessions ont été fermées. Pour utiliser à nouveau votre compte, demandez un lien et définissez un nouveau mot de passe.",
        de:
            "Alle Sitzungen wurden beendet. Um dein Konto wieder zu nutzen, fordere einen Link an und lege ein neues Passwort fest."
    )
}
