import AccountKit
import ErrorContract
import HoldfastTesting

extension MessageRow {
    static let forms = [
        MessageRow(
            "address missing",
            es: "Correo requerido",
            "Por favor, ingresa tu correo electrónico",
            en: "Email Required",
            "Please enter your email address"
        ) { language in
            let model = try ScreenScript().forgot(language, email: "")
            await model.request()
            return [model.alert?.title, model.alert?.message]
        },
        MessageRow(
            "address malformed",
            es: "Correo inválido",
            "Por favor, ingresa un correo electrónico válido",
            en: "Invalid Email",
            "Please enter a valid email address"
        ) { language in
            let model = try ScreenScript().forgot(language, email: "ana@")
            await model.request()
            return [model.alert?.title, model.alert?.message]
        },
        MessageRow(
            "address malformed, on the sign-in screen",
            es: "Correo inválido",
            "Por favor, ingresa un correo electrónico válido",
            en: "Invalid Email",
            "Please enter a valid email address"
        ) { language in
            let model = try ScreenScript().signIn(language, email: "ana@")
            await model.submit()
            return [model.alert?.title, model.alert?.message]
        },
        MessageRow(
            "wrong credentials",
            es: "Error",
            "Correo o contraseña incorrectos",
            en: "Error",
            "Invalid email or password",
            shown: signIn(.refusal(401, .authInvalidCredentials))
        ),
        MessageRow(
            "fields empty, on the sign-in screen",
            es: "Por favor, completa todos los campos",
            en: "Please fill in all fields"
        ) { language in
            let model = try ScreenScript().signIn(language, password: "")
            await model.submit()
            return [model.alert?.message]
        },
        MessageRow(
            "fields empty, on the reset screen",
            es: "Por favor, completa todos los campos",
            en: "Please fill in all fields"
        ) { language in
            let model = try await ScreenScript([.linkIsGood]).openedReset(language, confirmation: "")
            await model.submit()
            return [model.alert?.message]
        },
        MessageRow(
            "reset requested",
            es: "Si existe una cuenta con este correo, recibirás un enlace para restablecer tu contraseña.",
            en: "If an account exists for this email, you will receive a link to reset your password."
        ) { language in
            let model = try ScreenScript([.accepted]).forgot(language)
            await model.request()
            guard case .requested(let message) = model.state else { return [] }
            return [message]
        },
    ]

    static let general = [
        MessageRow(
            "session expired",
            es: "Sesión expirada",
            "Por favor, inicia sesión de nuevo.",
            "Iniciar sesión",
            "Cancelar",
            en: "Session Expired",
            "Please sign in again.",
            "Sign In",
            "Cancel"
        ) { language in
            let error = APIError(kind: .unauthorized, code: .authSessionExpired, retry: .afterSignIn, recovery: .signIn)
            return presentation(of: error, in: language)
        },
        MessageRow(
            "session expired, from the client",
            es: "Sesión expirada",
            "Por favor, inicia sesión de nuevo.",
            "Iniciar sesión",
            "Cancelar",
            en: "Session Expired",
            "Please sign in again.",
            "Sign In",
            "Cancel"
        ) { language in
            let client = try ScreenScript().client
            do throws(APIError) {
                _ = try await client.me()
                return []
            } catch {
                return presentation(of: error, in: language)
            }
        },
        MessageRow(
            "anything unknown",
            es: "Error",
            "Ocurrió un error. Por favor, intenta de nuevo.",
            en: "Error",
            "An error occurred. Please try again.",
            shown: signIn(.response(status: 200, body: "garbage"))
        ),
        MessageRow(
            "network",
            es: "Error",
            "Revisa tu conexión a internet",
            en: "Error",
            "Check your internet connection",
            shown: forgot(.unreachable)
        ),
        MessageRow(
            "server",
            es: "Error",
            "Algo salió mal. Por favor, intenta de nuevo.",
            en: "Error",
            "Something went wrong. Please try again.",
            shown: forgot(.broken)
        ),
    ]
}
