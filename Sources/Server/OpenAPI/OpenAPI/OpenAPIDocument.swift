import ErrorContract
public import StrictJSON

/// An ``APIDescription`` as an OpenAPI document.
public struct OpenAPIDocument: Sendable {
    /// The version of the OpenAPI Specification.
    static let version = "3.1.1"

    let description: APIDescription
    let errors: ErrorComponents

    /// Creates the document of a description.
    public init(_ description: APIDescription) {
        self.description = description
        errors = ErrorComponents(
            form: description.settings.errorForm,
            languages: description.settings.languages,
            base: description.settings.baseURL ?? ""
        )
    }

    /// The document. O(number of operations and codes).
    public var json: JSONValue {
        [
            "openapi": .string(Self.version),
            "info": [
                "title": .string(description.title), "version": .string(description.settings.version),
                "description": .string(description.introduction.markdown),
            ],
            // An address taken from a request would be anybody's.
            "servers": [["url": .string(description.settings.baseURL ?? "/")]],
            "tags": .array(
                description.groups.map { ["name": .string($0.title), "description": .string($0.about.markdown)] }
            ),
            "paths": paths,
            "components": components,
        ]
    }

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

    private var usedCodes: Set<ErrorCode> {
        Set(description.operations.flatMap { $0.codes(description.settings) })
    }

    /// The configured form first, then the routes' own ones.
    private var usedForms: [ErrorForm] {
        let forms = [description.settings.errorForm] + description.operations.compactMap { $0.errorForm(description.settings) }
        return ErrorForm.allCases.filter(forms.contains)
    }
}

extension APIOperation {
    /// The named shapes of what goes in and out.
    fileprivate var mentioned: [NamedSchema] {
        var schemas: [Schema] = parameters.map(\.schema)
        if let request { schemas += [.named(request.schema), .named(request.formSchema)] }
        schemas += answers.flatMap { $0.contents.map(\.schema) }
        return schemas.flatMap(\.mentioned)
    }
}
