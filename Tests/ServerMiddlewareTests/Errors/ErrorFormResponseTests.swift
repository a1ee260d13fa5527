import ErrorContract
import HTTPTypes
import Hummingbird
import ServerMiddleware
import StrictJSON
import Testing

@Suite struct ErrorFormResponseTests {
    private func response(for error: ContractError, form: ErrorForm) async throws -> CollectedResponse {
        let router = Router<MemoryContext>.make(renderer: ContractErrorRenderer(forms: ErrorForms(form)))
        router.get("/") { _, _ -> Response in throw error }
        return try await router.response(to: .make())
    }

    private let invalid = ContractError.invalid([
        .init(path: FieldPath([.member("items"), .element(1), .member("email")]), code: .validationInvalidEmail),
        .init(path: FieldPath([.member("name")]), code: .validationMissingField),
    ])

    @Test("Status and headers are the same in every form", arguments: ErrorForm.allCases)
    func headers(form: ErrorForm) async throws {
        let response = try await response(for: ContractError(.rateLimitExceeded, retryAfter: .milliseconds(4_200)), form: form)
        #expect(response.status == .tooManyRequests)
        #expect(response[header: "X-Error-Code"] == "RATE_LIMIT_EXCEEDED")
        #expect(response[header: "Retry-After"] == "5")
        #expect(response[header: "Cache-Control"] == "no-store")
        #expect(response[header: "Content-Language"] == "en")
        #expect(response[header: "X-Request-Id"]?.isEmpty == false)
        #expect(response[header: "Content-Type"] == form.contentType)
        #expect(response[header: "Vary"] == "Accept, Accept-Language")
    }

    @Test("The standard form has every problem with field, pointer, code and text")
    func standard() async throws {
        let response = try await response(for: invalid, form: .standard)
        #expect(response.status == .badRequest)
        #expect(try response.error["code"] == "VALIDATION_INVALID_INPUT")
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
        #expect(try response.error["details"] == expected)
    }

    @Test("The flat form has the problems by field")
    func flat() async throws {
        let object = try #require(try await response(for: invalid, form: .flat).json.objectValue)
        #expect(object["code"] == "VALIDATION_INVALID_INPUT")
        let fields: JSONValue = [
            "items[1].email": ["Please enter a valid email address"], "name": ["This field is required."],
        ]
        #expect(object["details"] == ["field_errors": fields])
        #expect(object["request_id"]?.stringValue?.isEmpty == false)
    }

    @Test("The success form is the one that released apps read")
    func success() async throws {
        let object = try #require(try await response(for: invalid, form: .success).json.objectValue)
        #expect(object["success"] == false)
        #expect(object["error_code"] == 400)
        let errors: JSONValue = [
            ["field": "items[1].email", "message": "Please enter a valid email address"],
            ["field": "name", "message": "This field is required."],
        ]
        #expect(object["errors"] == errors)
        let limited = try await response(for: ContractError(.rateLimitExceeded, retryAfter: .seconds(60)), form: .success).json
        let expected: JSONValue = [
            "success": false, "error_code": 429,
            "errors": [["field": "rate_limit", "message": "Too many requests. Please try again in 1 minute."]],
        ]
        #expect(limited == expected)
        let token = try await response(for: ContractError(.authTokenInvalid), form: .success).json
        #expect(token.objectValue?["errors"] == [["field": "", "message": "Invalid token."]])
    }

    @Test("The detail form is one sentence")
    func detail() async throws {
        let json = try await response(for: ContractError(.resourceNotFound), form: .detail).json
        let message = try #require(ErrorCatalogue.standard[.resourceNotFound]).message.text(in: .english)
        #expect(json == ["detail": .string(message)])
    }

    @Test("A problem refers to the page of its code, or names the code without pages")
    func problem() async throws {
        for (pages, type) in [
            (nil, "urn:error:API_KEY_INVALID_REGION"), ("/errors", "/errors/API_KEY_INVALID"),
            ("https://api.example.com/v1/errors", "https://api.example.com/v1/errors/API_KEY_INVALID"),
        ] as [(String?, String)] {
            let router = Router<MemoryContext>.make(renderer: ContractErrorRenderer(forms: ErrorForms(.problem), pages: pages))
            router.get("/") { _, _ -> Response in throw ContractError(ErrorCode("API_KEY_INVALID_REGION"), details: ["hint": 1]) }
            let response = try await router.response(to: .make())
            let problem = try #require(try response.json.objectValue)
            #expect(problem["type"]?.stringValue == type)
            #expect(problem["title"]?.stringValue == ErrorCatalogue.standard[.apiKeyInvalid]?.summary)
            #expect(problem["status"] == 401)
            #expect(problem["code"] == "API_KEY_INVALID_REGION")
            #expect(problem["hint"] == 1)
            #expect(problem["instance"]?.stringValue == response[header: "X-Request-Id"].map { "urn:request:\($0)" })
        }
    }

    @Test("An undefined code has a name and no page")
    func unknownProblem() async throws {
        let router = Router<MemoryContext>.make(renderer: ContractErrorRenderer(forms: ErrorForms(.problem), pages: "/errors"))
        router.get("/") { _, _ -> Response in throw ContractError(ErrorCode("STRANGE")) }
        #expect(try await router.response(to: .make()).json.objectValue?["type"] == "urn:error:STRANGE")
    }

    @Test("Reports at most fifty problems and that there are more", arguments: [ErrorForm.standard, .problem])
    func truncated(form: ErrorForm) async throws {
        for (count, isTruncated) in [(50, false), (51, true), (1_000, true)] {
            let problems = (0..<count).map { ContractError.Problem(path: FieldPath([.element($0)]), code: .validationInvalidURL) }
            let response = try await response(for: .invalid(problems), form: form).json.objectValue
            let details = form == .standard ? response?["error"]?.objectValue?["details"]?.objectValue : response
            let told = details?[form == .standard ? "validation_errors" : "errors"]?.arrayValue
            #expect(told?.count == min(count, 50))
            #expect(details?["truncated"] == (isTruncated ? true : nil))
        }
    }

    @Test("Keeps the Vary of an error")
    func vary() async throws {
        let response = try await response(for: ContractError(.resourceNotFound, headers: [.vary: "Origin"]), form: .standard)
        #expect(response[header: "Vary"] == "Origin, Accept, Accept-Language")
    }

    @Test("An error to HEAD has its headers, including Content-Length, and no body", arguments: ErrorForm.allCases)
    func head(form: ErrorForm) async throws {
        let router = Router<MemoryContext>.make(renderer: ContractErrorRenderer(forms: ErrorForms(form)))
        router.get("/") { _, _ -> Response in throw ContractError(.resourceDeleted) }
        for path in ["/", "/unknown"] {
            let get = try await router.response(to: .make(.get, path, headers: [.requestID: "r"]))
            let head = try await router.response(to: .make(.head, path, headers: [.requestID: "r"]))
            #expect(head.body.isEmpty)
            #expect(head.status == get.status)
            #expect(head.headers == get.headers)
            #expect(head.headers[.contentLength] == "\(get.body.count)")
        }
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
