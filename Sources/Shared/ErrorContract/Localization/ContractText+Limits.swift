/// Texts for rate limits and delays.
extension ContractText {
    /// Title for an error because of too many attempts.
    public static let tooManyAttemptsTitle = LocalizedText(
        en: "Too many attempts",
        es: "Demasiados intentos",
        he: "יותר מדי ניסיונות",
        pt: "Muitas tentativas",
        fr: "Trop de tentatives",
        de: "Zu viele Versuche"
    )

    /// Returns the text for a reset request that a limit refused.
    /// - Parameter wait: The time until the server accepts the next request; `nil` if unknown.
    public static func resetLimited(wait: Duration?) -> LocalizedText {
        wait.map { resetLimitedWait.filling("wait", with: WaitPhrase($0).text) } ?? resetLimitedLater
    }

    /// Returns the text for a request that a limit of the server refused, other than a reset request or a sign-in.
    /// - Parameter wait: The time until the server accepts the next request; `nil` if unknown. The text rounds the time up to a whole
    ///   number of the unit that ``WaitPhrase`` chooses.
    public static func limited(wait: Duration?) -> LocalizedText {
        wait.map { limitedWait.filling("wait", with: WaitPhrase($0).text) } ?? limitedLater
    }

    /// Returns the text for a sign-in that the server refuses because too many sign-ins with the address failed. The user can still sign in
    /// by resetting the password.
    /// - Parameter wait: The time until the server accepts the next attempt; `nil` if unknown.
    public static func signInLimited(wait: Duration?) -> LocalizedText {
        wait.map { signInLimitedWait.filling("wait", with: WaitPhrase($0).text) } ?? signInLimitedLater
    }

    /// Returns the text for a request that the client itself refused because of a quota of the app.
    /// - Parameter wait: The time until the client sends the next request; `nil` if unknown.
    public static func throttled(wait: Duration?) -> LocalizedText {
        wait.map { throttledWait.filling("wait", with: WaitPhrase($0).text) } ?? waitShort
    }

    /// Returns the text for a request that the client did not send because the server is failing.
    /// - Parameter wait: The time until the client sends requests again; `nil` if unknown.
    public static func unavailable(wait: Duration?) -> LocalizedText {
        wait.map { unavailableWait.filling("wait", with: WaitPhrase($0).text) } ?? unavailableLater
    }

    /// Returns a sentence with the delay, to be added to a text that doesn't contain the delay.
    static func tryAgain(in wait: Duration) -> LocalizedText {
        tryAgainWait.filling("wait", with: WaitPhrase(wait).text)
    }

    /// Short text that asks the user to wait, for small controls. It doesn't contain the delay.
    public static let waitShort = LocalizedText(
        en: "Please wait before trying again.",
        es: "Por favor, espera antes de intentar de nuevo.",
        he: "נא להמתין לפני ניסיון נוסף.",
        pt: "Por favor, aguarde antes de tentar novamente.",
        fr: "Veuillez patienter avant de réessayer.",
        de: "Bitte warte, bevor du es erneut versuchst."
    )

