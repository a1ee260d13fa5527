public import ErrorContract
import Foundation
public import StrictJSON

/// The components of an OpenAPI document that describe errors, derived from a catalogue.
///
/// ``OpenAPIDocument`` already includes these components. Use this type if another service returns the same errors. Write the result of
/// ``document(version:)`` to a file. In the document of the other service, refer to the responses in this file.
///
/// ```swift
/// let errors = ErrorComponents(base: "https://accounts.example.com").document(version: "1.0.0")
/// ```
///
/// Times and request ids in examples are fixed, so the same arguments always give the same output. A test can therefore compare the output
/// with a stored file.
public struct ErrorComponents: Sendable {
    private let catalogue: ErrorCatalogue
    /// The default format of error bodies. The name of an example in this format is the error code. In another format, the name also has
    /// the format as a suffix.
    private let form: ErrorForm
    /// The languages that `Content-Language` can have.
    private let languages: [Language]
    /// The base URL of the pages that describe the codes.
    private let base: String

    /// Creates the components. The initializer is cheap, because ``document(version:)`` does the work.
    /// - Parameters:
    ///   - catalogue: The codes and their texts.
    ///   - form: The default format of error bodies. The components also describe problem details (RFC 9457).
    ///   - languages: The languages of the texts, which are the values of `Content-Language`.
    ///   - base: The base URL of the pages that describe the codes, such as `https://accounts.example.com`, without a trailing slash. The
    ///     `type` of problem details begins with it. If it is empty, the `type` is a path.
    public init(
        catalogue: ErrorCatalogue = .standard,
        form: ErrorForm = .standard,
        languages: [Language] = Language.supported,
        base: String = ""
    ) {
        self.catalogue = catalogue
        self.form = form
        self.languages = languages
        self.base = base
    }

    /// Returns a document with the components of all codes. Other documents can refer to them.
    ///
    /// A reference from another document has the form `errors.json#/components/responses/AUTH_INVALID_CREDENTIALS`.
    /// - Parameter version: The version of the document.
    /// - Returns: An OpenAPI document without paths: schemas, headers, examples, and a response for each code.
    /// - Complexity: O(number of codes).
    public func document(version: String) -> JSONValue {
        let codes = catalogue.definitions.map(\.code)
        var components: JSONObject = [:]
        components["schemas"] = .object(JSONObject(schemas.map { ($0.name, $0.schema.json) }))
        components["responses"] = .object(JSONObject(codes.map { ($0.rawValue, response([$0], in: form)) }))
        components["headers"] = headers
        components["examples"] = .object(JSONObject(codes.flatMap { examples(of: $0, in: [form]) }))
        return [
            "openapi": .string(APIDescription.openAPIVersion),
            "info": [
                "title": "Error codes", "version": .string(version),
                "description": "The response for each code of the catalogue.",
            ],
            "components": .object(components),
        ]
    }

    /// The schemas of error bodies in all formats, and the schemas that they refer to.
    var schemas: [NamedSchema] { ErrorSchemas.all.flatMap { [$0] + $0.schema.mentioned }.unique }

    /// The headers that responses share.
    var headers: JSONValue {
        let headers: [APIHeader] = [.requestID, .contentLanguage(languages), .retryAfter, .authenticate] + APIHeader.rateLimits
        return .object(JSONObject(headers.map { ($0.name, $0.json) }))
    }

    /// Returns the named examples of a code: one for each format, and one as problem details (RFC 9457).
    /// - Parameters:
    ///   - code: The code. If the catalogue doesn't contain it, there are no examples.
    ///   - forms: The formats. Even if they include problem details, the result contains the example of problem details only once.
    func examples(of code: ErrorCode, in forms: [ErrorForm]) -> [(String, JSONValue)] {
        guard let definition = catalogue[code] else { return [] }
        let example = ErrorExample(definition: definition)
        let bodies = forms.map { ($0, example.body(in: $0)) }.filter { $0.0.rawValue != "problem" }
        let problem = (Self.problemExample(code), example.problem(base: base))
        return (bodies.map { (exampleName(code, $0.0), $0.1) } + [problem]).map { name, value in
            (name, ["summary": .string(definition.summary), "value": value])
        }
    }

