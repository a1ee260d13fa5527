import AccountServer
import ArgumentParser
import ErrorContract
import OpenAPI
import Pages
import StrictJSON

/// `holdfast codes`: prints the catalogue of error codes.
struct Codes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the catalogue of error codes.",
        discussion: "A server shows the same catalogue at /errors, and each code at /errors/CODE."
    )

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print the reference as Markdown.")
    var markdown = false

    @Flag(name: .customLong("openapi"), help: "Print the components of an OpenAPI 3.1 document: schemas, responses, examples.")
    var openAPI = false

    /// Refuses more than one format.
    func validate() throws {
        guard [json, markdown, openAPI].count(where: \.self) <= 1 else {
            throw ValidationError("choose one of --json, --markdown and --openapi")
        }
    }

    /// Prints the catalogue in the chosen format.
    func run() {
        guard !openAPI else {
            let document = ErrorComponents().document(version: AccountServer.version)
            return Terminal.say(String(decoding: document.encoded(), as: UTF8.self))
        }
        let listing = CatalogueListing(catalogue: .standard)
        Terminal.say(json ? listing.json : markdown ? ErrorReference().markdown : listing.table)
    }
}

/// The catalogue of codes in the formats that `holdfast codes` prints.
struct CatalogueListing {
    /// The codes.
    let catalogue: ErrorCatalogue

    /// A table for a terminal.
    var table: String {
        let width = catalogue.definitions.map(\.code.rawValue.count).max() ?? 0
        return catalogue.definitions.map { definition in
            let padding = String(repeating: " ", count: width - definition.code.rawValue.count)
            return "\(definition.code)\(padding)  \(definition.status)  \(definition.summary)"
        }.joined(separator: "\n")
    }

    /// An array with one object for each code.
    var json: String {
        let items = catalogue.definitions.map { definition -> JSONValue in
            let messages = definition.message.languages.sorted { $0.rawValue < $1.rawValue }
                .map { ($0.rawValue, JSONValue.string(definition.message.text(in: $0))) }
            return [
                "code": .string(definition.code.rawValue), "status": .integer(Int64(definition.status)),
                "family": .string(definition.family.rawValue), "summary": .string(definition.summary),
                "user_action": .string(definition.userAction), "retry": .string(definition.retry.rawValue),
                "recovery": .string(definition.recovery.rawValue), "since": .string(definition.since),
                "reveals_account": .bool(definition.mayRevealAccount), "messages": .object(JSONObject(messages)),
            ]
        }
        return String(decoding: JSONValue.array(items).encoded(), as: UTF8.self)
    }
}