    /// ``resetLimited(wait:)`` with a known delay.
    static let resetLimitedWait = LocalizedText(
        en: "You have tried to reset your password too many times. Please try again in {wait}.",
        es: "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo en {wait}.",
        he: "בוצעו יותר מדי ניסיונות לאיפוס הסיסמה שלך. נא לנסות שוב בעוד {wait}.",
        pt: "Você tentou redefinir sua senha vezes demais. Por favor, tente novamente em {wait}.",
        fr: "Vous avez essayé de réinitialiser votre mot de passe trop de fois. Veuillez réessayer dans {wait}.",
        de: "Du hast zu oft versucht, dein Passwort zurückzusetzen. Bitte versuche es in {wait} erneut."
    )
    /// ``resetLimited(wait:)`` without a known delay.
    static let resetLimitedLater = LocalizedText(
        en: "You have tried to reset your password too many times. Please try again later.",
        es: "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo más tarde.",
        he: "בוצעו יותר מדי ניסיונות לאיפוס הסיסמה שלך. נא לנסות שוב מאוחר יותר.",
        pt: "Você tentou redefinir sua senha vezes demais. Por favor, tente novamente mais tarde.",
        fr: "Vous avez essayé de réinitialiser votre mot de passe trop de fois. Veuillez réessayer plus tard.",
        de: "Du hast zu oft versucht, dein Passwort zurückzusetzen. Bitte versuche es später erneut."
    )
    /// ``limited(wait:)`` with a known delay.
    static let limitedWait = LocalizedText(
        en: "Too many requests. Please try again in {wait}.",
        es: "Demasiadas solicitudes. Intenta de nuevo en {wait}.",
        he: "יותר מדי בקשות. נא לנסות שוב בעוד {wait}.",
        pt: "Muitas solicitações. Por favor, tente novamente em {wait}.",
        fr: "Trop de demandes. Veuillez réessayer dans {wait}.",
        de: "Zu viele Anfragen. Bitte versuche es in {wait} erneut."
    )
    /// ``limited(wait:)`` without a known delay.
    static let limitedLater = LocalizedText(
        en: "Too many attempts. Try again later.",
        es: "Demasiados intentos. Intenta de nuevo más tarde.",
        he: "יותר מדי ניסיונות. ניתן לנסות שוב מאוחר יותר.",
        pt: "Muitas tentativas. Tente novamente mais tarde.",
        fr: "Trop de tentatives. Réessayez plus tard.",
        de: "Zu viele Versuche. Versuche es später erneut."
    )
    /// ``signInLimited(wait:)`` with a known delay.
    static let signInLimitedWait = LocalizedText(
        en: "Too many failed attempts. Please try again in {wait}, or reset your password to sign in now.",
        es: "Demasiados intentos fallidos. Intenta de nuevo en {wait}, o restablece tu contraseña para iniciar sesión ahora.",
        he: "יותר מדי ניסיונות כושלים. נא לנסות שוב בעוד {wait}, או לאפס את הסיסמה כדי להתחבר עכשיו.",
        pt: "Muitas tentativas falharam. Por favor, tente novamente em {wait} ou redefina sua senha para entrar agora.",
        fr: "Trop d’essais infructueux. Réessayez dans {wait} ou réinitialisez votre mot de passe pour vous connecter.",
        de: "Zu viele Fehlversuche. Versuche es in {wait} erneut oder setze dein Passwort zurück, um dich jetzt anzumelden."
    )
    /// ``signInLimited(wait:)`` without a known delay.
    static let signInLimitedLater = LocalizedText(
        en: "Too many failed attempts. Please try again later, or reset your password to sign in now.",
        es: "Demasiados intentos fallidos. Intenta de nuevo más tarde, o restablece tu contraseña para iniciar sesión ahora.",
        he: "יותר מדי ניסיונות כושלים. נא לנסות שוב מאוחר יותר, או לאפס את הסיסמה כדי להתחבר עכשיו.",
        pt: "Muitas tentativas falharam. Por favor, tente novamente mais tarde ou redefina sua senha para entrar agora.",
        fr: "Trop d’essais infructueux. Réessayez plus tard ou réinitialisez votre mot de passe pour vous connecter.",
        de: "Zu viele Fehlversuche. Versuche es später erneut oder setze dein Passwort zurück, um dich jetzt anzumelden."
    )
    /// ``throttled(wait:)`` with a known delay.
    static let throttledWait = LocalizedText(
        en: "Too many requests. Please wait {wait} before trying again.",
        es: "Demasiadas solicitudes. Espera {wait} antes de intentar de nuevo.",
        he: "יותר מדי בקשות. נא להמתין {wait} לפני ניסיון נוסף.",
        pt: "Muitas solicitações. Por favor, aguarde {wait} antes de tentar novamente.",
        fr: "Trop de demandes. Veuillez patienter {wait} avant de réessayer.",
        de: "Zu viele Anfragen. Bitte warte {wait}, bevor du es erneut versuchst."
    )
    /// ``unavailable(wait:)`` with a known delay.
    static let unavailableWait = LocalizedText(
        en: "The service is unavailable. Try again in {wait}.",
        es: "El servicio no está disponible. Intenta de nuevo en {wait}.",
        he: "השירות אינו זמין. ניתן לנסות שוב בעוד {wait}.",
        pt: "O serviço não está disponível. Tente novamente em {wait}.",
        fr: "Le service n’est pas disponible. Réessayez dans {wait}.",
        de: "Der Dienst ist nicht verfügbar. Versuche es in {wait} erneut."
    )
    /// ``unavailable(wait:)`` without a known delay.
    static let unavailableLater = LocalizedText(
        en: "The service is unavailable. Try again later.",
        es: "El servicio no está disponible. Intenta de nuevo más tarde.",
        he: "השירות אינו זמין. ניתן לנסות שוב מאוחר יותר.",
        pt: "O serviço não está disponível. Tente novamente mais tarde.",
        fr: "Le service n’est pas disponible. Réessayez plus tard.",
        de: "Der Dienst ist nicht verfügbar. Versuche es später erneut."
    )
    /// ``tryAgain(in:)`` with an unfilled placeholder.
    static let tryAgainWait = LocalizedText(
        en: "Try again in {wait}.",
        es: "Intenta de nuevo en {wait}.",
        he: "ניתן לנסות שוב בעוד {wait}.",
        pt: "Tente novamente em {wait}.",
        fr: "Réessayez dans {wait}.",
        de: "Versuche es in {wait} erneut."
    )
}
