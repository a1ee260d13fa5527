import ErrorContract
import OpenAPI
import StrictJSON

/// Creates the values of the reference page's template from a description. Paragraphs, limits and values with the names `html` and `about`
/// are markup, which the template doesn't escape.
struct ReferenceWriter {
    /// The API of the server.
    let description: APIDescription
    /// The address of the server, such as `http://127.0.0.1:8080`.
    let address: String

    /// The settings of the server.
    private var settings: APISettings { description.settings }

    /// Returns the values of the whole page.
    func content(nonce: String, css: String, script: String) -> TemplateValues {
        [
            "title": description.title,
            "version": settings.version,
            "nonce": nonce,
            "css": css,
            "script": script,
            "introduction": description.introduction.htmlParagraphs,
            "address": address,
            "document": settings.basePath + "/openapi.json",
            "parameters": APIParameter.common.map(field),
            "forms": forms,
            "groups": description.groups.map(group),
        ]
    }

    /// An example of an error in each format. The page initially shows only the example in the configured format.
    private var forms: [TemplateValues] {
        guard let definition = ErrorCatalogue.standard[.validationInvalidEmail] else { return [] }
        let example = ErrorExample(definition: definition)
        let bodies = ErrorForm.allCases.filter { $0.rawValue != "problem" }.map { ($0.rawValue, example.body(in: $0)) }
        return (bodies + [("problem", example.problem(base: settings.basePath))]).map { name, body in
            let isConfigured = name == settings.errorForm.rawValue
            let about: Prose =
                isConfigured
                ? "The form that this server uses." : name == "problem" ? "For `Accept: application/problem+json`." : ""
            return ["name": name, "html": about.htmlLine, "isOpen": isConfigured, "example": body.indented(0)]
        }
    }

    /// Returns the values of a group of operations.
    private func group(_ group: OperationGroup) -> TemplateValues {
        let words = group.title.lowercased().split { !$0.isLetter }
        return [
            "id": "group-" + words.joined(separator: "-"), "title": group.title, "html": group.about.htmlLine,
            "operations": group.operations.map(operation),
        ]
    }

    /// Returns the values of an operation. One list contains the parameters and the members of the body. The errors have the order of their
    /// statuses.
    private func operation(_ operation: APIOperation) -> TemplateValues {
        let fields = operation.allParameters.map(field) + (operation.request?.schema.schema.fields ?? []).map(field)
        return [
            "id": operation.id,
            "method": operation.method.rawValue,
            "style": operation.method.rawValue.lowercased(),
            "path": operation.path,
            "summary": operation.summary,
            "paragraphs": operation.about.htmlParagraphs,
            "needsSession": operation.needsSession,
            "limits": operation.limits(in: settings).map(\.words.htmlLine),
            "fieldsTitle": fields.isEmpty ? nil : operation.request == nil ? "Parameters" : "Body",
            "fields": fields,
            "curl": CurlCommand(operation: operation, address: address).description,
            "answers": operation.responses.map(answer),
            "errors": operation.codes(settings).compactMap { ErrorCatalogue.standard[$0] }.sorted { $0.status < $1.status }.map(
                code
            ),
        ]
    }

    /// Returns the values of a parameter. Parameters in the path are required, all others optional.
    private func field(_ parameter: APIParameter) -> TemplateValues {
        [
            "name": parameter.name,
            "isRequired": parameter.place == .path,
            "place": "in the \(parameter.place.rawValue)",
            "words": parameter.schema.words,
            "about": parameter.about.htmlLine,
        ]
    }

    /// Returns the values of a member. If a value is missing, Mustache uses the value with the same name of an enclosing section. So the
    /// explanation is named differently from the texts of responses and groups.
    private func field(_ field: Field) -> TemplateValues {
        let about = field.schema.explained.followed(by: field.purpose)
        return [
            "name": field.name,
            "isRequired": field.presence == .required,
            "words": field.schema.words,
            "about": about.isEmpty ? nil : about.htmlLine,
        ]
    }