    /// Returns the response for one or more codes of the same status, with an example for each code.
    /// - Parameters:
    ///   - codes: The codes, which have the same status.
    ///   - form: The format of the body for clients that don't request problem details.
    func response(_ codes: [ErrorCode], in form: ErrorForm) -> JSONValue {
        let isProblem = form.rawValue == "problem"
        var contents: JSONObject = [:]
        if !isProblem {
            contents["application/json"] = content(ErrorSchemas.schema(of: form), codes) { exampleName($0, form) }
        }
        contents["application/problem+json"] = content(ErrorSchemas.problem, codes, Self.problemExample)
        return [
            "description": .string(description(codes).markdown), "headers": headers(codes, isLocalized: true),
            "content": .object(contents),
        ]
    }

    /// Returns the headers of a response with one of several codes.
    ///
    /// `Retry-After` is included if one of the codes has status 429 or 503, or is `REQUEST_CONFLICT`. `WWW-Authenticate` is included with
    /// status 401.
    /// - Parameters:
    ///   - codes: The possible codes.
    ///   - isLocalized: Whether the body is in the user's language.
    ///   - isRequired: Whether every response with the status is an error with one of these codes.
    ///   - isLimited: Whether rate limits count requests of the operation.
    func headers(_ codes: [ErrorCode], isLocalized: Bool, isRequired: Bool = true, isLimited: Bool = true) -> JSONValue {
        var headers: JSONObject = ["X-Request-Id": Self.reference(to: .requestID)]
        headers["X-Error-Code"] = APIHeader.errorCode(codes, isRequired: isRequired).json
        if isLocalized { headers["Content-Language"] = Self.reference(to: .contentLanguage(languages)) }
        let isWait = codes.contains { [429, 503].contains(catalogue[$0]?.status) || $0 == .requestConflict }
        if isWait { headers["Retry-After"] = Self.reference(to: .retryAfter) }
        if codes.contains(where: { catalogue[$0]?.status == 401 }) {
            headers["WWW-Authenticate"] = Self.reference(to: .authenticate)
        }
        if isLimited { for header in APIHeader.rateLimits { headers[header.name] = Self.reference(to: header) } }
        return .object(headers)
    }

    /// Returns a list in Markdown with the codes and their meanings.
    func description(_ codes: [ErrorCode]) -> Prose {
        Prose(codes.map { "- `\($0)`: \(catalogue[$0]?.summary ?? "")" }.joined(separator: "\n"))
    }

    /// Returns a reference to a shared header.
    /// - Parameter header: One of the headers that ``headers`` contains.
    static func reference(to header: APIHeader) -> JSONValue { ["$ref": .string("#/components/headers/\(header.name)")] }

    /// Returns the name of a code's example in the format of problem details, such as `AUTH_EMAIL_EXISTS.problem`.
    private static func problemExample(_ code: ErrorCode) -> String { "\(code).problem" }

    /// Returns the name of an example. In the configured format, the name is the code.
    private func exampleName(_ code: ErrorCode, _ form: ErrorForm) -> String {
        form == self.form ? code.rawValue : "\(code).\(form.rawValue)"
    }

    /// Returns the content of a media type with references to the examples of several codes.
    /// - Parameters:
    ///   - schema: The schema of the body.
    ///   - codes: The codes.
    ///   - name: Returns the name of a code's example in the document.
    private func content(_ schema: NamedSchema, _ codes: [ErrorCode], _ name: (ErrorCode) -> String) -> JSONValue {
        let examples = codes.map { ($0.rawValue, JSONValue.object(["$ref": .string("#/components/examples/\(name($0))")])) }
        return ["schema": Schema.named(schema).json, "examples": .object(JSONObject(examples))]
    }
}

