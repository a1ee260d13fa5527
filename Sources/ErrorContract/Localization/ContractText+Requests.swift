/// What the screens say before anything is sent: fields that are not ready, and the pause between two reset requests.
extension ContractText {
    /// A form that was sent with a field empty.
    public static let fieldsEmpty = LocalizedText(
        en: "Please fill in all fields",
        es: "Por favor, completa todos los campos"
    )
    /// Title over an address that was not typed.
    public static let emailMissingTitle = LocalizedText(en: "Email Required", es: "Correo requerido")
    /// Text over an address that was not typed.
    public static let emailMissing = LocalizedText(
        en: "Please enter your email address",
        es: "Por favor, ingresa tu correo electrónico"
    )
    /// Title over an address that is none.
    public static let emailMalformedTitle = LocalizedText(en: "Invalid Email", es: "Correo inválido")
    /// Text over an address that is none.
    public static let emailMalformed = LocalizedText(
        en: "Please enter a valid email address",
        es: "Por favor, ingresa un correo electrónico válido"
    )
    /// Title while the reset button rests after a request.
    public static let resetCooldownTitle = LocalizedText(en: "Too Many Requests", es: "Demasiados intentos")

    /// The reset button rests after a request.
    /// - Parameter seconds: The seconds until it works again; it is never more than a minute, and always told in seconds.
    public static func resetCooldown(seconds: Int) -> LocalizedText {
        resetCooldown.filling("wait", with: WaitPhrase(seconds, .seconds).text)
    }

    static let resetCooldown = LocalizedText(
        en: "Please wait {wait} before requesting again",
        es: "Espera {wait} antes de reintentar"
    )
}
