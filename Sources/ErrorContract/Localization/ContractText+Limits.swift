/// What is said when there were too many requests.
extension ContractText {
    /// Title over a refusal for too many attempts.
    public static let tooManyAttemptsTitle = LocalizedText(en: "Too many attempts", es: "Demasiados intentos")

    /// Reset requests refused by a limit.
    /// - Parameter wait: The time until the next one is admitted, or `nil` if unknown.
    public static func resetLimited(wait: Duration?) -> LocalizedText {
        wait.map { resetLimitedWait.filling("wait", with: WaitPhrase($0).text) } ?? resetLimitedLater
    }

    /// Any other request refused by a limit of the server.
    /// - Parameter wait: The time until the next one is admitted, or `nil` if unknown.
    public static func limited(wait: Duration?) -> LocalizedText {
        wait.map { limitedWait.filling("wait", with: WaitPhrase($0).text) } ?? limitedLater
    }

    /// A request held back by the client itself.
    /// - Parameter wait: The time until the next one is admitted, or `nil` if unknown.
    public static func throttled(wait: Duration?) -> LocalizedText {
        wait.map { throttledWait.filling("wait", with: WaitPhrase($0).text) } ?? waitShort
    }

    /// The short form, where space is tight.
    public static let waitShort = LocalizedText(
        en: "Please wait before trying again.",
        es: "Por favor, espera antes de intentar de nuevo."
    )

    static let resetLimitedWait = LocalizedText(
        en: "You have tried to reset your password too many times. Please try again in {wait}.",
        es: "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo en {wait}."
    )
    static let resetLimitedLater = LocalizedText(
        en: "You have tried to reset your password too many times. Please try again later.",
        es: "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo más tarde."
    )
    static let limitedWait = LocalizedText(
        en: "Too many requests. Please try again in {wait}.",
        es: "Demasiadas solicitudes. Intenta de nuevo en {wait}."
    )
    static let limitedLater = LocalizedText(
        en: "Too many attempts. Try again later.",
        es: "Demasiados intentos. Intenta de nuevo más tarde."
    )
    static let throttledWait = LocalizedText(
        en: "Too many requests. Please wait {wait} before trying again.",
        es: "Demasiadas solicitudes. Espera {wait} antes de intentar de nuevo."
    )
}
