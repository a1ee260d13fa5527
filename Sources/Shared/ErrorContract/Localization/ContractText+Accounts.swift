/// The texts with which a server responds to changes of an account. Screens also show them.
extension ContractText {
    /// The response to a request that sends an email to an address. It is the same whether or not the address has an account.
    public static let nextStepSent = LocalizedText(
        en: "We have sent you an email with the next step.",
        es: "Te hemos enviado un correo con el siguiente paso.",
        he: "שלחנו לך אימייל עם השלב הבא.",
        pt: "Enviamos um e-mail para você com o próximo passo.",
        fr: "Nous vous avons envoyé un e-mail avec la prochaine étape.",
        de: "Wir haben dir eine E-Mail mit dem nächsten Schritt geschickt."
    )
    /// The response after the user verified an address.
    public static let emailVerified = LocalizedText(
        en: "Your email address is verified.",
        es: "Tu correo electrónico está verificado.",
        he: "כתובת האימייל שלך אומתה.",
        pt: "Seu e-mail foi verificado.",
        fr: "Votre adresse e-mail est vérifiée.",
        de: "Deine E-Mail-Adresse ist bestätigt."
    )
    /// The response after the user changed the address.
    public static let emailChanged = LocalizedText(
        en: "Your email address has been changed.",
        es: "Tu correo electrónico ha sido cambiado.",
        he: "כתובת האימייל שלך שונתה.",
        pt: "Seu e-mail foi alterado.",
        fr: "Votre adresse e-mail a été modifiée.",
        de: "Deine E-Mail-Adresse wurde geändert."
    )
    /// The response after the user restored a former address. The text says that the user must reset the password before the next sign-in.
    public static let emailRestored = LocalizedText(
        en: "Your email address has been restored. Reset your password to sign in.",
        es: "Tu correo electrónico ha sido recuperado. Restablece tu contraseña para iniciar sesión.",
        he: "כתובת האימייל שלך שוחזרה. כדי להתחבר, יש לאפס את הסיסמה.",
        pt: "Seu e-mail foi recuperado. Redefina sua senha para entrar.",
        fr: "Votre adresse e-mail a été rétablie. Réinitialisez votre mot de passe pour vous connecter.",
        de: "Deine E-Mail-Adresse wurde wiederhergestellt. Setze dein Passwort zurück, um dich anzumelden."
    )
    /// The response after the user restored a deleted account. The password is unchanged.
    public static let accountRestored = LocalizedText(
        en: "Your account has been restored. You can sign in again.",
        es: "Tu cuenta ha sido recuperada. Ya puedes iniciar sesión de nuevo.",
        he: "החשבון שלך שוחזר. אפשר להתחבר שוב.",
        pt: "Sua conta foi recuperada. Você já pode entrar novamente.",
        fr: "Votre compte a été restauré. Vous pouvez vous reconnecter.",
        de: "Dein Konto wurde wiederhergestellt. Du kannst dich wieder anmelden."
    )
    /// The response to the deletion of an account.
    public static let accountDeleted = LocalizedText(
        en: "Your account has been deleted.",
        es: "Tu cuenta ha sido eliminada.",
        he: "החשבון שלך נמחק.",
        pt: "Sua conta foi excluída.",
        fr: "Votre compte a été supprimé.",
        de: "Dein Konto wurde gelöscht."
    )
}
