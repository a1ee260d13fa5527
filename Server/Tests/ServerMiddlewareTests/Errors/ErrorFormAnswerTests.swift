import ErrorContract
import HTTPTypes
import Hummingbird
import ServerMiddleware
import Testing

@Suite struct ErrorFormAnswerTests {
    private func answer(_ error: ContractError, form: ErrorForm) async throws -> Answer {
        let router = Router<MemoryContext>.make(renderer: ContractErrorRenderer(form: form))
        router.get("/") { _, _ -> Response in throw error }
        return try await router.answer(.make())
    }

    private let invalid = ContractError.invalid([
        .init(path: FieldPath([.member("items"), .element(1), .member("email")]), code: .validationInvalidEmail),
        .init(path: FieldPath([.member("name")]), code: .validationMissingField),
    ])

    @Test("Whatever the form, status and headers are the same", arguments: ErrorForm.allCases)
    func headers(form: ErrorForm) async throws {
        let answer = try await answer(ContractError(.rateLimitExceeded, retryAfter: .milliseconds(4_200)), form: form)
        #expect(answer.status == .tooManyRequests)
        #expect(answer[header: "X-Error-Code"] == "RATE_LIMIT_EXCEEDED")
        #expect(answer[header: "Retry-After"] == "5")
        #expect(answer[header: "Cache-Control"] == "no-store")
        #expect(answer[header: "Content-Language"] == "en")
        #expect(answer[header: "X-Request-Id"]?.isEmpty == false)
        #expect(answer[header: "Content-Type"] == "application/json; charset=utf-8")
    }

    @Test("The standard form has every problem with field, pointer, code and text")
    func standard() async throws {
        let answer = try await answer(invalid, form: .standard)
        #expect(answer.status == .badRequest)
        #expect(try answer.error["code"] == "VALIDATION_INVALID_INPUT")
        let expected: JSONValue = [
            "validation_errors": [
                [
                    "field": "items[1].email", "pointer": "#/items/1/email", "code": "VALIDATION_INVALID_EMAIL",
                    "message": "Please enter a valid email address",
                ],
                [
                    "field": "name", "pointer": "#/name", "code": "VALIDATION_MISSING_FIELD",
                    "message": "This field is required.",
                ],
            ]
        ]
        #expect(try answer.error["details"] == expected)
    }

    @Test("The flat form has the problems by field")
    func flat() async throws {
        let object = try #require(try await answer(invalid, form: .flat).json.objectValue)
        #expect(object["code"] == "VALIDATION_INVALID_INPUT")
        let fields: JSONValue = [
            "items[1].email": ["Please enter a valid email address"], "name": ["This field is required."],
        ]
        #expect(object["details"] == ["field_errors": fields])
        #expect(object["request_id"]?.stringValue?.isEmpty == false)
    }

    @Test("The success form is what apps in the field read")
    func success() async throws {
        let object = try #require(try await answer(invalid, form: .success).json.objectValue)
        #expect(object["success"] == false)
        #expect(object["error_code"] == 400)
        let errors: JSONValue = [
            ["field": "items[1].email", "message": "Please enter a valid email address"],
            ["field": "name", "message": "This field is required."],
        ]
        #expect(object["errors"] == errors)
        let limited = try await answer(ContractError(.rateLimitExceeded, retryAfter: .seconds(60)), form: .success).json
        let expected: JSONValue = [
            "success": false, "error_code": 429,
            "errors": [["field": "rate_limit", "message": "Too many requests. Please try again in 1 minute."]],
        ]
        #expect(limited == expected)
        let token = try await answer(ContractError(.authTokenInvalid), form: .success).json
        #expect(token.objectValue?["errors"] == [["field": "", "message": "Invalid token."]])
    }

    @Test("The detail form is one sentence")
    func detail() async throws {
        let json = try await answer(ContractError(.resourceNotFound), form: .detail).json
        let message = try #require(ErrorCatalogue.standard[.resourceNotFound]).message.text(in: .english)
        #expect(json == ["detail": .string(message)])
    }

    @Test("The code is the one that all problems share, else that of invalid input")
    func sharedCode() {
        let name = FieldPath([.member("name")])
        let email = FieldPath([.member("email")])
        #expect(
            ContractError.invalid([
                .init(path: name, code: .validationMissingField), .init(path: email, code: .validationMissingField),
            ]).code == .validationMissingField
        )
        #expect(
            ContractError.invalid([
                .init(path: name, code: .validationMissingField), .init(path: email, code: .validationInvalidEmail),
            ]).code == .validationInvalidInput
        )
        #expect(ContractError.invalid([]).code == .validationInvalidInput)
    }
}