    /// Returns the values of a response that is not an error.
    private func answer(_ answer: DescribedResponse) -> TemplateValues {
        let members = answer.contents.flatMap(\.schema.fields).map(field)
        let kinds = answer.contents.map(\.mediaType).filter { $0 != "application/json" }
        return [
            "status": answer.status,
            "html": answer.about.htmlLine,
            "kind": kinds.isEmpty ? nil : kinds.joined(separator: ", "),
            "example": answer.contents.lazy.compactMap(\.example).first?.indented(0),
            "hasMembers": !members.isEmpty,
            "members": members,
        ]
    }

    /// Returns the values of an error code.
    private func code(_ definition: ErrorDefinition) -> TemplateValues {
        [
            "status": definition.status, "code": definition.code.rawValue,
            "link": "\(settings.basePath)/errors/\(definition.code)", "summary": definition.summary,
        ]
    }
}

/// A curl command that calls an operation. A reader can paste it into a POSIX shell.
///
/// Values come from the operation's examples. The access token is the shell variable `token`.
///
/// A command with one option is one line if it has at most 76 characters. Otherwise, each option has its own line.
struct CurlCommand: CustomStringConvertible {
    /// The operation that the command calls.
    let operation: APIOperation
    /// The address of the server, such as `http://127.0.0.1:8080`.
    let address: String

    /// The text of the command, which begins with `curl`.
    var description: String {
        var parts = ["curl " + method + quoted(address + path)]
        if operation.needsSession { parts.append("-H \"Authorization: Bearer $token\"") }
        if let request = operation.request {
            parts += request.isForm ? form(request.example) : ["--json " + quoted(JSONValue.object(request.example).indented(1))]
        }
        if parts.count == 2, parts.joined(separator: " ").count <= 76 { return parts.joined(separator: " ") }
        return parts.joined(separator: " \\\n  ")
    }

    /// The option that selects the method, with a space after it. It is empty for the method that curl uses by default: POST with a body,
    /// and GET without one.
    private var method: String {
        operation.method == (operation.request == nil ? .get : .post) ? "" : "-X \(operation.method.rawValue) "
    }

    /// The path with the examples of its parameters. If the operation has the query parameter `token`, the path also contains an example
    /// of it.
    private var path: String {
        var path = operation.path
        for parameter in operation.parameters where parameter.place == .path {
            path.replace("{\(parameter.name)}", with: parameter.example ?? parameter.name)
        }
        let token = operation.parameters.first { $0.place == .query && $0.name == "token" }
        return token == nil ? path : path + "?token=\(AccountExamples.token)"
    }

    /// Returns the arguments that send an example body as a form.
    private func form(_ example: JSONObject) -> [String] {
        example.members.map { "--data-urlencode " + quoted("\($0)=\($1.stringValue ?? text($1))") }
    }

    /// Returns a JSON value as compact text.
    private func text(_ value: JSONValue) -> String { String(decoding: value.encoded(), as: UTF8.self) }

    /// Quotes a text as one word of a POSIX shell. A text of letters, digits and some marks stays as it is.
    private func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/:.-_@,=".utf8.contains(byte)
            }
        }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}

extension Prose {
    /// The paragraphs as escaped HTML, without the tags around them.
    var htmlParagraphs: [String] {
        markdown.split(separator: "\n\n").map { Self.html(String($0)) }
    }

    /// The text as one line of HTML.
    var htmlLine: String { htmlParagraphs.joined(separator: " ") }

    /// Converts a paragraph to HTML. Every second piece between backticks is code.
    private static func html(_ paragraph: String) -> String {
        paragraph.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, piece in
            let text = escaped(String(piece))
            return index.isMultiple(of: 2) ? text : "<code>\(text)</code>"
        }.joined()
    }

    /// Escapes the special characters of HTML.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
