import ErrorContract
import StrictJSON
import Testing

@testable import OpenAPI

@Suite struct OpenAPIDocumentTests {
    private let document = OpenAPIDocument(APIDescription(settings: .everything)).json

    @Test("Every reference resolves, also when other documents reference the components")
    func references() {
        for document in [document, ErrorComponents().document(version: "1")] {
            let reader = SchemaReader(document: document)
            let references = document.objects.compactMap { $0["$ref"]?.stringValue }
            #expect(references.count > 100)
            for reference in references { #expect(reader.target(reference) != nil, "\(reference)") }
        }
    }

    @Test("Each operation is under its path and method, with responses and errors by status")
    func operations() throws {
        let description = APIDescription(settings: .everything)
        for operation in description.operations {
            let found = try #require(document["paths", operation.path, operation.method.rawValue.lowercased()], "\(operation.id)")
            #expect(found["operationId"]?.stringValue == operation.id)
            let statuses = try #require(found["responses"]?.objectValue).members.map(\.key)
            #expect(statuses == operation.statuses(.everything).sorted().map { "\($0)" }, "\(operation.id)")
        }
    }

    @Test("A header lists exactly the codes of its response's status")
    func errorCodes() throws {
        let reader = SchemaReader(document: document)
        for path in try #require(document["paths"]?.objectValue).members {
            for operation in try #require(path.value.objectValue).members {
                for (status, response) in try #require(operation.value["responses"]?.objectValue).members {
                    let resolved = response["$ref"]?.stringValue.flatMap(reader.target) ?? response
                    let codes = resolved["headers", "X-Error-Code", "schema", "enum"]?.arrayValue ?? []
                    for code in codes {
                        let definition = ErrorCatalogue.standard[ErrorCode(code.stringValue ?? "")]
                        #expect(definition.map { "\($0.status)" } == status, "\(path.key) \(code)")
                    }
                    #expect(codes.isEmpty == ["2", "3"].contains(status.prefix(1)) || status == "400" || status == "410")
                    let waits = resolved["headers", "Retry-After"] != nil
                    #expect(waits == ["409", "429", "503"].contains(status), "\(path.key) \(status)")
                    #expect(resolved["headers", "X-Request-Id"] != nil)
                }
            }
        }
    }

    @Test("Every example matches its schema")
    func examples() throws {
        let reader = SchemaReader(document: document)
        let contents = document.objects.filter { $0["schema"] != nil && ($0["example"] != nil || $0["examples"] != nil) }
        #expect(contents.count > 50)
        for content in contents {
            let schema = try #require(content["schema"])
            if let example = content["example"] { #expect(reader.problems(example, schema) == [], "\(example)") }
            for (name, reference) in content["examples"]?.objectValue?.members ?? [] {
                let example = try #require(reference["$ref"]?.stringValue.flatMap(reader.target), "\(name)")
                #expect(reader.problems(try #require(example["value"]), schema) == [], "\(name)")
            }
        }
    }

    @Test("Links refer to existing operations and members")
    func links() throws {
        let description = APIDescription(settings: .everything)
        let links = description.operations.flatMap { $0.responses.flatMap(\.links) }
        #expect(links.count == 8)
        for link in links {
            let operation = try #require(description.operations.first { $0.id == link.operationID })
            let known = Set(try #require(operation.request).schema.schema.fields.map(\.name))
            #expect(Set(link.request.members.map(\.key)).isSubset(of: known))
        }
    }

    @Test("The server URL is the configured one, else the origin of the document")
    func servers() {
        let configured = OpenAPIDocument(APIDescription(settings: .production)).json
        #expect(configured["servers"] == [["url": "https://example.com/app"]])
        #expect(document["servers"] == [["url": "/"]])
        #expect(configured["components", "schemas", "NewPassword", "minLength"] == 12)
    }

    @Test("The document is the same each time")
    func stable() {
        #expect(document.encoded() == OpenAPIDocument(APIDescription(settings: .everything)).json.encoded())
    }

    @Test("The document describes the server's configured error form", arguments: ErrorForm.allCases)
    func form(form: ErrorForm) throws {
        var settings = APISettings.everything
        settings.errorForm = form
        let document = OpenAPIDocument(APIDescription(settings: settings)).json
        let reader = SchemaReader(document: document)
        let name = ErrorSchemas.schema(of: form).name
        let content = try #require(document["components", "responses", "AUTH_INVALID_CREDENTIALS", "content"]?.objectValue)
        let schemas = content.members.compactMap { $0.value["schema", "$ref"]?.stringValue }
        #expect(schemas.contains("#/components/schemas/\(name)"))
        #expect(schemas.contains("#/components/schemas/Problem"))
        let references = document.objects.compactMap { $0["$ref"]?.stringValue }
        #expect(!references.isEmpty)
        for reference in references {
            #expect(reader.target(reference) != nil, "\(reference)")
        }
    }
}
