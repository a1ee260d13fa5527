import ErrorContract
import StrictJSON

/// Fills the page's template from a description.
struct ReferenceWriter {
    let description: APIDescription
    /// Where the server is, such as `http://127.0.0.1:8080`.
    let address: String

    private var settings: APISettings { description.settings }

    func content(nonce: String, css: String, script: String) -> ReferenceContent {
        ReferenceContent(
            title: description.title,
            version: settings.version,
            nonce: nonce,
            css: css,
            script: script,
            introduction: description.introduction.htmlParagraphs,
            address: address,
            document: settings.basePath + "/openapi.json",
            parameters: APIParameter.common.map(field),
            forms: forms,
            groups: description.groups.map(group)
        )
    }

    private var forms: [ReferenceContent.Form] {
        guard let definition = ErrorCatalogue.standard[.validationInvalidEmail] else { return [] }
        let example = ErrorExample(definition: definition)
        let bodies = ErrorForm.allCases.filter { $0.rawValue != "problem" }.map { ($0.rawValue, example.body(in: $0)) }
        return (bodies + [("problem", example.problem(base: settings.basePath))]).map { name, body in
            let isConfigured = name == settings.errorForm.rawValue
            let about: Prose =
                isConfigured
                ? "What this server answers with." : name == "problem" ? "For `Accept: application/problem+json`." : ""
            return .init(name: name, html: about.htmlLine, isOpen: isConfigured, example: body.indented())
        }
    }

    private func group(_ group: OperationGroup) -> ReferenceContent.Group {
        let words = group.title.lowercased().split { !$0.isLetter }
        return .init(
            id: "group-" + words.joined(separator: "-"),
            title: group.title,
            html: group.about.htmlLine,
            operations: group.operations.map(operation)
        )
    }

    private func operation(_ operation: APIOperation) -> ReferenceContent.Operation {
        let fields = operation.allParameters.map(field) + (operation.request?.schema.schema.fields ?? []).map(field)
        return .init(
            id: operation.id,
            method: operation.method.rawValue,
            style: operation.method.rawValue.lowercased(),
            path: operation.path,
            summary: operation.summary,
            paragraphs: operation.about.htmlParagraphs,
            needsSession: operation.needsSession,
            limits: operation.limits(in: settings).map(\.words.htmlLine),
            fieldsTitle: fields.isEmpty ? nil : operation.request == nil ? "Parameters" : "Body",
            fields: fields,
            curl: CurlCommand(operation: operation, address: address).description,
            answers: operation.answers.map(answer),
            errors: operation.codes(settings).compactMap { ErrorCatalogue.standard[$0] }.sorted { $0.status < $1.status }.map(
                code
            )
        )
    }

    private func field(_ parameter: APIParameter) -> ReferenceContent.Field {
        .init(
            name: parameter.name,
            isRequired: parameter.place == .path,
            place: "in the \(parameter.place.rawValue)",
            words: parameter.schema.words,
            html: parameter.about.htmlLine
        )
    }

    private func field(_ field: Field) -> ReferenceContent.Field {
        let about = field.schema.explained.followed(by: field.purpose)
        return .init(
            name: field.name,
            isRequired: field.presence == .required,
            place: nil,
            words: field.schema.words,
            html: about.isEmpty ? nil : about.htmlLine
        )
    }

    private func answer(_ answer: APIAnswer) -> ReferenceContent.Answer {
        let members = answer.contents.flatMap(\.schema.fields).map(field)
        let kinds = answer.contents.map(\.mediaType).filter { $0 != "application/json" }
        return .init(
            status: answer.status,
            html: answer.about.htmlLine,
            kind: kinds.isEmpty ? nil : kinds.joined(separator: ", "),
            example: answer.contents.lazy.compactMap(\.example).first?.indented(),
            hasMembers: !members.isEmpty,
            members: members
        )
    }

    private func code(_ definition: ErrorDefinition) -> ReferenceContent.Code {
        .init(
            status: definition.status,
            code: definition.code.rawValue,
            link: "\(settings.basePath)/errors/\(definition.code)",
            summary: definition.summary
        )
    }
}
