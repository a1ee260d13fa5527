import ErrorContract
import Foundation
import HTTPTypes
import Testing

/// Tests which text an app shows for the error of another server: the library's text for the code, the server's text, or the text of a
/// field.
@Suite("Texts for errors of other servers")
struct ServerTextTests {
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private func error(
        _ status: Int,
        _ body: String,
        headers: HTTPFields = [:],
        serverTextLanguage: Language? = nil,
        catalogue: ErrorCatalogue = .standard
    ) -> APIError {
        let decoded = ErrorDecoder().decode(status: status, headers: headers, body: Array(body.utf8), now: Self.now)
        var error = APIError(decoded, catalogue: catalogue)
        error.headers = headers
        error.serverTextLanguage = serverTextLanguage
        return error
    }

    private func message(_ error: APIError, _ language: Language) -> String {
        error.presentation(in: language, now: Self.now).message
    }

    @Test("Shows the catalog's own text for its codes, whatever the server writes")
    func catalogueCode() {
        let body = #"{"error":{"code":"RESOURCE_ALREADY_EXISTS","message":"El pedido ya existe."}}"#
        let error = error(409, body, headers: [.contentLanguage: "es"])
        #expect(message(error, .spanish) == ErrorCatalogue.standard[.resourceAlreadyExists]?.message.text(in: .spanish))
        #expect(message(error, .english) == "This already exists.")
        #expect(error.message == "El pedido ya existe.", "the server's text stays in the error")
    }

    @Test("Shows the app's text for the app's code, without repeating the catalog")
    func appCode() throws {
        let catalogue = try ErrorCatalogue.standard.adding([
            ErrorDefinition(
                "PAYMENT_DECLINED",
                family: ErrorFamily(rawValue: "PAYMENT"),
                status: 402,
                summary: "Card declined",
                userAction: "Use another card",
                message: LocalizedText(en: "The card was declined.", es: "La tarjeta fue rechazada.")
            )
        ])
        let body = #"{"error":{"code":"PAYMENT_DECLINED","message":"Declined by issuer"}}"#
        let error = error(402, body, headers: [.contentLanguage: "en"], catalogue: catalogue)
        #expect(message(error, .english) == "The card was declined.")
        #expect(message(error, .spanish) == "La tarjeta fue rechazada.")
    }

