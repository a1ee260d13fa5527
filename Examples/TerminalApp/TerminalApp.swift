import AccountKit
import ArgumentParser
import ErrorContract
import Foundation
import HoldfastURLSession
import ResilientHTTP

/// An app without a window: the account screens of an app, in a terminal.
@main
struct TerminalApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast-terminal-app",
        abstract: "Walk through the account screens in a terminal.",
        discussion: """
            Uses the same models as the screens of a phone: sign in, request a reset link, open it, set a password.
            --script runs the whole flow without input, against a server in development, whose mailbox it reads. It exits
            with 1 if a step has an unexpected result.
            """
    )

    @Option(help: "The address of the server.")
    var url = "http://127.0.0.1:8080"

    @Option(help: "The language of the screens: \(Language.supported.map(\.rawValue).joined(separator: ", ")).")
    var language = "en"

    @Flag(help: "Run the whole flow without user input.")
    var script = false

    func validate() throws {
        guard let address = URL(string: url), address.host != nil, ["http", "https"].contains(address.scheme) else {
            throw ValidationError("--url must be an http or https address (is \(url))")
        }
        guard Language.supported.contains(Language(language)) else {
            let languages = Language.supported.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--language must be one of \(languages) (is \(language))")
        }
    }

    func run() async throws {
        guard let address = URL(string: url) else { throw ExitCode.validationFailure }
        let app = await App(server: address, language: Language(language))
        if script {
            do {
                try await Walkthrough(app: app).run()
            } catch let error as APIError {
                let shown = error.presentation(in: Language(language), now: Date())
                Terminal.complain("\(shown.title): \(shown.message) (\(url): \(error))")
                throw ExitCode.failure
            } catch {
                Terminal.complain("failed: \(error)")
                throw ExitCode.failure
            }
        } else {
            await Menu(app: app).run()
        }
    }
}

/// The client, the language and the link router that the screens share.
@MainActor
final class App {
    let server: URL
    let language: Language
    let client: AccountClient
    let router: LinkRouter<AppLink>

    init(server: URL, language: Language) {
        self.server = server
        self.language = language
        client = AccountClient(api: APIClient(baseURL: server, language: language, throttle: .appsInTheField))
        router = LinkRouter(AppLink.reader(host: server.host ?? ""), isSignedIn: false)
    }

    func say(_ text: LocalizedText) { Terminal.say(text.text(in: language)) }
}
