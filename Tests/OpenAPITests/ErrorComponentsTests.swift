import ErrorContract
import StrictJSON
import Testing

@testable import OpenAPI

@Suite struct ErrorComponentsTests {
    @Test("The components include every code of the catalog, in each form", arguments: ErrorForm.allCases)
    func everyCode(form: ErrorForm) throws {
        let document = ErrorComponents(form: form).document(version: "1.2.3")
        let reader = SchemaReader(document: document)
        let responses = try #require(document["components", "responses"]?.objectValue)
        #expect(responses.members.map(\.key) == ErrorCatalogue.standard.definitions.map(\.code.rawValue))
        for (code, response) in responses.members {
            let contents = try #require(response["content"]?.objectValue)
            for (_, content) in contents.members {
                let reference = try #require(content["examples", code, "$ref"]?.stringValue)
                let example = try #require(reader.target(reference)?["value"], "\(code)")
                #expect(reader.problems(example, try #require(content["schema"])) == [], "\(code) in \(form.rawValue)")
            }
        }
    }

    @Test("Every form has a unique schema, and its bodies match it", arguments: ErrorForm.allCases)
    func forms(form: ErrorForm) {
        #expect((ErrorSchemas.schema(of: form).name == ErrorSchemas.standard.name) == (form == .standard))
        let reader = SchemaReader(document: ErrorComponents(form: form).document(version: "1"))
        for definition in ErrorCatalogue.standard.definitions {
            let body = ErrorExample(definition: definition).body(in: form)
            #expect(reader.problems(body, Schema.named(ErrorSchemas.schema(of: form)).json) == [], "\(definition.code)")
        }
    }

    @Test("An app's own codes are described like the others")
    func additions() throws {
        let catalogue = try ErrorCatalogue.standard.adding([
            ErrorDefinition(
                ErrorCode("CONTENT_TOO_BORING"),
                family: .content,
                status: 400,
                summary: "Content is boring",
                userAction: "Write about crowns",
                message: LocalizedText(en: "That is boring.", es: "Eso es aburrido.")
            )
        ])
        let document = ErrorComponents(catalogue: catalogue).document(version: "1")
        #expect(document["components", "responses", "CONTENT_TOO_BORING"] != nil)
        #expect(document["components", "examples", "CONTENT_TOO_BORING", "value", "error", "message"] == "That is boring.")
    }
}
