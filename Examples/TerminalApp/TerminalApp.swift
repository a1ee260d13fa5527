import AccountKit
import ArgumentParser
import ErrorContract
import Foundation
import HoldfastURLSession
import OfflineQueue
import ResilientHTTP

/// An app without a window: the account screens of an app, in a terminal.
@main
struct TerminalApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast-terminal-app",
        abstract: "Walk through the account screens in a terminal.",
        discussion: """
            Uses the same models as the screens of a phone: register, sign in, reset the password, change and delete the account, and open
            the links in its emails.
            --script runs the whole flow without input, against a server in development, whose mailbox it reads. It exits
            with 1 if a step has an unexpected result. --script-offline does the same for notes that are written offline, against
            a server with notes, such as holdfast-notes-app.
            """
    )

    @Option(help: "The address of the server.")
    var url = "http://127.0.0.1:8080"

    @Option(help: "The language of the screens: \(Language.supported.map(\.rawValue).joined(separator: ", ")).")
    var language = "en"

    @Flag(help: "Run the whole flow without user input.")
    var script = false

    @Flag(help: "Write notes offline and send them, without user input.")
    var scriptOffline = false

    @Flag(help: "Start in airplane mode, in which notes are stored instead of sent.")
    var airplane = false

    @Option(help: "The folder of the session and the pending changes. By default they don't outlive the app.")
    var data: String?

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
        let folder = data.map { URL(filePath: $0) } ?? URL.temporaryDirectory.appending(path: "terminal-\(UUID().uuidString)")
        defer { if data == nil { try? FileManager.default.removeItem(at: folder) } }
        let app = try await App(server: address, language: Language(language), folder: folder, isTemporary: data == nil)
        app.network.isOnline = !airplane
        if script || scriptOffline {
            do {
                if script { try await Walkthrough(app: app).run() }
                if scriptOffline { try await OfflineWalkthrough(app: app).run() }
            } catch let error as APIError {
                let shown = error.presentation(in: Language(language), now: Date())
                Terminal.complain("\(shown.title): \(shown.message) (\(url): \(error))")
                throw ExitCode.failure
            } catch {
                Terminal.complain("failed: \(error)")
                throw ExitCode.failure
            }
        } else {
            let sending = Task { await app.queue.run() }
            await Menu(app: app).run()
            sending.cancel()
            await sending.value
            await app.queue.resign()
        }
    }
}

/// The clients, the language, the link router and the queue that the screens share.
@MainActor
final class App {
    let server: URL
    let language: Language
    let client: AccountClient
    let router: LinkRouter<AppLink>
    let network: SwitchedNetwork
    /// Sends notes, also those that are written offline.
    let queue: OfflineQueue

    /// - Parameters:
    ///   - folder: The folder of the session and the pending changes.
    ///   - isTemporary: Whether the session is only in memory.
    init(server: URL, language: Language, folder: URL, isTemporary: Bool) async throws {
        self.server = server
        self.language = language
        let network = SwitchedNetwork(.urlSession())
        self.network = network
        client = AccountClient(
            api: APIClient(baseURL: server, language: language, throttle: .appsInTheField),
            store: isTemporary
                ? MemoryCredentialStore() : FileCredentialStore(file: folder.appending(path: "session.json"))
        )
        router = LinkRouter(AppLink.reader(host: server.host ?? ""), isSignedIn: false)
        // The queue repeats calls, so that the client does not.
        let notes = APIClient(
            baseURL: server,
            transport: network,
            language: language,
            session: client.session,
            middleware: ClientPipeline.standard(retry: RetryMiddleware(.never)),
            environment: ClientEnvironment(connectivity: network.connectivity)
        )
        queue = try await OfflineQueue.open(folder.appending(path: "queue"), client: notes)
    }

    func say(_ text: LocalizedText) { Terminal.say(text.text(in: language)) }
}