    @Test(
        "Content-Language decides whether the server's text is shown",
        arguments: [
            ("es", true), ("es-MX", true), ("ES", true), ("fr, es", true), ("en", false), ("", false), ("est", false),
        ]
    )
    func contentLanguage(header: String, isShown: Bool) {
        let error = error(400, #"{"detail":"El nombre ya existe."}"#, headers: [.contentLanguage: header])
        #expect((message(error, .spanish) == "El nombre ya existe.") == isShown)
        #expect((message(error, Language("es-AR")) == "El nombre ya existe.") == isShown)
        #expect(error.isServerText(in: .spanish) == isShown)
    }

    @Test("Never shows a text of unknown language", arguments: Language.supported)
    func unknownLanguage(language: Language) {
        let error = error(400, #"{"detail":"El nombre ya existe."}"#)
        #expect(message(error, language) == ContractText.unknownError.text(in: language))
        #expect(error.message == "El nombre ya existe.")
    }

    @Test("serverTextLanguage replaces a missing Content-Language, also for other languages")
    func setting() {
        for headers in [[:], [.contentLanguage: "en"]] as [HTTPFields] {
            let error = error(400, #"{"detail":"El nombre ya existe."}"#, headers: headers, serverTextLanguage: .spanish)
            #expect(message(error, .spanish) == "El nombre ya existe.")
            #expect(message(error, .german) == ContractText.unknownError.text(in: .german))
        }
    }

    @Test(
        "Field violations alone give data for the form and the first one's text",
        arguments: [
            (400, #"{"email":["El correo ya está en uso."],"name":["Es muy corto."]}"#),
            (
                422,
                #"{"detail":[{"loc":["body","email"],"msg":"El correo ya está en uso.","type":"x"},{"loc":["body","name"],"msg":"Es muy corto.","type":"x"}]}"#
            ),
            (422, #"{"errors":{"email":["El correo ya está en uso."],"name":["Es muy corto."]}}"#),
            (
                400,
                #"{"success":false,"errors":[{"field":"email","message":"El correo ya está en uso."},{"field":"name","message":"Es muy corto."}]}"#
            ),
            (
                429,
                #"{"success":false,"error_code":429,"errors":[{"field":"email","message":"El correo ya está en uso."},{"field":"name","message":"Es muy corto."}]}"#
            ),
        ]
    )
    func violations(status: Int, body: String) {
        let error = error(status, body, serverTextLanguage: .spanish)
        let shown = error.presentation(in: .spanish, now: Self.now)
        #expect(shown.message == "El correo ya está en uso.")
        #expect(
            shown.fields == [
                .init(field: "email", text: "El correo ya está en uso."), .init(field: "name", text: "Es muy corto."),
            ]
        )
        #expect(shown.text(ofField: "name") == "Es muy corto." && shown.text(ofField: "age") == nil)
        #expect(error.kind == (status == 429 ? .rateLimited : .validation))
        let english = error.presentation(in: .english, now: Self.now)
        #expect(
            english.message
                == (status == 429
                    ? "Too many attempts. Try again later." : "This email is already registered. Sign in or use another one.")
        )
        let texts = ["This email is already registered. Sign in or use another one.", "This text is too short."]
        let limited = Array(repeating: "Too many attempts. Try again later.", count: 2)
        #expect(english.fields.map(\.text) == (status == 429 ? limited : texts))
    }

    @Test("Shows a text beside violations, as errors[0].message, in the user's language")
    func firstError() {
        let error = error(422, #"{"errors":[{"message":"El pedido está cerrado."}]}"#, serverTextLanguage: .spanish)
        #expect(message(error, .spanish) == "El pedido está cerrado.")
        #expect(message(error, .french) == ContractText.unknownError.text(in: .french))
    }

    @Test(
        "A field's problem gets a text by field and kind",
        arguments: [
            ("email", "Enter a valid email address.", "Por favor, ingresa un correo electrónico válido"),
            ("email", "This field may not be blank.", "Por favor, ingresa tu correo electrónico"),
            ("user.email", "user with this email already exists.", "Este correo ya está registrado. Inicia sesión o usa otro."),
            ("email", "The email has already been taken.", "Este correo ya está registrado. Inicia sesión o usa otro."),
            ("password", "Ensure this field has at least 8 characters.", "La contraseña debe tener al menos 8 caracteres"),
            ("password", "is too short (minimum is 10 characters)", "La contraseña debe tener al menos 10 caracteres"),
            (
                "password", "This password is too short. It must contain at least 8 characters.",
                "La contraseña debe tener al menos 8 caracteres"
            ),
            (
                "new_password", "The password must not be greater than 64 characters.",
                "La contraseña debe tener como máximo 64 caracteres"
            ),
            (
                "password", "This password is too common.",
                "Esta contraseña es demasiado común: es de las primeras que cualquiera probaría"
            ),
            ("password", "The password is too similar to the username.", "La contraseña no puede ser tu correo ni tu nombre"),
            ("password", "This password is entirely numeric.", "La contraseña debe contener letras y números"),
            ("password_confirmation", "doesn't match Password", "Las contraseñas no coinciden"),
            ("title", "This field is required.", "Este campo es obligatorio."),
            ("title", "The title field is required.", "Este campo es obligatorio."),
            ("title", "can't be blank", "Este campo es obligatorio."),
            ("title", "Este campo es obligatorio", "Este campo es obligatorio."),
            ("quantity", "A valid integer is required.", "El formato no es válido."),
            ("quantity", "Ensure this value is greater than or equal to 1.", "Este valor está fuera del rango permitido."),
            ("quantity", "must be less than or equal to 9", "Este valor está fuera del rango permitido."),
            ("title", "Ensure this field has no more than 20 characters.", "Este texto es demasiado largo."),
            ("birth_date", "Date has wrong format. Use YYYY-MM-DD.", "Por favor, ingresa una fecha válida."),
            ("avatar_url", "Enter a valid URL.", "Por favor, ingresa una dirección web válida."),
            ("title", "has already been taken", "Este valor ya está en uso."),
            ("age", "The age field must be at least 18.", "Este valor está fuera del rango permitido."),
            ("start", "The start field must be a date after today.", "El formato no es válido."),
            ("start", "must be after today", "Este valor está fuera del rango permitido."),
            ("code", "This value does not match the required pattern.", "El formato no es válido."),
            (
                "password", "The password field must contain at least one uppercase and one lowercase letter.",
                "La contraseña es demasiado débil. Por favor, elige una más segura."
            ),
            ("current_password", "The current password is wrong.", "Este valor no es válido."),
            ("title", "Not today", "Este valor no es válido."),
        ]
    )
    func fieldText(field: String, server: String, expected: String) {
        let violation = FieldViolation(field: field, message: server)
        var error = APIError(.validation)
        error.violations = [violation]
        #expect(error.text(for: violation, in: .spanish) == expected)
        let general = "Por favor, revisa los campos marcados."
        #expect(message(error, .spanish) == (expected == "Este valor no es válido." ? general : expected))
    }

    @Test(
        "Reads the kind of a violation from its code first",
        arguments: [
            ("missing", FieldViolation.Kind.required), ("string_too_short", .tooShort), ("string_too_long", .tooLong),
            ("greater_than_equal", .outOfRange), ("int_parsing", .malformed), ("VALIDATION_MISSING_FIELD", .required),
            ("VALIDATION_FIELD_TOO_SHORT", .tooShort), ("VALIDATION_FIELD_TOO_LONG", .tooLong),
            ("VALIDATION_INVALID_EMAIL", .malformed), ("VALIDATION_INVALID_FORMAT", .malformed), ("NotBlank", .required),
            ("Email", .malformed), ("unique", .taken), ("too_small", .outOfRange),
        ]
    )
    func kindByCode(code: String, kind: FieldViolation.Kind) {
        #expect(FieldViolation(field: "title", code: ErrorCode(code), message: "m").kind == kind)
    }

    @Test("Maps Zod's too_small to short text; a code without a meaning defers to the text")
    func kindByText() {
        let short = FieldViolation(field: "title", code: "too_small", message: "String must contain at least 3 characters")
        #expect(short.kind == .tooShort)
        #expect(FieldViolation(field: "title", code: "E1", message: "This field is required.").kind == .required)
        #expect(FieldViolation(field: "title", message: "Not today").kind == nil)
        #expect(FieldViolation(field: "title", message: "").kind == nil)
    }

    @Test(
        "A 429 with a delay always shows the delay",
        arguments: [
            ("Has enviado demasiados mensajes.", "Has enviado demasiados mensajes. Intenta de nuevo en 30 segundos."),
            ("Demasiados mensajes", "Demasiados mensajes. Intenta de nuevo en 30 segundos."),
            ("Espera 30 segundos.", "Espera 30 segundos."),
            ("Espera 130 segundos.", "Espera 130 segundos. Intenta de nuevo en 30 segundos."),
            ("Solo 1 mensaje por 30 segundos.", "Solo 1 mensaje por 30 segundos. Intenta de nuevo en 30 segundos."),
        ]
    )
    func delay(server: String, shown: String) {
        let limited = error(
            429,
            #"{"detail":"\#(server)"}"#,
            headers: [.retryAfter: "30", .contentLanguage: "es"]
        )
        #expect(message(limited, .spanish) == shown)
        #expect(message(limited, .english) == "Too many requests. Please try again in 30 seconds.")
        let coded = error(429, #"{"error":{"code":"RATE_LIMIT_DEVICE_LIMIT","message":"x"}}"#, headers: [.retryAfter: "7200"])
        #expect(message(coded, .english) == "Too many requests from this device. Try again later. Try again in 2 hours.")
    }

    @Test("A violation of a 429 shows the delay, too")
    func limitedViolation() {
        let body =
            #"{"success":false,"error_code":429,"errors":[{"field":"email","message":"Demasiados intentos con este correo"}]}"#
        let error = error(429, body, headers: [.retryAfter: "3600"], serverTextLanguage: .spanish)
        #expect(message(error, .spanish) == "Demasiados intentos con este correo. Intenta de nuevo en 1 hora.")
        #expect(message(error, .english) == "Too many requests. Please try again in 1 hour.")
    }

    @Test("Shows the kind's text if the response has no text that can be shown")
    func kinds() {
        #expect(message(error(403, #"{"detail":"No."}"#), .english) == "You do not have access to this.")
        #expect(message(error(404, #"{"detail":"No."}"#), .spanish) == "No encontramos lo que buscabas.")
        #expect(message(error(418, #"{"detail":"No."}"#), .english) == "An error occurred. Please try again.")
    }

    @Test("No body of any family shows a text of unknown language", arguments: LabeledBody.small)
    func families(body: LabeledBody) {
        let error = APIError(body.decoded)
        var silent = error
        silent.message = nil
        for language in Language.supported {
            let shown = error.presentation(in: language, now: Self.now)
            #expect(shown == silent.presentation(in: language, now: Self.now))
            for (field, violation) in zip(shown.fields, error.violations) where violation.message.count > 2 {
                let own = FieldViolation(field: violation.field, code: violation.code, message: "").message
                #expect(field.text != own && !field.text.isEmpty)
            }
        }
    }

    @Test("Shows the server's reason against a password if it is in the user's language")
    func weakPassword() {
        let body = #"{"error":{"code":"AUTH_WEAK_PASSWORD","message":"La contraseña debe tener al menos 12 caracteres"}}"#
        let error = error(400, body, headers: [.contentLanguage: "es"])
        #expect(message(error, .spanish) == "La contraseña debe tener al menos 12 caracteres")
        #expect(message(error, .english) == "The password is too weak. Please choose a stronger one.")
    }
}

/// A 401 to a request without credentials.
@Suite("A 401 without credentials")
struct UncredentialedTests {
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private func refused(_ sentCredentials: Bool?, code: ErrorCode? = nil) -> APIError {
        var decoded = DecodedError(status: 401)
        (decoded.code, decoded.message) = (code, "No active account found with the given credentials")
        var error = APIError(decoded)
        error.sentCredentials = sentCredentials
        return error
    }

    @Test(
        "Is never shown as an expired session",
        arguments: [nil, ErrorCode.authTokenExpired, .authTokenMissing, "token_not_valid"]
    )
    func neverExpired(code: ErrorCode?) {
        let shown = refused(false, code: code).presentation(in: .spanish, now: Self.now)
        #expect(shown.title == "Error" && shown.message == "Por favor, inicia sesión para continuar.")
        #expect(shown.primary == .signIn)
        for sent in [true, nil] {
            #expect(refused(sent, code: code).presentation(in: .spanish, now: Self.now).title == "Sesión expirada")
        }
    }

    @Test("Of a sign-in, means wrong credentials in every language and keeps the text")
    func signIn() {
        for code in [nil, ErrorCode("token_not_valid"), "no_active_account"] {
            let error = refused(false, code: code).refusingSignIn()
            #expect(error.presentation(in: .spanish, now: Self.now).message == "Correo o contraseña incorrectos")
            #expect(error.presentation(in: .english, now: Self.now).message == "Invalid email or password")
            #expect(error.presentation(in: .english, now: Self.now).primary == .fixFields)
            #expect(error.code == .authInvalidCredentials && error.retry == .never)
            #expect(error.message == "No active account found with the given credentials")
        }
    }

    @Test(
        "Reads wrong credentials from other servers' codes, whatever their status",
        arguments: [
            (400, "invalid_credentials"), (400, "invalid_grant"), (400, "INVALID_LOGIN_CREDENTIALS"), (403, "invalid_password"),
        ]
    )
    func codes(status: Int, code: String) {
        var decoded = DecodedError(status: status)
        decoded.code = ErrorCode(code)
        #expect(APIError(decoded).refusingSignIn().code == .authInvalidCredentials)
    }

    @Test(
        "Keeps another reason against a sign-in",
        arguments: [(403, "AUTH_USER_SUSPENDED"), (401, "API_KEY_INVALID"), (429, "RATE_LIMIT_EXCEEDED")]
    )
    func otherReasons(status: Int, code: String) {
        var decoded = DecodedError(status: status)
        decoded.code = ErrorCode(code)
        #expect(APIError(decoded).refusingSignIn() == APIError(decoded))
    }
}
