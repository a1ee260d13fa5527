import AccountKit
import ErrorContract
import HTTPTypes
import HoldfastTesting
import Testing

@MainActor
@Suite("The server's messages about fields")
struct FieldProblemTests {
    /// Refusals of a field in the forms of several servers.
    nonisolated private static let emailRefusals = [
        // Django REST framework
        ScriptedTransport.Step.english(400, #"{"email":["Enter another address."]}"#),
        // FastAPI
        .english(
            422,
            #"{"detail":[{"type":"value_error","loc":["body","email"],"msg":"Enter another address.","input":"x"}]}"#
        ),
        // Rails
        .english(422, #"{"errors":{"email":["Enter another address."]}}"#),
        // The contract
        .english(
            400,
            """
            {"error":{"code":"VALIDATION_INVALID_FORMAT","message":"m","details":{"validation_errors":[
            {"field":"email","message":"Enter another address."}]}}}
            """
        ),
    ]

    @Test("A sign-in shows the server's messages at their fields, without an alert", arguments: emailRefusals)
    func signIn(step: ScriptedTransport.Step) async throws {
        let model = try ScreenScript([step]).signIn()
        await model.submit()
        #expect(model.problem(at: .email)?.contains("Enter another address.") == true)
        #expect(model.problem(at: .password) == nil)
        #expect(model.alert == nil && model.state == .editing && model.isSubmitEnabled)
        #expect(model.focusRequest?.field == .email)
        #expect(model.announcement?.text == model.problem(at: .email))
        model.email += "m"
        #expect(model.problem(at: .email) == nil, "the message ends with the first edit of its field")
    }

    @Test("A request for a link shows the server's message at the address, without an alert", arguments: emailRefusals)
    func forgotPassword(step: ScriptedTransport.Step) async throws {
        let model = try ScreenScript([step, .accepted]).forgot()
        await model.request()
        #expect(model.problem(at: .email)?.contains("Enter another address.") == true)
        #expect(model.alert == nil && model.state == .editing && !model.isCoolingDown)
        #expect(model.focusRequest?.field == .email)
        #expect(model.announcement?.text == model.problem(at: .email))
        await model.request()
        #expect(model.problem(at: .email) == nil && model.isCoolingDown, "another request removes it")
    }

    @Test("Field messages stay until their field is edited; the first field gets the focus")
    func bothFields() async throws {
        let body = #"{"password":["Too short."],"email":["Not known."]}"#
        let model = try ScreenScript([.english(400, body)]).signIn()
        await model.submit()
        #expect(model.problem(at: .email)?.contains("Not known.") == true)
        #expect(model.problem(at: .password)?.contains("Too short.") == true)
        #expect(model.focusRequest?.field == .email)
        let texts = [AccountField.email, .password].compactMap { model.problem(at: $0) }
        #expect(model.announcement?.text == texts.joined(separator: "\n"), "VoiceOver speaks both")
        model.password = "another password"
        #expect(model.problem(at: .email) != nil && model.problem(at: .password) == nil)
    }

    @Test("Replaces a message in another language by the text for its field and problem")
    func otherLanguage() async throws {
        let body = #"{"email":["Enter a valid email address."],"password":["This field may not be blank."]}"#
        let model = try ScreenScript([.response(status: 400, body: body)]).signIn(.spanish)
        await model.submit()
        #expect(model.problem(at: .email) == "Por favor, ingresa un correo electrónico válido")
        #expect(model.problem(at: .password) == "Este campo es obligatorio.")
    }

    @Test("Shows a message about a field that the screen does not have as an alert")
    func otherField() async throws {
        let body = #"{"email":["Not known."],"captcha":["Missing."]}"#
        let model = try ScreenScript([.english(400, body)]).signIn()
        await model.submit()
        #expect(model.alert != nil && model.problem(at: .email) != nil)
    }

    @Test("A field refused only by a code gets the text of the code")
    func codeAlone() async throws {
        let body = """
            {"error":{"code":"VALIDATION_INVALID_EMAIL","message":"m","details":{"validation_errors":[
            {"field":"email","code":"VALIDATION_INVALID_EMAIL","message":""}]}}}
            """
        let model = try ScreenScript([.english(400, body)]).forgot(.spanish)
        await model.request()
        #expect(model.problem(at: .email) == "Por favor, ingresa un correo electrónico válido")
    }

    @Test(
        "Shows the server's message at the password, whatever the server calls the field",
        arguments: ["new_password", "newPassword", "password", "new_password1"]
    )
    func reset(field: String) async throws {
        let script = try ScreenScript([.linkIsGood, .english(400, #"{"\#(field)":["Too common."]}"#)])
        let model = try await script.openedReset()
        await model.submit()
        #expect(model.problem(at: .password)?.contains("Too common.") == true && model.alert == nil)
        #expect(model.focusRequest?.field == .password)
    }
}

extension ScriptedTransport.Step {
    /// A response whose texts are English.
    fileprivate static func english(_ status: Int, _ body: String) -> Self {
        .response(status: status, headers: [.contentLanguage: "en"], body: body)
    }
}
