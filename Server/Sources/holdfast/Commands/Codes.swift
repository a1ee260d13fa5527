import ArgumentParser
import ErrorContract

/// `holdfast codes`
struct Codes: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the catalogue of error codes.")

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print a Markdown table.")
    var markdown = false

    func validate() throws {
        guard !(json && markdown) else { throw ValidationError("choose one of --json and --markdown") }
    }

    func run() {
        let listing = CatalogueListing(catalogue: .standard)
        Terminal.say(json ? listing.json : markdown ? listing.markdown : listing.table)
    }
}
