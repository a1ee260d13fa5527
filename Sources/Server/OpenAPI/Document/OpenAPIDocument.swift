import ErrorContract
public import StrictJSON

/// Writes an ``APIDescription`` as an OpenAPI document (OpenAPI 3.1.1, JSON Schema draft 2020-12).
///
/// ```swift
/// let description = APIDescription(settings: APISettings(appName: "Notes", version: "1.0.0"))
/// let document = OpenAPIDocument(description).json
/// ```
///
/// Two documents with the same settings have the same members in the same order. A test can therefore compare the document with a stored
/// one to detect changes of the API. The document doesn't depend on requests, so compute the document once, and serve the stored bytes.
///
/// Use ``ErrorComponents`` instead to describe only the errors.
public struct OpenAPIDocument: Sendable {
    /// The operations of the API.
    let description: APIDescription
    /// The schemas and responses of errors.
    let errors: ErrorComponents

    /// Creates a writer for a description. The initializer is cheap: ``json`` does the work.
    /// - Parameter description: The API to describe. Its settings determine the address, the languages and the default format of errors.
    public init(_ description: APIDescription) {
        self.description = description
        errors = ErrorComponents(
            form: description.settings.errorForm,
            languages: description.settings.languages,
            base: description.settings.baseURL ?? ""
        )
    }

    /// The document. Each access computes it again, so store the result.
    ///
    /// The members have a fixed order, so two documents with equal settings have equal bytes. The document contains no secrets and can be
    /// public.
    /// - Complexity: O(number of operations and codes).
    public var json: JSONValue {
        [
            "openapi": .string(APIDescription.openAPIVersion),
            "info": [
                "title": .string(description.title), "version": .string(description.settings.version),
                "description": .string(description.introduction.markdown),
            ],
            // The address never comes from a request, because a caller could choose it.
            "servers": [["url": .string(description.settings.baseURL ?? "/")]],
            "tags": .array(
                description.groups.map { ["name": .string($0.title), "description": .string($0.about.markdown)] }
            ),
            "paths": paths,
            "components": components,
        ]
    }

    /// The operations by path and method. Paths have the order of the reference page.
    private var paths: JSONValue {
        var paths: JSONObject = [:]
        for group in description.groups {
            for operation in group.operations {
                var methods = paths[operation.path]?.objectValue ?? [:]
                methods[operation.method.rawValue.lowercased()] = json(of: operation, in: group)
                paths[operation.path] = .object(methods)
            }
        }
        return .object(paths)
    }

    /// The schemas, responses, parameters, headers and examples that operations refer to. The components don't include codes that no
    /// operation can return.
    private var components: JSONValue {
        let schemas = (description.operations.flatMap(\.mentioned) + errors.schemas).unique
        let codes = ErrorCatalogue.standard.definitions.map(\.code).filter(usedCodes.contains)
        var components: JSONObject = [:]
        components["schemas"] = .object(JSONObject(schemas.map { ($0.name, $0.schema.json) }))
        components["responses"] = .object(
            JSONObject(codes.map { ($0.rawValue, errors.response([$0], in: description.settings.errorForm)) })
        )
        components["parameters"] = .object(JSONObject(APIParameter.common.map { ($0.name, $0.json) }))
        components["headers"] = errors.headers
        components["examples"] = .object(JSONObject(codes.flatMap { errors.examples(of: $0, in: usedForms) }))
        components["securitySchemes"] = [
            "bearer": [
                "type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "The access token of a session.",
            ]
        ]
        return .object(components)
    }

    /// The codes that at least one operation can return with these settings.
    private var usedCodes: Set<ErrorCode> {
        Set(description.operations.flatMap { $0.codes(description.settings) })
    }

    /// The formats of errors that at least one operation uses, in the order of `ErrorForm.allCases`.
    private var usedForms: [ErrorForm] {
        let forms = [description.settings.errorForm] + description.operations.compactMap { $0.errorForm(description.settings) }
        return ErrorForm.allCases.filter(forms.contains)
    }
}

extension APIOperation {
    /// The named schemas of the parameters, the request and the responses, and the schemas that they refer to. A schema may occur more than
    /// once.
    var mentioned: [NamedSchema] {
        var schemas: [Schema] = parameters.map(\.schema)
        if let request { schemas += [.named(request.schema), .named(request.formSchema)] }
        schemas += responses.flatMap { $0.contents.map(\.schema) }
        return schemas.flatMap(\.mentioned)
    }
}

extension OpenAPIDocument {
    /// Returns the Operation Object of an operation (OpenAPI 3.1 §4.8.10).
    /// - Parameters:
    ///   - operation: The operation.
    ///   - group: The operation's group. Its title becomes the operation's tag.
    func json(of operation: APIOperation, in group: OperationGroup) -> JSONValue {
        var members: JSONObject = [
            "operationId": .string(operation.id), "summary": .string(operation.summary),
            "description": .string(about(operation).markdown), "tags": [.string(group.title)],
        ]
        let common = APIParameter.common.map { JSONValue.object(["$ref": .string("#/components/parameters/\($0.name)")]) }
        members["parameters"] = .array(operation.allParameters.map(\.json) + common)
        if let request = operation.request { members["requestBody"] = json(of: request) }
        members["responses"] = responses(of: operation)
        if operation.needsSession { members["security"] = [["bearer": []]] }
        return .object(members)
    }

