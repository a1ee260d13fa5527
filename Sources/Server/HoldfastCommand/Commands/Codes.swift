import ArgumentParser
import ErrorContract
import OpenAPI
import Pages
import StrictJSON

/// `holdfast codes`
struct Codes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the catalogue of error codes.",
        discussion: "A server shows the same as pages: /errors, and /errors/CODE for each code."
    )

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print the reference as Markdown.")
    var markdown = false

    @Flag(name: .customLong("openapi"), help: "Print the components of an OpenAPI 3.1 document: schemas, answers, examples.")
    var openAPI = false

    func validate() throws {
        guard [json, markdown, openAPI].count(where: \.self) <= 1 else {
            throw ValidationError("choose one of --json, --markdown and --openapi")
        }
    }

    func run() {
        guard !openAPI else {
            let document = ErrorComponents().document(version: Holdfast.configuration.version)
            return Terminal.say(String(decoding: document.encoded(), as: UTF8.self))
        }
        let listing = CatalogueListing(catalogue: .standard)
        Terminal.say(json ? listing.json : markdown ? ErrorReference().markdown : listing.table)
    }
}
