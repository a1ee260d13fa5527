import ErrorContract
import Foundation
import Testing

@Suite("Texts of the account screens")
struct ScreenTextTests {
    @Test(
        "Shows a cooldown in seconds, in the plural of its number",
        arguments: [
            (60, "Espera 60 segundos antes de reintentar", "Please wait 60 seconds before requesting again"),
            (2, "Espera 2 segundos antes de reintentar", "Please wait 2 seconds before requesting again"),
            (1, "Espera 1 segundo antes de reintentar", "Please wait 1 second before requesting again"),
        ]
    )
    func cooldown(seconds: Int, spanish: String, english: String) {
        let text = ContractText.resetCooldown(seconds: seconds)
        #expect(text.text(in: .spanish) == spanish)
        #expect(text.text(in: .english) == english)
    }

    @Test(
        "Shows the length of a password in the plural of its number",
        arguments: [
            (Language.english, "1 character", "2 characters", "8 characters"),
            (.spanish, "1 carácter", "2 caracteres", "8 caracteres"),
            (.hebrew, "תו אחד", "שני תווים", "8 תווים"), (.portuguese, "1 caractere", "2 caracteres", "8 caracteres"),
            (.french, "1 caractère", "2 caractères", "8 caractères"), (.german, "1 Zeichen", "2 Zeichen", "8 Zeichen"),
        ]
    )
    func passwordLength(language: Language, one: String, two: String, eight: String) {
        for (number, words) in [(1, one), (2, two), (8, eight)] {
            #expect(ContractText.passwordTooShort(minimum: number).text(in: language).contains(words))
            #expect(ContractText.passwordTooLong(maximum: number).text(in: language).contains(words))
        }
    }

    @Test(
        "Shows a cooldown in seconds in every language",
        arguments: [
            (Language.hebrew, "נא להמתין 60 שניות לפני בקשה נוספת"),
            (.portuguese, "Por favor, aguarde 60 segundos antes de solicitar novamente"),
            (.french, "Veuillez patienter 60 secondes avant de refaire une demande"),
            (.german, "Bitte warte 60 Sekunden, bevor du erneut anfragst"),
        ]
    )
    func cooldown(language: Language, expected: String) {
        #expect(ContractText.resetCooldown(seconds: 60).text(in: language) == expected)
    }

    @Test("A greeting inserts a name unchanged", arguments: ["Ana", "María José", "{name}", "$1 \\n"])
    func greeting(name: String) {
        let text = ContractText.resetGreeting(name: name)
        #expect(text.text(in: .spanish) == "Hola \(name), ingresa tu nueva contraseña")
        #expect(text.text(in: .english) == "Hello \(name), enter your new password")
    }
}

@Suite("Labels of an error's actions")
struct ActionLabelTests {
    @Test(
        "The label of a single action names what it does; a single dismissal is OK",
        arguments: [
            (ErrorPresentation.Action.dismiss, "OK", "OK"), (.fixFields, "OK", "OK"),
            (.retry, "Reintentar", "Try Again"), (.retryAt(Date(timeIntervalSince1970: 0)), "Reintentar", "Try Again"),
            (.signIn, "Iniciar sesión", "Sign In"), (.requestNewLink, "Solicitar Nuevo", "Request New"),
            (.checkAgain, "Comprobar de nuevo", "Check again"),
            (.contactSupport, "Contactar a soporte", "Contact Support"), (.openSettings, "Abrir ajustes", "Open Settings"),
            (.updateApp, "Actualizar la app", "Update App"),
        ]
    )
    func primary(action: ErrorPresentation.Action, spanish: String, english: String) {
        let presentation = ErrorPresentation(title: "", message: "", primary: action)
        #expect(presentation.primaryLabel(in: .spanish) == spanish)
        #expect(presentation.primaryLabel(in: .english) == english)
        #expect(presentation.secondaryLabel(in: .english) == nil)
    }

    @Test("A dismissal beside another action is Cancel")
    func secondary() {
        let presentation = ErrorPresentation(title: "", message: "", primary: .retry, secondary: .dismiss)
        #expect(presentation.secondaryLabel(in: .spanish) == "Cancelar")
        #expect(presentation.secondaryLabel(in: .english) == "Cancel")
    }
}