    /// Returns the description of an operation, followed by a sentence for each active limit.
    private func about(_ operation: APIOperation) -> Prose {
        operation.limits(in: description.settings).reduce(operation.about) { $0.followed(by: $1.words) }
    }

    /// Returns the JSON of a request body in both media types. The first media type is the one that clients of the operation usually send.
    private func json(of request: RequestContent) -> JSONValue {
        let example = JSONValue.object(request.example)
        let json = ("application/json", JSONValue.object(["schema": Schema.named(request.schema).json, "example": example]))
        let form = (
            "application/x-www-form-urlencoded",
            JSONValue.object(["schema": Schema.named(request.formSchema).json, "example": example])
        )
        return ["required": true, "content": .object(JSONObject(request.isForm ? [form, json] : [json, form]))]
    }

    /// Returns the responses of an operation in ascending order of their statuses: the responses without errors, and the responses of the
    /// error codes.
    private func responses(of operation: APIOperation) -> JSONValue {
        let codes = operation.codes(description.settings)
        var responses: JSONObject = [:]
        for status in operation.statuses(description.settings).sorted() {
            let ofStatus = codes.filter { ErrorCatalogue.standard[$0]?.status == status }
            let answer = operation.responses.first { $0.status == status }
            responses["\(status)"] = response(answer, ofStatus, of: operation)
        }
        return .object(responses)
    }

    /// Returns the response of a status.
    ///
    /// A status can belong to a response without an error, to error codes, or to both. The first argument is `nil` for a status that occurs
    /// only with errors. If the status belongs only to one code, and the format is the configured one, the result is a reference to the
    /// shared response of this code. Otherwise the response is written in full.
    private func response(_ answer: DescribedResponse?, _ codes: [ErrorCode], of operation: APIOperation) -> JSONValue {
        let isLimited = !operation.limits(in: description.settings).isEmpty
        if let answer, codes.isEmpty { return json(of: answer, isLimited: isLimited) }
        guard let form = operation.errorForm(description.settings) else { return page(answer, codes, isLimited: isLimited) }
        if answer == nil, codes.count == 1, form == description.settings.errorForm, let code = codes.first {
            return ["$ref": .string("#/components/responses/\(code)")]
        }
        return errors.response(codes, in: form).adding(answer?.contents ?? [])
    }

    /// Returns the response for a status whose errors are pages. The description lists the response without an error first, then the codes.
    private func page(_ answer: DescribedResponse?, _ codes: [ErrorCode], isLimited: Bool) -> JSONValue {
        let about = [answer?.about.markdown, errors.description(codes).markdown].compactMap { $0 }.joined(separator: "\n\n")
        return [
            "description": .string(about),
            "headers": errors.headers(codes, isLocalized: true, isRequired: answer == nil, isLimited: isLimited),
            "content": ["text/html": ["schema": Schema.text().json]],
        ]
    }

    /// Returns the Response Object of a response without an error (OpenAPI 3.1 §4.8.17), with its headers, contents and links.
    private func json(of answer: DescribedResponse, isLimited: Bool) -> JSONValue {
        var headers: JSONObject = ["X-Request-Id": ErrorComponents.reference(to: .requestID)]
        if answer.isLocalized {
            headers["Content-Language"] = ErrorComponents.reference(to: .contentLanguage(description.settings.languages))
        }
        for header in answer.headers { headers[header.name] = header.json }
        if isLimited { for header in APIHeader.rateLimits { headers[header.name] = ErrorComponents.reference(to: header) } }
        var members: JSONObject = ["description": .string(answer.about.markdown), "headers": .object(headers)]
        if !answer.contents.isEmpty {
            members["content"] = .object(JSONObject(answer.contents.map { ($0.mediaType, $0.json) }))
        }
        if !answer.links.isEmpty { members["links"] = .object(JSONObject(answer.links.map { ($0.name, $0.json) })) }
        return .object(members)
    }
}

extension JSONValue {
    /// Returns a copy of the response with additional media types. The caller uses it for a status that occurs both with and without an
    /// error.
    fileprivate func adding(_ contents: [DescribedResponse.Content]) -> JSONValue {
        guard var response = objectValue, var all = response["content"]?.objectValue, !contents.isEmpty else { return self }
        for content in contents { all[content.mediaType] = content.json }
        response["content"] = .object(all)
        return .object(response)
    }
}

extension DescribedResponse.Content {
    /// The Media Type Object (OpenAPI 3.1 §4.8.14). The object has an example only if the content has one.
    fileprivate var json: JSONValue {
        var members: JSONObject = ["schema": schema.json]
        members["example"] = example
        return .object(members)
    }
}

extension DescribedResponse.Link {
    /// The Link Object (OpenAPI 3.1 §4.8.20).
    fileprivate var json: JSONValue {
        ["operationId": .string(operationID), "requestBody": .object(request), "description": .string(about)]
    }
}