extension [NamedSchema] {
    /// The schemas without duplicates, in the order of their first occurrence.
    var unique: [NamedSchema] {
        var names: Set<String> = []
        return filter { names.insert($0.name).inserted }
    }
}

/// An example of a response with an error code. The time and the request id are fixed, so that two documents with the same settings are
/// equal.
package struct ErrorExample {
    private let definition: ErrorDefinition

    /// Creates the example of a code. The example of a validation code has fields. The example of a status 429 or 503 has a delay.
    /// - Parameter definition: The code with its status and its texts, from a catalogue.
    package init(definition: ErrorDefinition) { self.definition = definition }

    /// The members of the response. The `type` of the problem is a path.
    var payload: ErrorPayload {
        payload(base: "")
    }

    /// Returns the members of the response, with the address of the code's page as `type`.
    private func payload(base: String) -> ErrorPayload {
        var payload = ErrorPayload(
            code: definition.code,
            status: definition.status,
            message: message,
            details: details,
            violations: violations,
            retryAfterSeconds: retryAfter.map { Int($0.components.seconds) },
            // 2026-11-21T10:30:00Z
            timestamp: Date(timeIntervalSince1970: 1_795_257_000),
            requestID: "5c0f6a1e-3f0b-4d0e-9f52-6c1f2f1f8a77"
        )
        payload.title = definition.summary
        payload.type = "\(base)/errors/\(definition.code)"
        return payload
    }

    /// Returns the body of the example in a format, as a server would send it.
    /// - Parameter form: The format. For problem details with an absolute `type`, use ``problem(base:)``.
    package func body(in form: ErrorForm) -> JSONValue { form.body(of: payload) }

    /// Returns the body as problem details (RFC 9457).
    /// - Parameter base: The base URL of the pages that describe the codes.
    package func problem(base: String) -> JSONValue { ErrorForm.problem.body(of: payload(base: base)) }

    /// The English text. If the text of a code has variable parts, the result is a typical text.
    private var message: String {
        let text: LocalizedText =
            switch definition.code {
            case .authWeakPassword: ContractText.passwordTooShort(minimum: 8)
            default: definition.status == 429 ? ContractText.limited(wait: retryAfter) : definition.message
            }
        return text.text(in: .english)
    }

    /// The details of the example. They are empty for all codes except `AUTH_WEAK_PASSWORD`.
    private var details: JSONObject { definition.code == .authWeakPassword ? ["reasons": ["too_short"]] : [:] }

    /// The delay of the example; `nil` if responses with the code have none.
    private var retryAfter: Duration? {
        if definition.code == .requestConflict { return .seconds(1) }
        return usualWait
    }

    /// A typical delay: an hour for limits, five seconds for overload.
    private var usualWait: Duration? {
        switch definition.status {
        case 429: .seconds(3_600)
        case 503: .seconds(5)
        default: nil
        }
    }

    /// The fields with problems. A code for a single problem gets one field. The code for several problems gets two fields.
    private var violations: [FieldViolation] {
        guard definition.family == .validation else { return [] }
        guard definition.code == .validationInvalidInput else {
            return [violation(definition.code, of: Self.field(definition.code))]
        }
        return [violation(.validationInvalidEmail, of: "email"), violation(.validationMissingField, of: "password")]
    }

    /// Returns a field in which the code can occur.
    private static func field(_ code: ErrorCode) -> String { code == .validationInvalidEmail ? "email" : "first_name" }

    /// Returns a problem with a field, with the text of the code in English.
    private func violation(_ code: ErrorCode, of field: String) -> FieldViolation {
        FieldViolation(
            field: field,
            pointer: "#/\(field)",
            code: code,
            message: ErrorCatalogue.standard[code]?.message.text(in: .english) ?? ""
        )
    }
}
